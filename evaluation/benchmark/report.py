"""What a benchmark gives: checks for machines, a table for people."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Check(BaseModel):
    """One figure beside its target."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1)
    value: float | None = Field(description="None where it could not be measured here.")
    target: str = Field(description="As the documentation words it; empty for a figure without one.")
    holds: bool | None = Field(description="None where there is no target, or no figure.")


class Table(BaseModel):
    """A further table of a report; each row as long as `columns`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class BenchReport(BaseModel):
    """All that one run measured.

    Attributes:
        name: of the benchmark.
        checks: written by `--json`.
        columns: headings of the table.
        rows: its cells, as text; each row as long as `columns`.
        more: further tables.
        size: of what was measured, in words: chunks, questions, rounds.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    checks: tuple[Check, ...]
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    more: tuple[Table, ...] = ()
    size: str = ""
