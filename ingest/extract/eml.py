"""EML: the mail's head as text, its body, and every attachment by its own format, as a section under the mail."""

from __future__ import annotations

import email
import email.policy
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import PurePath
from typing import Any, Final

from ingest.extract.base import BlockKind, ExtractedDocument
from ingest.extract.builder import Place, TextBuilder
from ingest.extract.decode import Decoded, decode
from ingest.extract.foreign import parsing
from ingest.extract.html import declared_charset, extract_html
from ingest.extract.kinds import EML
from ingest.extract.mail_text import ENGLISH_LABELS, HEBREW_LABELS, head_field, safe_name, sent_at
from ingest.extract.options import ExtractOptions
from ingest.extract.plain import extract_plain
from ingest.extract.visual import to_logical
from search_config.errors import DocumentError, DoubtfulDocument, EmptyDocument, ExpansionTooLarge
from search_config.language import language_of

ATTACHMENT_LEVEL: Final = 2
PLAIN_TYPE: Final = "text/plain"
HTML_TYPE: Final = "text/html"
MAIL_TYPE: Final = "message/rfc822"


def extract_eml(data: bytes, *, name: str, options: ExtractOptions) -> ExtractedDocument:
    """Extract a mail.

    An attachment that cannot be read costs itself alone, and the report names it; one in doubt puts the mail in doubt.

    Raises:
        ExtractionFailed
        UndecodableDocument, BinaryDocument: the body is in no encoding that fits.
        ExpansionTooLarge: too many attachments, mails too deep in each other, or one that unpacks too large.
        DoubtfulDocument: an attachment that a person should look at.
    """
    with parsing("EML", name):
        message = email.message_from_bytes(data, policy=email.policy.default)
    if not isinstance(message, EmailMessage):  # the policy makes nothing else
        raise TypeError(type(message).__name__)
    return _Mail(name, options, _Count(options.attachments_max)).read(message, depth=options.attachment_depth_max)


class _Count:
    """Attachments that may still come, of a mail and of all mails in it."""

    def __init__(self, left: int) -> None:
        self._most = self._left = left

    def one_more(self, name: str) -> int:
        """Number of the next attachment, from 1.

        Raises:
            ExpansionTooLarge: over the limit.
        """
        self._left -= 1
        if self._left < 0:
            raise ExpansionTooLarge(
                f"It has more than {self._most:,} attachments.",
                where=name,
                remedy="Ingest them as files, or raise MAFTEACH_ATTACHMENTS_MAX.",
            )
        return self._most - self._left


