"""`bench mutate`: a hundred damaged files of every format, the same ones for the same seed."""

from __future__ import annotations

import pytest

from evaluation.benchmark.mutate import QUICK_FILES, mutated, run
from evaluation.benchmark.samples import LINE, SAMPLES
from ingest.extract.registry import extract
from search_config.settings import Settings


@pytest.mark.parametrize("kind", SAMPLES)
def test_the_whole_files_are_read(kind: str) -> None:
    text = extract(SAMPLES[kind](), name="original", max_bytes=1_000_000).text
    assert ("12,500" if kind != "csv" and kind != "xlsx" else "12.50") in text
    assert kind in ("pdf", "csv", "xlsx") or LINE in text


def test_one_seed_gives_the_same_files() -> None:
    originals = {kind: make() for kind, make in SAMPLES.items()}
    first, second = ([mutated(originals, seed, number) for number in range(24)] for seed in (7, 7))
    assert first == second
    assert first != [mutated(originals, 8, number) for number in range(24)]
    assert {kind for kind, _ in first} == set(SAMPLES)


def test_a_hundred_damaged_files_end_in_a_document_or_an_error() -> None:
    report = run(Settings(_env_file=None), quick=True, seed=6)
    ended, longest, crashed, hung = report.checks
    assert ended.value == QUICK_FILES
    assert ended.holds
    assert longest.holds
    assert crashed.value == hung.value == 0
