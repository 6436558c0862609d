"""The bench of workers in small: one worker and two processes make the same chunks, and each file once."""

from __future__ import annotations

import pytest

from evaluation.benchmark import workers
from search_config.client import Engine
from search_config.settings import Settings

DOCUMENTS = 10


@pytest.mark.slow
def test_processes_make_the_same_chunks_and_none_twice(
    settings: Settings, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    # How much faster they are is for the bench: here the pages are quick to read.
    monkeypatch.setattr(workers, "SQUARES", 10)
    report = workers.run(settings, engine, quick=True, documents=DOCUMENTS, workers=2, ray=False)
    of_speed = {workers.RATE, workers.SHARE}
    assert {check.name for check in report.checks if check.holds is False} <= of_speed
    figures = {check.name: check.value for check in report.checks}
    assert figures[workers.IDS] == 2
    assert figures[workers.TWICE] == figures[workers.DIFFER] == 0
    assert [row[1:3] for row in report.rows] == [(str(DOCUMENTS), str(2 * DOCUMENTS))] * 2
