"""Who asks: what a credential says, and the only thing that a route learns of it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from search_config.errors import InvalidRequest, NotPermitted
from search_config.records import TenantId

MAX_GROUPS: Final = 100
MAX_GROUP: Final = 100

# No control character, no lone surrogate, and nothing that turns the reading direction: a name that people compare.
GroupName = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_GROUP,
        pattern=r"^[^\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]+$",
    ),
]

_GROUPS: Final = TypeAdapter(Annotated[tuple[GroupName, ...], Field(max_length=MAX_GROUPS)])


class Permission(StrEnum):
    """What a credential allows."""

    READ = "read"
    WRITE = "write"
    REVIEW = "review"


DEFAULT_PERMISSIONS: Final = (Permission.READ, Permission.WRITE)


class Caller(BaseModel):
    """A checked credential. There is no caller without a tenant, and none with several."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tenant: TenantId
    groups: tuple[GroupName, ...] = Field((), max_length=MAX_GROUPS, description="Never None: that would be everybody.")
    permissions: frozenset[Permission] = frozenset(DEFAULT_PERMISSIONS)
    id: str = Field(min_length=1, description="The key's id, or `jwt:` and the token's subject; for logs and limits.")

    def checked_for(self, permission: Permission) -> Caller:
        """Itself.

        Raises:
            NotPermitted: this credential lacks the permission.
        """
        if permission not in self.permissions:
            raise NotPermitted(
                f"This credential may not {permission}.",
                where="Authorization",
                remedy=f"Use one with the permission `{permission}` (mafteach keys create --permission {permission}).",
            )
        return self


def groups_of(names: list[str]) -> tuple[str, ...]:
    """Groups by their names, each once, in their order.

    Raises:
        InvalidRequest: what is no name of a group, and what is too many.
    """
    try:
        return tuple(dict.fromkeys(_GROUPS.validate_python(tuple(names))))
    except ValidationError as error:
        problems = "; ".join(item["msg"] for item in error.errors())
        raise InvalidRequest(
            f"These are no groups: {problems}.",
            where="--group",
            remedy=f"A group's name has 1 to {MAX_GROUP} characters and no control character; {MAX_GROUPS} at most.",
        ) from error


def permissions_of(names: list[str]) -> tuple[Permission, ...]:
    """Permissions by their names, each once, in their order.

    Raises:
        InvalidRequest: naming every one that there is not.
    """
    unknown = [name for name in names if name not in set(Permission)]
    if unknown:
        raise InvalidRequest(
            "There are no such permissions.",
            where=", ".join(repr(name[:40]) for name in unknown),
            remedy=f"Permissions: {', '.join(Permission)}.",
        )
    return tuple(dict.fromkeys(Permission(name) for name in names))
