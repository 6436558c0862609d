"""The one filter builder: a table of requests and clauses, and everything that must be refused."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from query.filters import tenant_filter
from query.request import Filters
from search_config.errors import InvalidRequest, InvalidTenant, MissingTenant, TenantError

TENANT = {"term": {"tenant": {"value": "a"}}}


@pytest.mark.parametrize(
    ("filters", "clauses"),
    [
        (None, []),
        (Filters(), []),
        (Filters(document_id=("d1", "d2")), [{"terms": {"document_id": ["d1", "d2"]}}]),
        (
            Filters(type=("contract",), language=("he",)),
            [{"terms": {"type": ["contract"]}}, {"terms": {"language": ["he"]}}],
        ),
        (Filters(tags=("x",), reference=("R-1",)), [{"terms": {"tags": ["x"]}}, {"terms": {"reference": ["R-1"]}}]),
        (Filters(date_from=date(2024, 1, 2)), [{"range": {"date": {"gte": "2024-01-02"}}}]),
        (
            Filters(date_from=date(2024, 1, 2), date_to=date(2024, 1, 2)),
            [{"range": {"date": {"gte": "2024-01-02", "lte": "2024-01-02"}}}],
        ),
    ],
)
def test_clauses(filters: Filters | None, clauses: list[Any]) -> None:
    assert tenant_filter("a", filters) == [TENANT, *clauses]


@pytest.mark.parametrize("tenant", [None, "", " ", "\t"])
def test_a_missing_tenant_is_refused(tenant: Any) -> None:
    with pytest.raises(MissingTenant):
        tenant_filter(tenant)


@pytest.mark.parametrize(
    "tenant",
    ["*", "a*", "a,b", "a b", "A", "_all", "-a", "א", "a\n", " a", "a" * 64, ["a"], ("a", "b"), {"a": 1}, 1, b"a"],
)
def test_a_malformed_tenant_is_refused(tenant: Any) -> None:
    with pytest.raises(InvalidTenant):
        tenant_filter(tenant)


def test_both_are_tenant_errors() -> None:
    assert issubclass(MissingTenant, TenantError)
    assert issubclass(InvalidTenant, TenantError)


def test_a_filter_never_widens_to_another_tenant() -> None:
    clauses = tenant_filter("a", Filters(document_id=("b",), tags=("tenant:b",)))
    assert clauses[0] == TENANT
    assert sum("tenant" in next(iter(clause.values())) for clause in clauses) == 1


def test_a_range_that_ends_before_it_begins() -> None:
    with pytest.raises(InvalidRequest, match="2024-01-02"):
        tenant_filter("a", Filters(date_from=date(2024, 1, 2), date_to=date(2024, 1, 1)))
