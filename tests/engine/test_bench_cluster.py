"""The cluster bench in small: a real cluster, a node killed under load, a snapshot restored elsewhere."""

from __future__ import annotations

import pytest

from evaluation.benchmark import cluster
from search_config.settings import Settings


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_or_doubled(settings: Settings) -> None:
    said: list[str] = []
    report = cluster.run(settings, quick=True, phases=("kill", "snapshot"), say=said.append)
    assert [check.name for check in report.checks if not check.holds] == []
    assert [row[0] for row in report.rows] == ["kill", "snapshot"]
    assert all(int(row[1]) > 0 and int(row[2]) > 0 for row in report.rows)
    assert len(said) == 2
