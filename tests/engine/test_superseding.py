"""Replacing has two sides, in whichever order the documents come, and never across tenants."""

from __future__ import annotations

from datetime import UTC, datetime

from ingest.fields.flat import flatten
from ingest.fields.resolve import Superseding, names_of, resolve_references, superseded_ids
from ingest.ledger import Change, Ledger
from search_config.client import Engine
from search_config.document_fields import DocumentFields, DocumentReference, FieldReading, FieldStatus, Relation
from search_config.records import DocumentRecord, DocumentState
from tests.conftest import MakeIndex


def _fields(number: str, replaces: str | None = None) -> DocumentFields:
    refers = () if replaces is None else (DocumentReference(reference=replaces, relation=Relation.SUPERSEDES),)
    return DocumentFields(references=(FieldReading(status=FieldStatus.VALUE, value=number),), refers_to=refers)


def _row(id_: str, read: DocumentFields, tenant: str = "a") -> Change:
    now = datetime.now(UTC)
    record = DocumentRecord(
        document_id=id_,
        tenant=tenant,
        name=id_,
        source=id_,
        state=DocumentState.READY,
        title=f"title of {id_}",
        extracted=read,
        filter_fields=flatten(read),
        created_at=now,
        updated_at=now,
    )
    return Change(id_, record.model_dump(mode="json", by_alias=True, exclude_none=True), None)


def test_both_sides_in_both_orders(engine: Engine, make_index: MakeIndex) -> None:
    info, settings = make_index()
    ledger = Ledger(engine, info.names, settings)
    sides = Superseding(engine, info.names, settings)
    old = _fields("12/2019")
    ledger.write([_row("old", old), _row("foreign", old, tenant="b")], visible=True)

    new = resolve_references(_fields("7/2024", "12/2019"), sides.lookup("a", own_id="new"))
    assert superseded_ids(new) == ("old",)
    ledger.write([_row("new", new)], visible=True)
    sides.mark("a", "new", superseded_ids(new))
    rows = {**ledger.read("a", ["old"]), **ledger.read("b", ["foreign"])}
    assert rows["old"].record.filter_fields.superseded_by == "new"
    assert rows["foreign"].record.filter_fields.superseded_by is None

    # The older one comes again, or comes last: it finds who replaces it.
    assert sides.replacing("a", "old", names_of(old, "title of old")) == "new"
    assert sides.replacing("b", "foreign", names_of(old, "title of foreign")) is None

    sides.clear("a", "new")
    assert ledger.read("a", ["old"])["old"].record.filter_fields.superseded_by is None


def test_a_number_of_two_documents_is_resolved_to_none(engine: Engine, make_index: MakeIndex) -> None:
    info, settings = make_index()
    Ledger(engine, info.names, settings).write([_row("x", _fields("5")), _row("y", _fields("5"))], visible=True)
    lookup = Superseding(engine, info.names, settings).lookup("a", own_id="z")
    assert lookup("5") is None
    assert lookup("title of x") == "x"
