"""The one filter builder: a table of requests and clauses, and everything that must be refused."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from query.filters import NOTHING, any_of, none_of, tenant_filter
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
        (Filters(tags=("x",)), [{"terms": {"tags": ["x"]}}]),
        (
            Filters(reference=("R-1",)),
            [any_of([{"terms": {"reference": ["R-1"]}}, {"terms": {"filter_fields.references": ["R-1"]}}])],
        ),
        (
            Filters(vendor=("אקמה",), party=("Acme Ltd.",)),
            [
                {"terms": {"filter_fields.parties": ["Acme Ltd."]}},
                {"terms": {"filter_fields.party_kinds": ["vendor:אקמה"]}},
            ],
        ),
        (
            Filters(amount_min=Decimal("12.50"), currency=("ILS",)),
            [
                {"terms": {"filter_fields.currency": ["ILS"]}},
                {"range": {"filter_fields.amount_minor": {"gte": 1250}}},
            ],
        ),
        (
            Filters(signed_from=date(2024, 1, 2), expires_to=date(2025, 1, 1)),
            [
                {"range": {"filter_fields.signed_on": {"gte": "2024-01-02"}}},
                {"range": {"filter_fields.expires_on": {"lte": "2025-01-01"}}},
            ],
        ),
        (Filters(excluded_document_id=("d1",)), [{"bool": {"must_not": [{"terms": {"document_id": ["d1"]}}]}}]),
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


FREE = none_of([{"exists": {"field": "groups"}}])


@pytest.mark.parametrize(
    ("groups", "clauses"),
    [
        (None, []),
        ((), [any_of([FREE])]),
        (("law", "hr"), [any_of([FREE, {"terms": {"groups": ["hr", "law"]}}])]),
    ],
)
def test_what_an_asker_may_see(groups: tuple[str, ...] | None, clauses: list[Any]) -> None:
    assert tenant_filter("a", groups=groups) == [TENANT, *clauses]


@pytest.mark.parametrize(
    ("asked", "groups", "clause"),
    [
        (("law",), None, {"terms": {"groups": ["law"]}}),
        (("law", "hr"), ("law",), {"terms": {"groups": ["law"]}}),
        (("hr",), ("law",), NOTHING),
        (("hr",), (), NOTHING),
    ],
)
def test_asked_groups_only_narrow(asked: tuple[str, ...], groups: tuple[str, ...] | None, clause: Any) -> None:
    assert tenant_filter("a", Filters(groups=asked), groups=groups) == [*tenant_filter("a", groups=groups), clause]


def test_one_name_is_no_list_of_groups() -> None:
    with pytest.raises(InvalidRequest):
        tenant_filter("a", groups="law")


@pytest.mark.parametrize("currency", [(), ("ILS", "USD")])
def test_an_amount_needs_one_currency(currency: tuple[str, ...]) -> None:
    with pytest.raises(InvalidRequest, match="currency"):
        tenant_filter("a", Filters(amount_max=Decimal(5), currency=currency))


@pytest.mark.parametrize("name", ["signed", "effective", "expires"])
def test_every_range_must_not_be_reversed(name: str) -> None:
    with pytest.raises(InvalidRequest, match=r"ends"):
        tenant_filter("a", Filters.model_validate({f"{name}_from": "2024-01-02", f"{name}_to": "2024-01-01"}))
    with pytest.raises(InvalidRequest, match=r"ends"):
        tenant_filter("a", Filters(amount_min=Decimal(2), amount_max=Decimal(1), currency=("ILS",)))
