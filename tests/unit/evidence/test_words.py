"""Every code of the schema has a name in both languages, and a verdict and a cause a meaning."""

from __future__ import annotations

from typing import Final, get_args

from evaluation.evidence.claim_sets import Operation
from evaluation.evidence.decisions import Attachment, Cause, Diagnosis, Support, Verdict
from evaluation.evidence.words import FIELD, WORDS

DEFINED: Final = {*get_args(Attachment), *get_args(Support), *get_args(Cause)}
PARTS: Final = {*Verdict.model_fields, *Diagnosis.model_fields} - {"diagnosis", "standing"}


def test_every_code_and_field_is_called_something_in_both_languages() -> None:
    wanted = DEFINED | set(get_args(Operation)) | {f"{FIELD}{name}" for name in PARTS}
    for words in WORDS.values():
        assert set(words) == wanted
        assert all(word.name for word in words.values())
        assert all(words[code].meaning for code in DEFINED)
