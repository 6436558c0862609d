"""The page at `/docs`: the OpenAPI description as plain HTML. It loads nothing from anywhere, so it works offline."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any, Final

METHODS: Final = ("get", "post", "put", "patch", "delete")
STYLE: Final = """
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b;background:#fff}
section{border-top:1px solid #ccc;padding:.5rem 0}code,pre{font:14px/1.45 ui-monospace,monospace;background:#f3f3f3}
pre{padding:.75rem;overflow:auto;unicode-bidi:plaintext}table{border-collapse:collapse}
td,th{padding:.2rem .8rem .2rem 0;text-align:start;vertical-align:top}
.method{font-weight:700}
@media(prefers-color-scheme:dark){body{color:#e6e6e6;background:#161616}code,pre{background:#262626}a{color:#9cf}}
"""


def page(description: Mapping[str, Any]) -> str:
    """The whole page for an OpenAPI description."""
    info = description["info"]
    parts = [
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(info['title'])}</title>",
        f"<meta name=viewport content='width=device-width'><style>{STYLE}</style>",
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1>",
        f"<p>{escape(info.get('description', ''))}</p>",
        "<p>For machines: <a href=/openapi.json>/openapi.json</a></p>",
    ]
    schemas = description.get("components", {}).get("schemas", {})
    for path, operations in description["paths"].items():
        for method in METHODS:
            if method in operations:
                parts += _operation(path, method, operations[method], schemas)
    return "\n".join(parts)


def _operation(path: str, method: str, operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[str]:
    yield f"<section><h2><span class=method>{method.upper()}</span> <code>{escape(path)}</code></h2>"
    yield f"<p><b>{escape(operation.get('summary', ''))}.</b> {escape(operation.get('description', ''))}</p>"
    if operation.get("security"):
        yield "<p>Needs <code>Authorization: Bearer KEY</code>.</p>"
    rows = [
        (parameter["name"], parameter["in"], parameter.get("required", False), parameter.get("description", ""))
        for parameter in operation.get("parameters", ())
    ]
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    schema = schemas.get(body.get("$ref", "").rpartition("/")[2], {})
    required = schema.get("required", ())
    rows += [
        (name, "body", name in required, field.get("description", ""))
        for name, field in schema.get("properties", {}).items()
    ]
    if rows:
        yield "<table><tr><th>Name<th>In<th>Needed<th>What it is</tr>"
        for name, place, needed, what in rows:
            mark = "yes" if needed else ""
            yield f"<tr><td><code>{escape(name)}</code><td>{escape(place)}<td>{mark}<td>{escape(what)}</tr>"
        yield "</table>"
    for example in schema.get("examples", ()):
        yield f"<pre>{escape(json.dumps(example, ensure_ascii=False, indent=2))}</pre>"
    yield "<table><tr><th>Status<th>When</tr>"
    for status, response in operation.get("responses", {}).items():
        yield f"<tr><td>{escape(status)}<td>{escape(response.get('description', ''))}</tr>"
    yield "</table></section>"
