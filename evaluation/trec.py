"""Runs and qrels in TREC's formats, for trec_eval and any other second implementation."""

from __future__ import annotations

from pathlib import Path

from evaluation.metrics import Qrels, Run

RUN_TAG = "mafteach"


def write_run(path: Path, run: Run) -> None:
    """`query Q0 chunk rank score tag`; scores fall with the rank, so that ties cannot be broken otherwise."""
    lines = [
        f"{_field(question)} Q0 {chunk} {rank} {len(ranking) - rank} {RUN_TAG}\n"
        for question, ranking in run.items()
        for rank, chunk in enumerate(ranking, start=1)
    ]
    path.write_text("".join(lines), encoding="utf-8")


def write_qrels(path: Path, judged: Qrels) -> None:
    """`query 0 chunk 1`, a line for each right passage."""
    lines = [f"{_field(question)} 0 {chunk} 1\n" for question, right in judged.items() for chunk in right]
    path.write_text("".join(lines), encoding="utf-8")


def _field(text: str) -> str:
    """A field without blanks."""
    return "_".join(text.split())
