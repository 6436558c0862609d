"""`kill -9` of workers and of the node while documents are ingested: the small run of `mafteach bench faults`."""

from __future__ import annotations

import pytest

from evaluation.benchmark import faults
from search_config.settings import Settings


@pytest.mark.slow
def test_nothing_is_lost_and_nothing_doubled(settings: Settings) -> None:
    # Of its six kills the third one is the node's.
    report = faults.run(settings, quick=True, seed=13)
    assert {check.name: check.value for check in report.checks if check.holds is False} == {}
    figures = {check.name: check.value for check in report.checks}
    assert report.rows[0][2:4] == (str(faults.QUICK_KILLS - 1), "1")
    assert figures["kills"] == faults.QUICK_KILLS
    assert figures["documents ready at the end"] == faults.QUICK_DOCUMENTS
