"""The cluster bench in small: a real cluster, a node killed under load, a snapshot restored elsewhere."""

from __future__ import annotations

import threading

import pytest

from evaluation.benchmark import cluster
from evaluation.benchmark.deadline import Deadline
from search_config.errors import EngineUnreachable, NodeTimeout
from search_config.settings import Settings

# Some times what it takes on two cores, and below the limit of every test: so that it ends with its nodes, and says
# where it stood.
LIMIT_S = 390.0
# Nothing here takes so long.
PATIENCE_S = 60.0


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_or_doubled(settings: Settings) -> None:
    said: list[str] = []
    report = cluster.run(
        settings, quick=True, phases=("kill", "snapshot"), nodes=2, load_s=1.0, limit_s=LIMIT_S, say=said.append
    )
    assert [check.name for check in report.checks if not check.holds] == []
    assert [row[0] for row in report.rows] == ["kill", "snapshot"]
    assert all(int(row[1]) > 0 and int(row[2]) > 0 for row in report.rows)
    assert len(said) == 2


def test_a_run_that_stands_still_ends_with_its_nodes() -> None:
    killed = threading.Event()

    def hang() -> None:
        with Deadline(0.05) as deadline:
            deadline.kills(killed.set)
            deadline.place = "the phase kill"
            # As a call does that hangs until its node is killed.
            assert killed.wait(PATIENCE_S)
            raise EngineUnreachable("It is gone.")

    with pytest.raises(NodeTimeout, match=r"in the phase kill: .*gone") as caught:
        hang()
    assert isinstance(caught.value.__cause__, EngineUnreachable)


def test_a_run_in_time_kills_nothing() -> None:
    killed = threading.Event()

    def fail() -> None:
        with Deadline(PATIENCE_S) as deadline:
            deadline.kills(killed.set)
            assert 0 < deadline.left_s <= PATIENCE_S
            raise EngineUnreachable("It is gone.")

    with pytest.raises(EngineUnreachable):
        fail()
    assert not killed.is_set()
