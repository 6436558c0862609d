"""What all records of evidence sheets have in common."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Final

from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field

# A name of a person or of a key: printable, short enough for a column.
LONGEST_NAME: Final = 120
# A reason is a few sentences; what is longer is a document of its own.
LONGEST_TEXT: Final = 10_000


class EvidenceRecord(BaseModel):
    """Frozen and closed: an unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


def _stripped(value: object) -> object:
    return value.strip() if isinstance(value, str) else value


def _utc(value: datetime) -> datetime:
    return value.astimezone(UTC)


Moment = Annotated[AwareDatetime, AfterValidator(_utc)]
Name = Annotated[str, BeforeValidator(_stripped), Field(min_length=1, max_length=LONGEST_NAME)]
# Blanks alone are no reason.
Written = Annotated[str, BeforeValidator(_stripped), Field(min_length=1, max_length=LONGEST_TEXT)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


def now() -> datetime:
    """This moment, in UTC."""
    return datetime.now(UTC)
