"""The one seam to OpenSearch Dashboards: saved objects are imported, and then looked for one by one.

Its import may answer "success" and have imported nothing where a reference is missing, so its word is not taken.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import urllib3
from pydantic import BaseModel, ConfigDict
from urllib3.exceptions import HTTPError

from search_config.connection import EngineAccess
from search_config.errors import DashboardsRejected, DashboardsUnreachable

Json = dict[str, Any]

# Dashboards takes requests that change something only with this header, whatever its value.
XSRF: Final = {"osd-xsrf": "true"}
# Where its security is on, every user has saved objects of their own beside everybody's; without the header they would
# be imported for the user that imports alone.
EVERYBODYS: Final = {"securitytenant": "global"}
# Dashboards looks at the ending.
FILE_NAME: Final = "mafteach.ndjson"
NDJSON: Final = "application/ndjson"
TIMEOUT_S: Final = 60.0
OK: Final = 200
UNAUTHORIZED: Final = (401, 403)
# Not ready yet, or a proxy before it that finds nobody.
UNAVAILABLE: Final = (502, 503, 504)
SHOWN: Final = 5
SHOWN_CHARS: Final = 300


class Imported(BaseModel):
    """What Dashboards has now."""

    model_config = ConfigDict(frozen=True)

    url: str
    objects: int
    by_type: dict[str, int]


class Dashboards:
    """One OpenSearch Dashboards."""

    def __init__(self, url: str, *, access: EngineAccess) -> None:
        """Make a client; nothing is sent yet.

        Args:
            url: its address, with its base path where it has one.
            access: the engine's: Dashboards hands user and password on to it. Requests are not signed for AWS.

        Raises:
            InvalidSettings: the file of certificate authorities can't be read.
        """
        self.url = url.rstrip("/")
        self._headers = dict(XSRF | EVERYBODYS)
        if access.basic is not None and access.authorize is not None:
            self._headers |= access.authorize("", "", None)
        secured: dict[str, Any] = {}
        if self.url.startswith("https:"):
            secured = {"ssl_context": access.tls} if access.verify else {"cert_reqs": "CERT_NONE"}
        self._pool = urllib3.PoolManager(retries=False, timeout=TIMEOUT_S, **secured)

    def import_objects(self, objects: Sequence[Json]) -> Imported:
        """Import, over objects with the same ids, and verify that every one is there, with its references.

        Args:
            objects: each behind those that it refers to.

        Raises:
            DashboardsUnreachable: nobody answers there, or not yet.
            DashboardsRejected: it refuses them or this user, answers in another way than Dashboards does, or does not
                have what it was sent.
        """
        lines = "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in objects)
        answer = self._ask(
            "/api/saved_objects/_import?overwrite=true", fields={"file": (FILE_NAME, lines.encode(), NDJSON)}
        )
        if not isinstance(answer, dict) or answer.get("success") is not True:
            raise self._rejected(f"Dashboards did not import the saved objects: {_told(answer)}.")
        self._verify(objects)
        kinds = [one["type"] for one in objects]
        return Imported(
            url=self.url, objects=len(objects), by_type={kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}
        )

    def _verify(self, objects: Sequence[Json]) -> None:
        wanted = [{"type": one["type"], "id": one["id"]} for one in objects]
        answer = self._ask("/api/saved_objects/_bulk_get", body=wanted)
        found = answer.get("saved_objects") if isinstance(answer, dict) else None
        if not isinstance(found, list):
            raise self._rejected(f"Dashboards does not tell what it has: {_told(answer)}.")
        there = {(one.get("type"), one.get("id")): one for one in found if isinstance(one, dict) and "error" not in one}
        wrong = []
        for one in objects:
            kept = there.get((one["type"], one["id"]))
            name = f"{one['type']} {one['id']}"
            if kept is None:
                wrong.append(f"{name} is missing")
            elif kept.get("attributes", {}).get("title") != one["attributes"]["title"]:
                wrong.append(f"{name} is another one")
            elif _targets(kept) != _targets(one):
                wrong.append(f"{name} has lost references")
        if wrong:
            more = f" and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
            raise self._rejected(f"After the import, {'; '.join(wrong[:SHOWN])}{more}.")

    def _ask(self, path: str, *, body: Any = None, fields: dict[str, Any] | None = None) -> Any:
        sent = {"fields": fields} if fields is not None else {"body": json.dumps(body).encode()}
        headers = self._headers if fields is not None else {**self._headers, "content-type": "application/json"}
        where = f"{self.url}{path.partition('?')[0]}"
        try:
            answer = self._pool.request("POST", f"{self.url}{path}", headers=headers, redirect=False, **sent)
        except HTTPError as error:
            raise DashboardsUnreachable(
                f"OpenSearch Dashboards does not answer ({type(error).__name__}).",
                where=where,
                remedy="Start it, or correct MAFTEACH_DASHBOARDS_URL; searches work without it.",
            ) from error
        if answer.status in UNAVAILABLE:
            raise DashboardsUnreachable(
                f"OpenSearch Dashboards is not ready ({answer.status}).", where=where, remedy="Try again in a minute."
            )
        if answer.status in UNAUTHORIZED:
            raise self._rejected(
                f"OpenSearch Dashboards does not let this user in ({answer.status}).",
                remedy="Correct MAFTEACH_OPENSEARCH_USERNAME and _PASSWORD: the engine's user is asked with.",
            )
        try:
            told = json.loads(answer.data)
        except ValueError as error:
            raise self._rejected(
                f"There is something else than OpenSearch Dashboards at this address ({answer.status}).",
                remedy="Correct MAFTEACH_DASHBOARDS_URL.",
            ) from error
        if answer.status != OK:
            raise self._rejected(f"Dashboards refused this ({answer.status}): {_told(told)}.")
        return told

    def _rejected(self, what: str, *, remedy: str | None = None) -> DashboardsRejected:
        return DashboardsRejected(
            what, where=self.url, remedy=remedy or "Look into the log of Dashboards; docs/dashboards.md."
        )


def _targets(found: Json) -> set[tuple[str, str, str]]:
    return {(one["type"], one["id"], one["name"]) for one in found.get("references", [])}


def _told(answer: Any) -> str:
    """What Dashboards says, short."""
    if isinstance(answer, dict):
        errors = answer.get("errors")
        if isinstance(errors, list) and errors:
            told = [
                f"{one.get('type')} {one.get('id')}: {one.get('error', {}).get('type', 'unknown')}"
                for one in errors[:SHOWN]
                if isinstance(one, dict)
            ]
            return "; ".join(told)
        if isinstance(answer.get("message"), str):
            return str(answer["message"])[:SHOWN_CHARS]
    return json.dumps(answer, ensure_ascii=False)[:SHOWN_CHARS]