class _Mail:
    def __init__(self, name: str, options: ExtractOptions, count: _Count) -> None:
        self._name = name
        self._options = options
        self._count = count
        self._builder = TextBuilder()
        self._report: list[str] = []
        self._doubts: list[tuple[str, str]] = []

    def read(self, message: EmailMessage, *, depth: int) -> ExtractedDocument:
        """All of one mail; `depth` is how many mails may still lie in each other below it."""
        with parsing("EML", self._name):
            bodies, others = _parted(message)
            texts = [body for part in bodies if (body := self._body(part)) is not None]
            subject = head_field(message, "subject")
            self._head(message, subject, " ".join((subject, *(text.text for text in texts))))
            for text in texts:
                self._builder.include(text)
                self._report += text.report
            for part in others:
                self._attachment(part, depth)
        content, blocks = self._builder.build()
        sent = sent_at(message)
        metadata: dict[str, Any] = {
            "author": head_field(message, "from"),
            "recipients": head_field(message, "to"),
            "date": "" if sent is None else sent.date().isoformat(),
            "message_id": head_field(message, "message-id"),
        }
        return ExtractedDocument(
            text=content,
            title=subject or PurePath(self._name).stem,
            blocks=blocks,
            media_type=EML,
            metadata={key: value for key, value in metadata.items() if value},
            report=tuple(self._report),
            doubts=tuple(self._doubts),
        )

    def _head(self, message: EmailMessage, subject: str, text: str) -> None:
        labels = HEBREW_LABELS if language_of(text) == "he" else ENGLISH_LABELS
        values = {field: head_field(message, field) for field in labels}
        sent = sent_at(message)
        if sent is not None:
            values["date"] = f"{sent:%Y-%m-%d %H:%M}"
        self._builder.heading(subject, 1)
        lines = [f"{labels[field]}: {value}" for field, value in values.items() if value]
        self._builder.add(BlockKind.PARAGRAPH, "\n".join(lines))

    def _body(self, part: EmailMessage) -> ExtractedDocument | None:
        """A part of the mail's own text; None where it is blank."""
        payload = _payload(part)
        if not payload.strip():
            return None
        is_html = part.get_content_type() == HTML_TYPE
        declared = part.get_content_charset() or (declared_charset(payload) if is_html else None)
        found = decode(payload, name=self._name, declared=declared)
        if is_html and found.visual:
            return extract_html(payload, name=self._name)  # which turns it once its mark-up is gone
        source = _turned(found).encode("utf-8", "replace")
        document = extract_html(source, name=self._name) if is_html else extract_plain(source, name=self._name)
        return document if document.blocks else None

    def _attachment(self, part: EmailMessage, depth: int) -> None:
        number = self._count.one_more(self._name)
        if part.get_content_type() == MAIL_TYPE:
            self._mail_inside(part, number, depth)
            return
        label = safe_name(part.get_filename(), number)
        data = _payload(part)
        try:
            document = self._extracted(data, label, depth)
        except (ExpansionTooLarge, DoubtfulDocument):
            raise
        except EmptyDocument:
            self._report.append(f"Attachment {label!r} has no text.")
            return
        except DocumentError as error:
            self._report.append(f"Attachment {label!r} was not read: {error.what}")
            return
        self._builder.close_sections(ATTACHMENT_LEVEL)
        self._builder.heading(label, ATTACHMENT_LEVEL, place=Place(attachment=label))
        self._add(document, label)

    def _extracted(self, data: bytes, label: str, depth: int) -> ExtractedDocument:
        from ingest.extract.detect import media_type_of
        from ingest.extract.registry import extract  # which knows this module

        options = self._options
        if data and media_type_of(data, label) == EML:
            # A mail attached as a file is one level down, as a mail attached as a mail is.
            self._deeper(depth)
            options = options.model_copy(update={"attachment_depth_max": depth - 1})
        return extract(data, name=label, max_bytes=options.max_file_bytes, options=options)

    def _mail_inside(self, part: EmailMessage, number: int, depth: int) -> None:
        self._deeper(depth)
        payload = part.get_payload()
        inner = payload[0] if isinstance(payload, list) and payload else None
        if not isinstance(inner, EmailMessage):
            self._report.append(f"Attachment {number} says that it is a mail, and is none.")
            return
        label = safe_name(part.get_filename() or head_field(inner, "subject"), number)
        document = _Mail(label, self._options, self._count).read(inner, depth=depth - 1)
        self._builder.close_sections(ATTACHMENT_LEVEL)
        self._add(document, label)

    def _deeper(self, depth: int) -> None:
        if depth < 1:
            raise ExpansionTooLarge(
                f"Mails lie in each other more than {self._options.attachment_depth_max} deep.",
                where=self._name,
                remedy="Ingest the inner ones as files, or raise MAFTEACH_ATTACHMENT_DEPTH_MAX.",
            )

    def _add(self, document: ExtractedDocument, label: str) -> None:
        self._builder.include(document, attachment=label)
        self._report += [f"{label}: {line}" for line in document.report]
        self._doubts += [(code, f"{label}: {what}") for code, what in document.doubts]


def _turned(found: Decoded) -> str:
    return to_logical(found.text) if found.visual else found.text


def _payload(part: EmailMessage) -> bytes:
    """The part's bytes, out of base64 or quoted-printable."""
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""


def _parted(message: EmailMessage) -> tuple[list[EmailMessage], list[EmailMessage]]:
    """The parts that are the mail's own text, and its attachments, in order. Of alternatives, the plain text is read;
    HTML where that is blank."""
    bodies: list[EmailMessage] = []
    others: list[EmailMessage] = []
    waiting = [message]
    while waiting:
        part = waiting.pop()
        kind = part.get_content_type()
        if part.is_multipart() and kind != MAIL_TYPE:
            inside = [one for one in part.iter_parts() if isinstance(one, EmailMessage)]
            if kind == "multipart/alternative":
                inside = _chosen(inside)
            waiting.extend(reversed(inside))
        elif kind in (PLAIN_TYPE, HTML_TYPE) and not part.is_attachment() and not part.get_filename():
            bodies.append(part)
        else:
            others.append(part)
    return bodies, others


def _chosen(alternatives: list[EmailMessage]) -> list[EmailMessage]:
    """The alternative to read, and whatever among them is no text."""
    plain = [part for part in alternatives if part.get_content_type() == PLAIN_TYPE and _payload(part).strip()]
    if not plain:
        return alternatives
    rest = (part for part in alternatives if part.get_content_type() not in (PLAIN_TYPE, HTML_TYPE))
    return [*plain[:1], *(one for part in rest for one in _without_html(part))]


def _without_html(part: EmailMessage) -> Iterator[EmailMessage]:
    """The leaves of an alternative that are not its HTML: files that came along with it."""
    for leaf in part.walk():
        if isinstance(leaf, EmailMessage) and not leaf.is_multipart() and leaf.get_content_type() != HTML_TYPE:
            yield leaf
