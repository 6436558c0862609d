"""The router: its labelled set, its accuracy on the held-out third, and what it does when it can't tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest

from evaluation.router import RouterQuestion, evaluate_router, read_lines
from models.base import Embedder, Vectors
from query.routing import LanguageModelRouter, Router, RoutingExample, load_examples, shipped_examples
from search_config.errors import InvalidRequest, ModelUnavailable

AS_OF = date(2025, 2, 15)
# The rules leave it open.
OPEN = "מספר ההסכמים שבוטלו או הוחלפו"


@pytest.fixture(scope="module")
def questions() -> tuple[RouterQuestion, ...]:
    folder = Path(__file__).parents[2] / "examples" / "router"
    return read_lines(folder / "questions.jsonl", RouterQuestion)


def test_the_labelled_set(questions: tuple[RouterQuestion, ...]) -> None:
    assert len({question.question for question in questions}) == len(questions) >= 120
    assert sum(question.trait is not None for question in questions) >= 30
    split = Counter((question.route, question.split) for question in questions)
    assert all(split[route, "heldout"] * 3 >= split[route, "learn"] for route in ("metadata", "semantic", "both"))


def test_what_ships_is_the_learn_split_alone(questions: tuple[RouterQuestion, ...]) -> None:
    learn = {(question.question, question.route) for question in questions if question.split == "learn"}
    assert {(example.question, example.route) for example in shipped_examples()} == learn


def test_accuracy_on_the_held_out_third(questions: tuple[RouterQuestion, ...], embedder: Embedder) -> None:
    report = evaluate_router(questions, embedder, split="heldout", as_of=AS_OF)
    assert report.accuracy.value >= 0.95, report.wrong
    assert set(report.by_route) == {"metadata", "semantic", "both"}
    assert report.accuracy.low < report.accuracy.value < report.accuracy.high


class _Model:
    def __init__(self, answer: str | None) -> None:
        self._answer = answer

    def choose(self, question: str, choices: Sequence[str]) -> str:
        if self._answer is None:
            raise ModelUnavailable("No answer in time.")
        return self._answer


@pytest.mark.parametrize(
    ("answer", "route", "by"),
    [
        ("metadata", "metadata", "model"),
        ("semantic", "semantic", "model"),
        ("Metadata!", "both", "unsure"),
        ("", "both", "unsure"),
        (None, "both", "unsure"),
    ],
)
def test_a_models_answer_is_a_route_or_both(answer: str | None, route: str, by: str) -> None:
    made = Router((), model=_Model(answer)).route(OPEN, AS_OF)
    assert (made.route, made.by) == (route, by)


def test_a_failing_embedder_is_both(embedder: Embedder) -> None:
    def broken() -> Vectors:
        raise ModelUnavailable("It is gone.")

    others = [example for example in shipped_examples() if example.question != OPEN]
    made = Router(others, embedder).route(OPEN, AS_OF, vector=broken)
    assert (made.route, made.by) == ("both", "unsure")
    assert Router(()).route(OPEN, AS_OF).route == "both"


def test_the_language_model_is_constrained() -> None:
    from models.base import Completion

    asked = {}

    class Chat:
        def complete(self, messages: object, **options: object) -> Completion:
            asked.update(options)
            return Completion('{"route": "semantic"}')

    router = LanguageModelRouter(Chat())  # type: ignore[arg-type]
    assert router.choose(OPEN, ("metadata", "semantic")) == "semantic"
    schema = asked["json_schema"]
    assert isinstance(schema, dict)
    assert schema["properties"]["route"]["enum"] == ["metadata", "semantic"]


def test_a_user_adds_examples(tmp_path: Path) -> None:
    own = tmp_path / "own.jsonl"
    own.write_text('{"question": "מה מצב החניון?", "route": "both"}\n', encoding="utf-8")
    examples = load_examples(own)
    assert examples[-1] == RoutingExample(question="מה מצב החניון?", route="both")
    assert Router(examples).route("מה מצב החניון?", AS_OF).by == "example"
    own.write_text('{"question": "x", "route": "elsewhere"}\n{"route": "both"}\n', encoding="utf-8")
    with pytest.raises(InvalidRequest, match=r"line 1.*line 2"):
        load_examples(own)
    with pytest.raises(InvalidRequest):
        load_examples(tmp_path / "none.jsonl")
