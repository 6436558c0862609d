"""Sentence boundaries in Hebrew and English; a doubt is no boundary."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_config.sentences import sentence_starts


def sentences(text: str) -> list[str]:
    bounds = [0, *sentence_starts(text, 0, len(text)), len(text)]
    return [text[a:b].strip() for a, b in pairwise(bounds)]


@pytest.mark.parametrize(
    "parts",
    [
        ["החוזה נחתם אתמול.", "הוא בתוקף מיד.", "האם חודש?", "כן!"],
        ['לפי ד"ר כהן, ע"י העירייה ובע"מ.', "משפט שני."],
        ['גני השקד בע"מ, ח.פ. 51-482913-6, ת.ז. 123, ת.ד. 7 ברמת אגוז.', "סוף."],
        ["רבי א. ב. יהושע כתב ספר.", "הוא יצא בשנת 1977.", "אחריו בא אחר."],
        ["התעריף הוא 3.5 אחוזים, גרסה v2.3.1 בכתובת https://x.example/a.b?c=d.e ועוד.", "סוף."],
        ["Nordlake Systems Ltd. shall pay, e.g. by cheque, No. 5 of Sec. 3.", "The rest follows."],
        ["He left at 5 p.m. and came back.", "Dr. Smith saw it... then left.", "“Why?”", "Nobody knew."],
        ['הוא אמר "די."', "ואז הלך (ולא חזר).", "סוף…", "באמת."],
        ["בראשית ברא אלהים׃", "והארץ היתה תהו׃"],
    ],
)
def test_sentences(parts: list[str]) -> None:
    assert sentences(" ".join(parts)) == parts


def test_list_marks_begin_sentences_and_are_not_cut_off() -> None:
    text = "אלה התנאים:\n1. תשלום בתוך 30 יום\n2. ערבות\n- ביטוח\nהמשך שורה עטופה\n3. סוף"
    assert sentences(text) == [
        "אלה התנאים:",
        "1. תשלום בתוך 30 יום",
        "2. ערבות",
        "- ביטוח\nהמשך שורה עטופה",
        "3. סוף",
    ]


@given(st.text(alphabet="אב. \n!?\"')1aA…", max_size=80), st.integers(0, 20))
def test_offsets_rise_inside_the_passage(text: str, start: int) -> None:
    start = min(start, len(text))
    found = sentence_starts(text, start, len(text))
    assert found == sorted(set(found))
    assert all(start < place < len(text) and not text[place].isspace() for place in found)


@pytest.mark.parametrize("text", ["." * 500_000, ". " * 300_000, '."' * 300_000, "א." * 300_000, "\n" * 500_000 + "x"])
def test_time_is_linear(text: str) -> None:
    started = time.perf_counter()
    sentence_starts(text, 0, len(text))
    assert time.perf_counter() - started < 10
