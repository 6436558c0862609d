"""The catalogue of the page's words: every one in both languages, every one used, none missing."""

from __future__ import annotations

import json
import re
from typing import Any, Final, get_args

from api.evidence_views import CaseState
from api.routes.page import page_files
from ingest.extract.pdf.pages import DAMAGED, NO_LETTERS, ORDER_IN_DOUBT
from query.answer_result import AnswerMethod
from query.metadata_result import Reason
from query.request import Leg, Step
from search_config import errors
from search_config.document_fields import DocumentType, PartyKind, Trouble
from search_config.records import DocumentState

FILES: Final = {file.path: file.data.decode() for file in page_files()}
CATALOGUE: Final[dict[str, dict[str, Any]]] = json.loads(FILES["/ui/strings.json"])
CODE: Final = "\n".join(text for path, text in FILES.items() if path.endswith(".js"))
KEY: Final = re.compile(r"^[a-z]+(?:\.[A-Za-z0-9_]+)*$")
HEBREW: Final = re.compile("[א-ת]")
# Kinds of troubles that the page itself tells apart (api.js).
KINDS: Final = set(re.findall(r"\"(\w+)\"", re.search(r"const KINDS = {(.*?)}", CODE, re.DOTALL)[1])) | {  # type: ignore[index]
    "failed", "invalid", "offline", "cut",
}  # fmt: skip


def descendants(kind: type[errors.MafteachError]) -> set[str]:
    """Codes of a class of errors and of all below it."""
    return {kind.code}.union(*(descendants(one) for one in kind.__subclasses__()))


# Families whose keys are put together at run time, and all that may be put there.
FAMILIES: Final[dict[str, set[str]]] = {
    "state": set(DocumentState),
    "type": set(DocumentType),
    "part": set(PartyKind),
    "issue": set(Trouble) | {NO_LETTERS, ORDER_IN_DOUBT, DAMAGED},
    "excluded": set(get_args(Reason)),
    "degraded": set(get_args(Leg)),
    "stage": set(get_args(Step.model_fields["stage"].annotation)),
    "method": set(get_args(AnswerMethod)),
    "code": descendants(errors.DocumentError) | {"empty_query", "query_too_long"},
    "trouble": {f"{kind}.{part}" for kind in KINDS for part in ("title", "text")} | {"technical", "wait"},
    "reason": {"failed", "quarantined"},
    "nav": {"search", "documents", "evidence", "label", "signout", "skip"},
    "case": set(get_args(CaseState)),
    "language": {"he", "en", "other", "name"},
    "currency": {"ILS", "USD", "EUR", "GBP"},
    "export": {"xlsx", "csv", "zip", "name"},
    "feedback": {"right", "wrong", "picked", "passage", "answer", "thanks", "undo", "undone"},
}


def entries(entry: str | dict[str, str]) -> list[str]:
    return [entry] if isinstance(entry, str) else list(entry.values())


def test_every_word_is_there_in_both_languages_with_the_same_values() -> None:
    for key, languages in CATALOGUE.items():
        assert KEY.match(key), key
        assert set(languages) == {"he", "en"}, key
        values = [set(re.findall(r"\{(\w+)\}", "".join(entries(entry)))) for entry in languages.values()]
        assert values[0] == values[1], key
        for language, entry in languages.items():
            assert isinstance(entry, str) or {"one", "other"} <= set(entry) <= {"one", "two", "other"}, key
            for text in entries(entry):
                assert text.strip(), (key, language)
                letters = re.sub(r"\{\w+\}", "", text)
                if language == "he":
                    assert HEBREW.search(letters) or not re.search(r"[A-Za-z]", letters), (key, text)
                else:
                    assert not HEBREW.search(letters), (key, text)


def test_families_hold_all_that_the_service_may_name() -> None:
    for family, names in FAMILIES.items():
        held = {key.removeprefix(f"{family}.") for key in CATALOGUE if key.startswith(f"{family}.")}
        assert names <= held, (family, names - held)


def test_no_word_is_missing_and_none_is_left_over() -> None:
    named = {text for text in re.findall(r"\"([a-z]+(?:\.[A-Za-z0-9_]+)*)\"", CODE) if text in CATALOGUE}
    asked = set(re.findall(r"\bt\(\"([^\"]+)\"", CODE))
    assert asked <= set(CATALOGUE), asked - set(CATALOGUE)
    built = set(re.findall(r"(?:t|known)\(`([a-z]+)\.", CODE)) | set(re.findall(r"named\(\"([a-z]+)\"", CODE))
    built |= {"trouble"} if "`trouble.${" in CODE else set()
    # Values of a filter are called by the filter's own name (filters.js).
    built |= {"type", "language", "currency"} if "named(name, value)" in CODE else set()
    used = named | {key for key in CATALOGUE if key.partition(".")[0] in built}
    # Of these families only what is named, or known to be built, counts.
    for family in built & set(FAMILIES):
        left = {key for key in CATALOGUE if key.startswith(f"{family}.")} - named
        extra = {key.removeprefix(f"{family}.") for key in left} - FAMILIES[family]
        # A leg or a stage that is to come may have its words before it has its code.
        assert extra <= {"sparse"}, (family, extra)
    assert set(CATALOGUE) == used, set(CATALOGUE) - used


def test_the_page_itself_has_no_words_outside_the_catalogue() -> None:
    strings = re.findall(r"\"(?:[^\"\\\n]|\\.)*\"|`(?:[^`\\]|\\.)*`", re.sub(r"//.*|/\*.*?\*/", "", CODE))
    assert not [text for text in strings if HEBREW.search(text)]
    assert not [text for text in strings if re.search(r"[a-z]{2,} [a-z]{2,} [a-z]{2,}", text) and "${" not in text]
