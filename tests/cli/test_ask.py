"""`mafteach ask`: text for people, JSON, refusals, a model, bad input."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Cli
from tests.contracts.model_server import KEY, serving

QUESTION = "כמה אישורי חניה מגיעים לתושב?"


def test_people_get_the_answer_and_numbered_sources_with_their_places(cli: Cli) -> None:
    done = cli("ask", QUESTION, "--tenant", "demo")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("תושב רשאי לקבל אישור חניה אחד לכל רכב")
    assert lines[0].endswith("[1]")
    assert any(line.startswith("[1] parking.md · תווים ") for line in lines)
    assert lines[-1] == "מצוטט מתוך המקורות, לא נבדקה נכונותו · extractive"
    assert "\x1b" not in done.stdout


def test_json_is_the_whole_answer(cli: Cli) -> None:
    done = cli("ask", QUESTION, "--tenant", "demo", "--json", "--context", "4")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert {"answer", "label", "method", "refused", "grounded", "sentences", "citations", "search"} <= result.keys()
    assert result["citations"][0]["quote"] in result["search"]["hits"][0]["content"]


def test_a_refusal_is_done_and_says_what_was_nearest(cli: Cli) -> None:
    with serving(lambda _: "NO_ANSWER") as server:
        model = {"MAFTEACH_LLM_URL": server.url, "MAFTEACH_LLM_MODEL": "m", "MAFTEACH_LLM_API_KEY": KEY}
        done = cli("ask", QUESTION, "--tenant", "demo", **model)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("NO ANSWER\n")
    assert "Nearest: נוהל אישורי חניה" in done.stdout
    assert done.stdout.endswith("· model (m)\n")


def test_problems_of_a_model_are_shown(cli: Cli) -> None:
    with serving(lambda _: "תושב רשאי לקבל 7 אישורים [4].") as server:
        model = {"MAFTEACH_LLM_URL": server.url, "MAFTEACH_LLM_MODEL": "m", "MAFTEACH_LLM_API_KEY": KEY}
        done = cli("ask", QUESTION, "--tenant", "demo", **model)
    assert done.returncode == 0, done.stderr
    assert "Problem: הסימון [4] אינו של מקור" in done.stdout
    assert "Problem: למשפט אין מקור" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "variables", "code"),
    [
        (("", "--tenant", "demo"), {}, "empty_query"),
        ((QUESTION, "--tenant", "demo", "--context", "3"), {}, "invalid_request"),
        ((QUESTION, "--tenant", "demo", "--filter", "tenant=x"), {}, "invalid_request"),
        ((QUESTION, "--tenant", "no*"), {}, "invalid_tenant"),
        ((QUESTION, "--tenant", "nobody"), {}, "unknown_tenant"),
        ((QUESTION, "--tenant", "demo"), {"MAFTEACH_LLM_URL": "http://127.0.0.1:9/v1"}, "invalid_settings"),
    ],
)
def test_bad_input(cli: Cli, arguments: tuple[str, ...], variables: dict[str, str], code: str) -> None:
    done = cli("ask", *arguments, "--json", **variables)
    assert done.returncode == 2
    assert json.loads(done.stderr.splitlines()[-1])["error"]["code"] == code
