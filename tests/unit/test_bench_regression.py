"""A kept run against a new one, the project's targets, and kept files: without a node."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaluation.benchmark import cold, ingest, load, load_soak, peers, rerank, scale_measure, search, workers
from evaluation.benchmark.all_run import LIMIT_S, TYPICAL_S, ends_in_time
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
    ran = check("recall@20 of filtered k-NN, tenant 1%", 1.0, ">= 0.99")
    assert "search p50 at" in {row.name for row in open_rows(["scale"], [ran])}
    assert ran.name not in {row.name for row in open_rows(["scale"], [ran])}
    assert {row.name for row in not_run("ingest").checks} == {
        target.begins for target in TARGETS if target.benchmark == "ingest"
    }


def test_a_row_that_did_not_run_is_called_as_one_that_did() -> None:
    begins = {target.begins for target in TARGETS}
    assert {load.FAIR, load.PAST_KNEE, load.RECOVERS, load_soak.UNCLEAR} <= begins
    assert {one.name for one in load_soak.growth([load_soak.Held(1, 1, 1)])} <= begins
    assert {ingest.BULK, ingest.EMBEDDING, rerank.SPEED, cold.NAME} <= begins
    assert {search.OVERHEAD, search.RATE, search.OVERHEAD_OF_ONE_PERCENT, search.LEGS_OF_ONE_PERCENT} <= begins
    assert {peers.SPEED, peers.RECALL, workers.RATE} <= begins
    recall = "recall@20 of filtered k-NN, "
    filters = {f"{recall}{name}" for name in scale_measure.filter_sets(1)}
    assert filters == {one for one in begins if one.startswith(recall)}


def test_what_would_end_too_late_is_left_out() -> None:
    assert set(TYPICAL_S) == {target.benchmark for target in TARGETS} | {"mutate"}
    # On the machine that the times are of, all of them fit.
    elapsed, done = 0.0, list[str]()
    for name, seconds in TYPICAL_S.items():
        assert ends_in_time(name, elapsed, done)
        elapsed, done = elapsed + seconds, [*done, name]
    assert elapsed <= LIMIT_S
    # One that took twice its time for half of the limit has no room for what takes more than a quarter of it.
    slow = 2 * TYPICAL_S["scale"]
    assert ends_in_time("scale", slow, ["scale"])
    assert not ends_in_time("scale", LIMIT_S - slow + 1, ["scale"])


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


def test_figures_over_a_rising_column_are_a_curve(tmp_path: Path) -> None:
    drawn = {}
    for name, minutes in (("curve", ("1", "2", "3")), ("bars", ("3", "2", "1"))):
        rows = tuple((minute, "50%", "x") for minute in minutes)
        report = REPORT.model_copy(update={"name": name, "columns": ("minute", "refused", "note"), "rows": rows})
        drawn[name] = keep(report, tmp_path, command="c", seed=1, engine="3", load=0)[-1].read_bytes()
    # A curve is as high as any other, bars as high as their rows: the size stands in the file's head.
    assert all(image.startswith(b"\x89PNG") for image in drawn.values())
    assert drawn["curve"][16:24] != drawn["bars"][16:24]


def test_a_report_without_figures_has_no_plot(tmp_path: Path) -> None:
    words = REPORT.model_copy(update={"rows": (("one", "fast", "-"),)})
    assert [path.suffix for path in keep(words, tmp_path, command="c", seed=1, engine="3", load=0)] == [".json", ".txt"]
    # A figure and a cell that has none are enough.
    few = REPORT.model_copy(update={"rows": (("one", "3.5", "-"), ("two", "", "-"))})
    assert keep(few, tmp_path, command="c", seed=1, engine="3", load=0)[-1].suffix == ".png"


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InvalidRequest) as raised:
        keep(REPORT, tmp_path / "file", command="c", seed=1, engine="3", load=0)
    assert "file" in str(raised.value)
