"""What a client sends to have a document ingested: a file in a form, or a text in JSON; validated the same way."""

from __future__ import annotations

from typing import Annotated, Any, Final, TypeVar

from fastapi import Depends, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json
from starlette.datastructures import UploadFile

from api.caller import MAX_GROUPS, Caller, GroupName
from ingest.documents import RawDocument
from search_config.errors import InvalidRequest, NotPermitted

FORM: Final = "multipart/form-data"
JSON: Final = "application/json"
# One file, and the fields beside it; each field is far below the limit.
MAX_FIELDS: Final = 300
MAX_FIELD_BYTES: Final = 100_000
MAX_NAME: Final = 255
MAX_TAGS: Final = 100
# What sources of uploads without one begin with; the name of the file follows.
UPLOADED: Final = "upload:"
# Nothing that moves a cursor, ends a line or turns the reading direction of a list of names.
_PLAIN: Final = r"^[^\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]+$"

PlainName = Annotated[str, Field(min_length=1, max_length=MAX_NAME, pattern=_PLAIN)]
Tag = Annotated[str, Field(min_length=1, max_length=200, pattern=_PLAIN)]


class _Wishes(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    source: Annotated[str, Field(min_length=1, max_length=1000, pattern=_PLAIN)] | None = Field(
        None,
        description="Names the document within its tenant: another upload of the same source replaces it. "
        "Unset, `upload:` and the name.",
    )
    title: Annotated[str, Field(min_length=1, max_length=500, pattern=_PLAIN)] | None = Field(
        None, description="Instead of the title in the document."
    )
    url: Annotated[str, Field(max_length=2000, pattern=r"^https?://[^\s\x00-\x1f\x7f]+$")] | None = Field(
        None, description="Where people open the original."
    )
    groups: tuple[GroupName, ...] = Field(
        (), max_length=MAX_GROUPS, description="Who may see it, among the groups of the credential; none: everybody."
    )
    tags: tuple[Tag, ...] = Field((), max_length=MAX_TAGS, description="Keywords to filter by.")


class TextUpload(_Wishes):
    """A document as JSON."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        json_schema_extra={
            "examples": [{"name": "הודעה.md", "text": "# שעות הקבלה\n\nהמוקד פתוח בימים א עד ה, 8:00 עד 16:00."}]
        },
    )

    name: PlainName = Field("text.md", description="What people call it; its ending tells the format.")
    text: str = Field(min_length=1, description="Plain text or Markdown.")


class FileUpload(_Wishes):
    """A document as a form: the file, and what is told beside it."""

    name: PlainName | None = Field(None, description="Instead of the file's own name.")


Upload = TypeVar("Upload", bound=BaseModel)


class Sent(BaseModel):
    """A checked upload."""

    model_config = ConfigDict(frozen=True)

    name: str
    data: bytes
    wishes: TextUpload | FileUpload

    def raw(self, caller: Caller) -> RawDocument:
        """The document of this caller's tenant.

        Raises:
            NotPermitted: groups that the caller is not in.
        """
        foreign = sorted(set(self.wishes.groups) - set(caller.groups))
        if foreign:
            raise NotPermitted(
                "A document can be restricted to groups of the credential alone.",
                where="groups",
                remedy="Leave out the groups that it does not have.",
            )
        return RawDocument(
            tenant=caller.tenant,
            source=self.wishes.source or f"{UPLOADED}{self.name}",
            name=self.name,
            data=self.data,
            url=self.wishes.url,
            groups=tuple(dict.fromkeys(self.wishes.groups)),
            tags=tuple(dict.fromkeys(self.wishes.tags)),
            title=self.wishes.title,
        )


async def sent(request: Request) -> Sent:
    """The upload in a request's body.

    Raises:
        RequestValidationError: everything that does not hold, at once.
        InvalidRequest: another media type.
    """
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type == FORM:
        return await _form(request)
    if media_type == JSON:
        return _text(await request.body())
    raise InvalidRequest(
        "A document is sent as a form or as JSON.",
        where="Content-Type",
        remedy=f"Send {FORM} with `file`, or {JSON} with `text`.",
    )


SentHere = Annotated[Sent, Depends(sent)]


async def _form(request: Request) -> Sent:
    async with request.form(max_files=1, max_fields=MAX_FIELDS, max_part_size=MAX_FIELD_BYTES) as form:
        file = form.get("file")
        problems: list[dict[str, Any]] = []
        if not isinstance(file, UploadFile):
            problems.append({"type": "missing", "loc": ("body", "file"), "msg": "A file is needed", "input": None})
        fields: dict[str, Any] = {}
        for name in form.keys() - {"file"}:
            values = form.getlist(name)
            if any(isinstance(value, UploadFile) for value in values):
                problems.append({"type": "text", "loc": ("body", name), "msg": "This is no file", "input": None})
            elif name in ("groups", "tags"):
                fields[name] = [value for value in values if value != ""]
            elif len(values) > 1:
                problems.append({"type": "once", "loc": ("body", name), "msg": "Given several times", "input": None})
            elif values[0] != "":
                fields[name] = values[0]
        wishes = _checked(FileUpload, fields, problems)
        if wishes is None or not isinstance(file, UploadFile):
            raise RequestValidationError(problems)
        name = wishes.name or _base_name(file.filename)
        # The name in a form's header is anybody's text, as a field is.
        _ = _raised(FileUpload, {"name": name}, "file")
        return Sent(name=name, data=await file.read(), wishes=wishes)


def _text(body: bytes) -> Sent:
    try:
        value = from_json(body)
    except ValueError as error:
        problem = {"type": "json_invalid", "loc": ("body",), "msg": "This is no JSON", "input": None}
        raise RequestValidationError([problem]) from error
    wishes = _raised(TextUpload, value, "body")
    return Sent(name=wishes.name, data=wishes.text.encode(), wishes=wishes)


def _base_name(name: str | None) -> str:
    """The last part of a path, of whatever system."""
    return (name or "").replace("\\", "/").rpartition("/")[2]


def _checked(kind: type[Upload], value: Any, problems: list[dict[str, Any]]) -> Upload | None:
    try:
        checked = kind.model_validate(value)
    except ValidationError as error:
        problems += [{**item, "loc": ("body", *item["loc"])} for item in error.errors(include_url=False)]
        return None
    return None if problems else checked


def _raised(kind: type[Upload], value: Any, where: str) -> Upload:
    problems: list[dict[str, Any]] = []
    checked = _checked(kind, value, problems)
    if checked is None:
        if where != "body":
            problems = [dict(item, loc=("body", where)) for item in problems]
        raise RequestValidationError(problems)
    return checked
