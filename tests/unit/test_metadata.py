"""Typed fields: what validates is kept, what does not is named."""

from __future__ import annotations

import pytest

from ingest.metadata import typed


def test_good_values() -> None:
    found = typed(
        {
            "type": "Contract",
            "date": "2024-03-19T10:00",
            "tags": ["גינון", " ", "גינון", 'שפ"ע'],
            "reference": " 2024/318-ב ",
            "language": "he-IL",
            "parties": ["x"],
        }
    )
    assert found.model_dump() == {
        "type": "contract",
        "date": "2024-03-19",
        "tags": ("גינון", 'שפ"ע'),
        "reference": "2024/318-ב",
        "language": "he",
        "report": (),
    }


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("type", "poem"),
        ("type", ["contract"]),
        ("date", "19.3.2024"),
        ("date", "2024-02-31"),
        ("reference", {"a": "b"}),
        ("reference", "x" * 201),
        ("language", "עברית"),
        ("tags", {"a": "b"}),
    ],
)
def test_bad_values_are_named_and_left_out(field: str, value: object) -> None:
    found = typed({field: value})
    assert getattr(found, field) in (None, ())
    assert len(found.report) == 1
    assert found.report[0].startswith(field)


def test_tags_of_one_line_and_too_many() -> None:
    assert typed({"tags": "א, ב,,ג"}).tags == ("א", "ב", "ג")
    many = typed({"tags": [f"t{i}" for i in range(60)]})
    assert len(many.tags) == 50
    assert "first 50" in many.report[0]


def test_nothing() -> None:
    assert typed({}).report == ()
