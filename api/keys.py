"""API keys: made, listed, revoked and looked up in the keys index, where only their hashes are stored."""

from __future__ import annotations

import hashlib
import hmac
import logging
import re
import secrets
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from api.caller import DEFAULT_PERMISSIONS, MAX_GROUPS, Caller, GroupName, Permission
from api.jwt import refused
from search_config import fields
from search_config.client import Engine
from search_config.errors import IndexMissing, NotFound
from search_config.names import Names
from search_config.records import TenantId, tenant_id

KEY_MARK: Final = "mk"
# 48 bits: an id is a name, no secret; among a million keys two ids meet with a chance of .2%, and then `create` fails.
ID_BYTES: Final = 6
# 256 random bits cannot be guessed or enumerated. That is also why one SHA-256 is enough to store them: a slow password
# hash protects secrets that people choose, and would only make every request slower here.
SECRET_BYTES: Final = 32
KEY_PATTERN: Final = re.compile(
    rf"{KEY_MARK}_(?P<id>[0-9a-f]{{{2 * ID_BYTES}}})_(?P<secret>[0-9a-f]{{{2 * SECRET_BYTES}}})", re.ASCII
)
ID_PATTERN: Final = re.compile(rf"[0-9a-f]{{{2 * ID_BYTES}}}", re.ASCII)
# What an unknown id is compared with, so that it takes the same steps as a known one.
NO_HASH: Final = "0" * 64
# Rows of one page of a listing; a page is one request.
PAGE: Final = 500
MAX_LABEL: Final = 200

log = logging.getLogger(__name__)


class KeyRecord(BaseModel):
    """A stored key, without its secret."""

    model_config = ConfigDict(frozen=True)

    id: str
    tenant: TenantId
    label: str = Field("", max_length=MAX_LABEL)
    groups: tuple[GroupName, ...] = Field((), max_length=MAX_GROUPS)
    permissions: tuple[Permission, ...] = DEFAULT_PERMISSIONS
    created_at: datetime
    revoked_at: datetime | None = None


class CreatedKey(KeyRecord):
    """A key as it is shown once, at its creation."""

    key: str = Field(description="mk_<id>_<secret>; not stored, can't be shown again.")


