"""The structured documents of `examples/router/`, written into a documents index, and the answers computed from the
raw lines by other means than the engine's."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

from search_config.client import Engine

Line = dict[str, Any]


def lines(path: Path) -> list[Line]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def stored(line: Line, tenant: str) -> Line:
    """A row of the documents index."""
    flat = {
        "parties": [party["name"] for party in line["parties"]],
        "party_kinds": [f"{party['kind']}:{party['name']}" for party in line["parties"]],
        "signed_on": line["signed"],
        "effective_on": line["effective"],
        "expires_on": line["expires"],
        "amount_minor": None if line["amount"] is None else int(Decimal(line["amount"]) * 100),
        "currency": line["currency"],
        "references": line["references"],
        "superseded_by": line["superseded_by"],
        "not_found": line["not_found"],
        "stated_none": line["stated_none"],
    }
    return {
        "document_id": line["id"],
        "tenant": tenant,
        "name": f"{line['id']}.pdf",
        "title": line["name"],
        "source": f"test:{line['id']}",
        "state": line["state"],
        "attempts": 1,
        "chunks_generated": 1,
        "chunks_indexed": 1,
        "version": 1,
        "content_hash": "0" * 64,
        "language": line["language"],
        "type": line["type"],
        "tags": line["tags"],
        "date": line["date"],
        "filter_fields": {name: value for name, value in flat.items() if value not in (None, [])},
        "created_at": "2025-01-01T00:00:00Z",
        "updated_at": "2025-01-01T00:00:00Z",
        **({"groups": line["groups"]} if line.get("groups") else {}),
    }


def write(engine: Engine, index: str, rows: Iterable[Line]) -> None:
    commands = []
    for row in rows:
        commands.append(json.dumps({"index": {"_index": index, "_id": row["document_id"]}}))
        commands.append(json.dumps({name: value for name, value in row.items() if value is not None}))
    failed = [item for item in engine.bulk(commands) if not item.ok]
    assert not failed, failed[:1]
    engine.request("POST", f"/{index}/_refresh")


def fits(line: Line, select: Line) -> bool:
    """Whether a raw line is one of those that a question selects."""
    names = [party["name"] for party in line["parties"]]

    def holds(name: str, wanted: Any) -> bool:
        match name:
            case "type" | "language" | "currency":
                return bool(line[name] == wanted)
            case "party":
                return wanted in names
            case "tag":
                return wanted in line["tags"]
            case "reference":
                return wanted in line["references"]
            case "amount_min":
                return line["amount"] is not None and Decimal(line["amount"]) > Decimal(wanted)
            case "in_force":
                begun = line["effective"] is not None and line["effective"] <= wanted
                return begun and (line["expires"] is None or line["expires"] >= wanted)
        day = line["signed" if name == "dated" else name]
        return day is not None and wanted[0] <= day <= wanted[1]

    return line["state"] == "ready" and all(holds(name, wanted) for name, wanted in select.items())


def expected(question: Line, documents: list[Line]) -> Line:
    """The right answer: ids of the documents counted, the value, the names."""
    chosen = [line for line in documents if fits(line, question["select"])]
    measure, field = question["measure"], question.get("field", "")
    pick = question.get("pick")
    if pick in {"latest", "earliest"} or measure in {"latest", "earliest"}:
        best = (max if "latest" in {pick, measure} else min)(line["signed"] for line in chosen if line["signed"])
        chosen = [line for line in chosen if line["signed"] == best]
        value: Any = best
    amounts = [Decimal(line["amount"]) for line in chosen if line["amount"] is not None]
    if measure in {"sum", "average", "max", "min"}:
        chosen = [line for line in chosen if line["amount"] is not None]
        total = sum(amounts, Decimal(0))
        average = (total / len(amounts)).quantize(Decimal("0.01"))
        value = {"sum": total, "average": average, "max": max(amounts), "min": min(amounts)}[measure]
    if measure in {"max", "min"}:
        chosen = [line for line in chosen if Decimal(line["amount"]) == value]
    parts = Counter(
        (party["kind"], party["name"])
        for line in chosen
        for party in line["parties"]
        if field in {"", "party", party["kind"]}
    )
    if measure == "count":
        value = len(parts) if field else len(chosen)
    if measure == "value":
        (only,) = chosen
        value = only[field]
    return {
        "ids": sorted(line["id"] for line in chosen),
        "value": value if measure not in {"who", "list", "group"} else None,
        "names": {name: count for (_, name), count in parts.items()},
    }
