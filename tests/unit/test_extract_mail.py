"""Mails: head, body in every encoding, attachments by their own format, mails in mails."""

from __future__ import annotations

import base64
from email.message import EmailMessage

import pytest

from ingest.chunking.places import Places
from ingest.extract.base import ExtractedDocument
from ingest.extract.mail_text import safe_name
from ingest.extract.options import ExtractOptions
from ingest.extract.registry import extract
from search_config.errors import ExpansionTooLarge, ExtractionFailed
from search_config.locators import fragment
from tests.unit.office_files import mail, word_contract, workbook

LIMIT = 50_000_000
HEAD = "מאת: דנה כהן <dana@example.org>\nאל: office@example.org\nתאריך: 2024-02-15 10:30\nנושא: הצעת מחיר לגינון"


def read(data: bytes, **limits: int) -> ExtractedDocument:
    return extract(data, name="file.eml", max_bytes=LIMIT, options=ExtractOptions(**limits))


def lines(document: ExtractedDocument) -> list[str]:
    return [document.text[block.locator.from_ : block.locator.to] for block in document.blocks]


@pytest.mark.parametrize("charset", ["utf-8", "windows-1255", "iso-8859-8"])
@pytest.mark.parametrize("encoding", ["base64", "quoted-printable", "8bit"])
def test_hebrew_mail_in_every_encoding(charset: str, encoding: str) -> None:
    message = mail()
    message.set_content("שלום רב,\n\nמצורפת הצעת המחיר.", charset=charset, cte=encoding)
    document = read(message.as_bytes())
    assert lines(document) == ["הצעת מחיר לגינון", HEAD, "שלום רב,", "מצורפת הצעת המחיר."]
    assert document.title == "הצעת מחיר לגינון"
    assert document.metadata["date"] == "2024-02-15"


def test_an_english_mail_has_english_labels() -> None:
    document = read(mail("Quotation", "Dear sirs,\n\nplease find it attached.").as_bytes())
    assert lines(document)[1].startswith("From: דנה כהן <dana@example.org>\nTo: office@example.org\nDate: 2024-02-15")


def test_raw_hebrew_bytes_in_the_head_and_no_charset() -> None:
    head = b"From: a@b.c\r\nMessage-ID: <1@x>\r\nSubject: " + "פרוטוקול ישיבה".encode("windows-1255")
    document = read(head + b"\r\n\r\n" + "גוף ההודעה כאן".encode("windows-1255"))
    assert document.title == "פרוטוקול ישיבה"
    assert lines(document)[-1] == "גוף ההודעה כאן"


@pytest.mark.parametrize("charset", ["windows-1255", "iso-8859-8", "iso-8859-8-i", "x-unknown"])
def test_encoded_words_of_every_hebrew_encoding(charset: str) -> None:
    words = base64.b64encode("סיכום ישיבה".encode("windows-1255")).decode()
    data = f"From: a@b.c\r\nMessage-ID: <1@x>\r\nSubject: Re: =?{charset}?B?{words}?=\r\n\r\nbody".encode()
    assert read(data).title == "Re: סיכום ישיבה"


def test_a_page_that_names_its_charset_itself() -> None:
    body = "<html><meta charset=iso-8859-1><p>Déjà vu à l'école".encode("latin-1")
    assert lines(read(b"Message-ID: <1@x>\r\nFrom: a@b.c\r\nContent-Type: text/html\r\n\r\n" + body))[-1] == (
        "Déjà vu à l'école"
    )


def test_visual_hebrew_is_turned() -> None:
    message = mail()
    message.set_content("placeholder")
    body = "םימי 30 ךותב םלושי םוכסה\n".encode("iso-8859-8")
    raw = message.as_bytes().replace(b"placeholder\n", body).replace(b'charset="utf-8"', b'charset="iso-8859-8"')
    document = read(raw.replace(b"Content-Transfer-Encoding: 7bit", b"Content-Transfer-Encoding: 8bit"))
    assert lines(document)[-1] == "הסכום ישולם בתוך 30 ימים"


def test_of_alternatives_one_is_read() -> None:
    message = mail(body="גרסת טקסט פשוט.")
    message.add_alternative("<p>גרסת HTML</p>", subtype="html")
    assert lines(read(message.as_bytes()))[-1] == "גרסת טקסט פשוט."
    message = mail(body="\n")
    message.add_alternative("<table><tr><th>שם<th>סכום<tr><td>א<td>5</table>", subtype="html")
    assert lines(read(message.as_bytes()))[-1] == "שם: א | סכום: 5"