class KeyStore:
    """The keys index. Look-ups go by id and see a revocation at once: nothing is kept here (`api.verified` keeps)."""

    def __init__(self, engine: Engine, names: Names) -> None:
        self._engine = engine
        self._index = names.keys
        self._on_revoked: list[Callable[[str], None]] = []

    def observe_revoked(self, listener: Callable[[str], None]) -> None:
        """Tell `listener` the id of every key that is revoked by this store."""
        self._on_revoked.append(listener)

    def create(
        self,
        tenant: str,
        *,
        label: str = "",
        groups: Sequence[str] = (),
        permissions: Sequence[Permission] = DEFAULT_PERMISSIONS,
    ) -> CreatedKey:
        """Make a key for a tenant; the secret is in the answer and nowhere else.

        Args:
            tenant: the only one that it opens.
            label: what it is for.
            groups: those whose documents it shows, beside the documents without groups.
            permissions: what it allows.

        Raises:
            MissingTenant, InvalidTenant, IndexMissing, EngineError
        """
        # Without its template the engine would make the index by itself, with mappings of its own choice.
        if not self._engine.exists(f"/{self._index}"):
            raise IndexMissing("There is no keys index.", where=self._index, remedy="Run: mafteach setup")
        record = KeyRecord(
            id=secrets.token_hex(ID_BYTES),
            tenant=tenant_id(tenant),
            label=label[:MAX_LABEL],
            groups=tuple(dict.fromkeys(groups)),
            permissions=tuple(permissions),
            created_at=datetime.now(UTC),
        )
        secret = secrets.token_hex(SECRET_BYTES)
        row = {
            fields.KEY_ID: record.id,
            fields.KEY_HASH: _hashed(secret),
            fields.TENANT: record.tenant,
            fields.LABEL: record.label,
            fields.GROUPS: list(record.groups),
            fields.PERMISSIONS: [str(permission) for permission in record.permissions],
            fields.CREATED_AT: record.created_at.isoformat(),
        }
        # `_create` refuses an id that exists; a retry after a broken connection may therefore fail, but never doubles.
        path = f"/{self._index}/_create/{record.id}"
        self._engine.request("PUT", path, body=row, params={"refresh": "wait_for"}, retry=False)
        return CreatedKey(**record.model_dump(), key=f"{KEY_MARK}_{record.id}_{secret}")

    def list(self, tenant: str) -> list[KeyRecord]:
        """A tenant's keys, oldest first, revoked ones too."""
        body: dict[str, Any] = {
            "size": PAGE,
            "query": {"bool": {"filter": [{"term": {fields.TENANT: tenant_id(tenant)}}]}},
            "sort": [{fields.CREATED_AT: "asc"}, {fields.KEY_ID: "asc"}],
        }
        found: list[KeyRecord] = []
        while True:
            rows = self._engine.search(self._index, body)["hits"]["hits"]
            found += [_record(row["_source"]) for row in rows]
            if len(rows) < PAGE:
                return found
            body["search_after"] = rows[-1]["sort"]

    def revoke(self, tenant: str, key_id: str) -> KeyRecord:
        """Make a key invalid from now on; a revoked one stays as it is.

        Raises:
            NotFound: this tenant has no such key.
        """
        row = self._row(key_id)
        if row is None or row[fields.TENANT] != tenant_id(tenant):
            raise NotFound(
                "This tenant has no such key.",
                where=repr(key_id[:80]),
                remedy=f"See its keys: mafteach keys list --tenant {tenant}",
            )
        if row.get(fields.REVOKED_AT) is None:
            row[fields.REVOKED_AT] = datetime.now(UTC).isoformat()
            change = {"doc": {fields.REVOKED_AT: row[fields.REVOKED_AT]}}
            self._engine.request(
                "POST", f"/{self._index}/_update/{key_id}", body=change, params={"refresh": "wait_for"}
            )
        for listener in self._on_revoked:
            listener(key_id)
        return _record(row)

    def authenticate(self, presented: str) -> Caller:
        """The caller that a key names.

        Raises:
            AuthenticationError: malformed, unknown, wrong or revoked; the four are told apart nowhere.
        """
        parts = KEY_PATTERN.fullmatch(presented)
        row = self._row(parts["id"]) if parts else None
        stored = row[fields.KEY_HASH] if row else NO_HASH
        equal = hmac.compare_digest(_hashed(parts["secret"] if parts else ""), stored)
        if row is None or not equal or row.get(fields.REVOKED_AT) is not None:
            raise refused()
        try:
            record = _record(row)
            return Caller(
                tenant=record.tenant, groups=record.groups, permissions=frozenset(record.permissions), id=record.id
            )
        except (ValidationError, KeyError) as error:
            # A row that does not hold names nobody.
            log.warning("the row of the key %s is damaged", row.get(fields.KEY_ID))
            raise refused() from error

    def _row(self, key_id: str) -> dict[str, Any] | None:
        """A key's row by its id, in real time: no refresh is needed to see it."""
        if not ID_PATTERN.fullmatch(key_id):
            return None
        answer = self._engine.get(self._index, key_id)
        return None if answer is None else dict(answer["_source"])


def _hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _record(row: dict[str, Any]) -> KeyRecord:
    return KeyRecord(
        id=row[fields.KEY_ID],
        tenant=row[fields.TENANT],
        label=row.get(fields.LABEL) or "",
        created_at=row[fields.CREATED_AT],
        revoked_at=row.get(fields.REVOKED_AT),
        groups=row.get(fields.GROUPS) or (),
        # A row without the field is older than permissions; one with an empty list allows nothing.
        permissions=row.get(fields.PERMISSIONS, DEFAULT_PERMISSIONS),
    )
