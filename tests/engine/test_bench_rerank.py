"""`mafteach bench rerank` on the real engine: figures are measured, not whether this machine is fast."""

from __future__ import annotations

from evaluation.benchmark import rerank
from search_config.client import Engine
from search_config.settings import Settings


def test_a_quick_run_measures_the_time_and_leaves_the_disk_out(engine: Engine, settings: Settings) -> None:
    report = rerank.run(settings, engine, quick=True)
    time, disk, speed = report.checks
    assert time.value is not None
    assert time.value > 1
    assert time.holds == (time.value <= rerank.TARGET_US)
    assert (disk.value, disk.holds) == (None, None)
    ((bits, tokens, candidates, _),) = report.rows
    assert bits == str(settings.token_bits)
    assert 200 < int(tokens) <= 240
    assert candidates == "50"
    assert not [name for name in engine.request("GET", "/_alias") if name.startswith("bench-")]
    # Measured where the extra is installed, and left open elsewhere.
    assert (speed.value is None) == (speed.holds is None)
    assert speed.value is None or speed.holds == (speed.value >= rerank.TARGET_SPEED)
