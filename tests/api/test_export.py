"""`POST /search/export` and `mafteach search --out`: the same search, as a file."""

from __future__ import annotations

import csv
import io
from typing import Any

import openpyxl
import pytest

from tests.api.conftest import Service
from tests.api.problems import assert_problem

QUERY = "כמה אישורים מקבל תושב לרכב"


def post(service: Service, headers: Any = None, query: str = QUERY, **parameters: str) -> Any:
    return service.client.post(
        "/search/export", params=parameters, json={"query": query, "size": 3}, headers=headers or service.ours
    )


def test_a_workbook_has_the_hits_of_the_search(service: Service) -> None:
    answer = post(service)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("application/vnd.openxmlformats")
    assert answer.headers["content-disposition"] == 'attachment; filename="mafteach-search.xlsx"'
    sheet = openpyxl.load_workbook(io.BytesIO(answer.content))["קטעים"]
    hits = service.client.post("/search", json={"query": QUERY, "size": 3}, headers=service.ours).json()["hits"]
    written = [row[3] for row in sheet.iter_rows(min_row=2, values_only=True)]
    assert written == [hit["content"] for hit in hits]
    assert sheet.sheet_view.rightToLeft


def test_csv(service: Service) -> None:
    answer = post(service, format="csv")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    headings, *rows = csv.reader(io.StringIO(answer.content.decode("utf-8-sig"), newline=""))
    assert dict(zip(headings, rows[0], strict=True))["מזהה מסמך"] == service.our_document


def test_a_metadata_answer(service: Service) -> None:
    body = {"query": "כמה מסמכים יש?", "route": "metadata"}
    found = service.client.post("/search", json=body, headers=service.ours).json()
    assert found["metadata"]["documents"]
    answer = service.client.post("/search/export", params={"format": "csv"}, json=body, headers=service.ours)
    headings, *rows = csv.reader(io.StringIO(answer.content.decode("utf-8-sig"), newline=""))
    cited = [dict(zip(headings, row, strict=True)) for row in rows]
    assert [row["מזהה מסמך"] for row in cited] == [one["id"] for one in found["metadata"]["documents"]]
    assert all(row["גרסה"] == "1" and row["טביעת תוכן"] for row in cited)


def test_another_tenant_gets_its_own(service: Service) -> None:
    answer = post(service, headers=service.theirs, format="csv")
    assert service.our_document not in answer.text


@pytest.mark.parametrize("parameters", [{"format": "pdf"}, {"table": "all"}, {"tenant": "theirs"}])
def test_other_parameters_are_refused(service: Service, parameters: dict[str, str]) -> None:
    assert_problem(post(service, **parameters), 422, "invalid_request")
