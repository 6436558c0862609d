"""A kept run against a new one, the project's targets, and kept files: without a node."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaluation.benchmark.keep import keep
from evaluation.benchmark.regression import TOLERANCE, compared, load_kept
from evaluation.benchmark.report import BenchReport, Check, Table
from evaluation.benchmark.targets import TARGETS, not_run, open_rows
from search_config.errors import InvalidDataset, InvalidRequest


def check(name: str, value: float | None, target: str, holds: bool | None = True) -> Check:
    return Check(name=name, value=value, target=target, holds=holds)


def worse(old: Check, new: Check) -> bool | None:
    ((row),) = compared([old], [new])
    return row.worse


@pytest.mark.parametrize(
    ("target", "before", "now", "expected"),
    [
        ("<= 2", 1.0, 1.0 + TOLERANCE, False),
        ("<= 2", 1.0, 1.01 + TOLERANCE, True),
        ("<= 2", 1.0, 0.2, False),
        (">= 2", 4.0, 4.0 * (1 - TOLERANCE), False),
        (">= 2", 4.0, 2.9, True),
        (">= 2", 4.0, 9.0, False),
    ],
)
def test_a_ratio_may_get_worse_by_the_tolerance(target: str, before: float, now: float, expected: bool) -> None:
    assert worse(check("a", before, target), check("a", now, target)) is expected


def test_a_target_that_is_left_is_worse_within_the_tolerance_too() -> None:
    assert worse(check("a", 1.9, "<= 2"), check("a", 2.1, "<= 2", holds=False)) is True
    # It was missed before as well: nothing was lost.
    assert worse(check("a", 2.1, "<= 2", holds=False), check("a", 2.2, "<= 2", holds=False)) is False


def test_a_count_is_compared_with_its_target_alone() -> None:
    assert worse(check("lost", 0, "= 0"), check("lost", 1, "= 0", holds=False)) is True
    assert worse(check("ready", 40, "= 40"), check("ready", 12, "= 12")) is False


def test_rows_without_a_figure_are_shown_and_not_compared() -> None:
    assert worse(check("a", 1.0, "<= 2"), check("a", None, "<= 2", holds=None)) is None
    ((row),) = compared([check("a", 1.0, "<= 2")], [])
    assert (row.before, row.now, row.worse) == (1.0, None, None)
    assert compared([check("a", 1.0, "", holds=None)], [check("a", 9.0, "", holds=None)]) == []


def test_a_kept_run_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    path.write_text(json.dumps({"checks": [check("a", 1, "<= 2").model_dump()], "sizes": {"x": "1"}}), encoding="utf-8")
    assert load_kept(path) == (check("a", 1, "<= 2"),)
    for text in ("", "[]", '{"checks": [{"name": ""}]}'):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InvalidDataset):
            load_kept(path)
    with pytest.raises(InvalidDataset):
        load_kept(tmp_path / "none.json")


def test_every_target_has_a_row_whether_its_benchmark_ran_or_not() -> None:
    names = list(dict.fromkeys(target.benchmark for target in TARGETS))
    rows = open_rows(names, [])
    assert len(rows) == len(TARGETS)
    assert {(row.value, row.holds) for row in rows} == {(None, None)}
    ran = check("recall@20 of filtered k-NN, tenant of 1%", 1.0, ">= 0.99")
    assert [row.name for row in open_rows(["scale"], [ran])] == ["search p50 at"]
    assert {row.name for row in not_run("ingest").checks} == {
        target.begins for target in TARGETS if target.benchmark == "ingest"
    }


REPORT = BenchReport(
    name="some",
    checks=(check("a", 1.5, "<= 2"),),
    columns=("system", "p50 ms", "note"),
    rows=(("one", "3.5", "-"), ("two", "12.0", "מהיר")),
    more=(Table(title="More", columns=("x",), rows=(("1",),)),),
    size="2 chunks",
)


def test_a_run_is_kept_with_what_repeats_it(tmp_path: Path) -> None:
    written = keep(REPORT, tmp_path / "new", command="mafteach bench some", seed=7, engine="3.6.0", load=1.26)
    assert [path.name for path in written] == ["some.json", "some.txt", "some.png"]
    kept = json.loads(written[0].read_text(encoding="utf-8"))
    assert (kept["command"], kept["seed"], kept["load"]) == ("mafteach bench some", 7, 1.3)
    assert kept["versions"]["opensearch"] == "3.6.0"
    assert kept["machine"]["cores"] >= 1
    assert BenchReport.model_validate(kept["report"]) == REPORT
    text = written[1].read_text(encoding="utf-8")
    assert "mafteach bench some  (seed 7)  2 chunks" in text
    assert "two     12.0    מהיר" in text
    assert written[2].read_bytes().startswith(b"\x89PNG")


def test_a_report_without_figures_has_no_plot(tmp_path: Path) -> None:
    words = REPORT.model_copy(update={"rows": (("one", "fast", "-"),)})
    assert [path.suffix for path in keep(words, tmp_path, command="c", seed=1, engine="3", load=0)] == [".json", ".txt"]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InvalidRequest) as raised:
        keep(REPORT, tmp_path / "file", command="c", seed=1, engine="3", load=0)
    assert "file" in str(raised.value)
