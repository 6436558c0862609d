"""`kill -9` of workers and of the node while documents are ingested: the small run of `mafteach bench faults`."""

from __future__ import annotations

import pytest

from evaluation.benchmark import faults
from search_config.settings import Settings


@pytest.mark.slow
def test_nothing_is_lost_and_nothing_doubled(settings: Settings) -> None:
    report = faults.run(settings, quick=True, seed=7)
    assert {check.name: check.value for check in report.checks if check.holds is False} == {}
    figures = {check.name: check.value for check in report.checks}
    assert figures["kills"] == faults.QUICK_KILLS
    assert figures["documents ready at the end"] == faults.QUICK_DOCUMENTS