def test_attachments_are_sections_with_places_of_their_own() -> None:
    table = workbook(lambda book: [book.active.append(row) for row in (["שם", "עיר", "סכום"], ["א", "לוד", 5])])
    message = mail(attachments=[("הסכם.docx", word_contract()), ("מחירון.bin", table), ("x.png", b"\x89PNG\r\n\x1a\n")])
    document = read(message.as_bytes())
    last = document.blocks[-1]
    assert last.section == ("הצעת מחיר לגינון", "מחירון.bin", "מחירים")
    place = Places(document).of(last.locator.from_, last.locator.to)
    assert place.label == "מחירון.bin, גיליון מחירים, A2:C2"
    assert fragment(place, document.media_type).startswith(
        "#attachment=%D7%9E%D7%97%D7%99%D7%A8%D7%95%D7%9F.bin&sheet="
    )
    contract = next(block for block in document.blocks if block.section[-1:] == ("הצדדים",))
    assert contract.section == ("הצעת מחיר לגינון", "הסכם.docx", "הסכם שירותי גינון", "הצדדים")
    assert Places(document).of(contract.locator.from_, contract.locator.to).label == "הסכם.docx"
    assert "Attachment 'x.png' was not read: This is a PNG image, not text." in document.report


def test_a_bad_attachment_costs_itself_alone() -> None:
    message = mail(attachments=[("cut.docx", word_contract()[:5_000]), ("note.txt", "נספח קצר".encode())])
    document = read(message.as_bytes())
    assert lines(document)[-2:] == ["note.txt", "נספח קצר"]
    assert "Attachment 'cut.docx' was not read: The Office file is cut off" in document.report[0]


def nested(depth: int) -> EmailMessage:
    message = mail("הפנימית", "גוף פנימי")
    for level in range(depth):
        outer = mail(f"עוטפת {level}", "ראו מצורף")
        outer.add_attachment(message)
        message = outer
    return message


def test_mails_in_mails_up_to_a_depth() -> None:
    document = read(nested(3).as_bytes(), attachment_depth_max=3)
    assert document.blocks[-1].section == ("עוטפת 2", "עוטפת 1", "עוטפת 0", "הפנימית")
    assert lines(document)[-1] == "גוף פנימי"
    with pytest.raises(ExpansionTooLarge, match="more than 2 deep"):
        read(nested(3).as_bytes(), attachment_depth_max=2)


def test_mails_attached_as_files_count_as_well() -> None:
    data = mail("הפנימית", "גוף פנימי").as_bytes()
    for _ in range(3):
        data = mail(attachments=[("forwarded", data)]).as_bytes()
    with pytest.raises(ExpansionTooLarge, match="deep"):
        read(data, attachment_depth_max=2)
    assert lines(read(data, attachment_depth_max=3))[-1] == "גוף פנימי"


def test_a_hundred_levels_and_a_thousand_attachments_are_refused() -> None:
    with pytest.raises((ExpansionTooLarge, ExtractionFailed)):
        read(nested(100).as_bytes())
    with pytest.raises(ExpansionTooLarge, match="more than 100 attachments"):
        read(mail(attachments=[(f"{i}.txt", b"x") for i in range(101)]).as_bytes())


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("../../etc/passwd", "passwd"),
        ("..\\..\\windows\\system32\\a.dll", "a.dll"),
        ("C:\\temp\\דוח.docx", "דוח.docx"),
        ("..", "attachment-4"),
        ("", "attachment-4"),
        (None, "attachment-4"),
        ("exe.\u202efdp", "exe.fdp"),
        ("a\r\nb\0.txt", "ab.txt"),
        ("א" * 500 + ".docx", "א" * 115 + ".docx"),
    ],
)
def test_names_of_attachments_are_made_safe(name: str | None, safe: str) -> None:
    assert safe_name(name, 4) == safe


def test_a_path_in_a_name_never_reaches_the_section() -> None:
    document = read(mail(attachments=[("../../../root/סוד.txt", "תוכן".encode())]).as_bytes())
    assert document.blocks[-1].section == ("הצעת מחיר לגינון", "סוד.txt")
