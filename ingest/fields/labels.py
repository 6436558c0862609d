"""Labels that a party stands behind, and what they make of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from search_config.document_fields import DocumentType, PartyKind


@dataclass(frozen=True, slots=True)
class Label:
    """Words at the head of a line, or of a cell.

    Attributes:
        pattern: matches from the line's beginning, or from a bar, through the colon.
        kind: what the party behind it is; None where the document's type or the name decides.
        invoice: what it is in an invoice or a quotation, where another.
        person: a person may stand there.
        person_only: only a person or a clear organisation, so that "owner: see below" is none.
        many: a list of persons.
        below: the name may stand on the next line.
    """

    pattern: re.Pattern[str]
    kind: PartyKind | None = None
    invoice: PartyKind | None = None
    person: bool = False
    person_only: bool = False
    many: bool = False
    below: bool = False

    def role(self, document: DocumentType, *, quotation: bool) -> PartyKind | None:
        """The role of a party behind the label in a document of that type."""
        trades = document is DocumentType.INVOICE or quotation
        return self.invoice if trades and self.invoice is not None else self.kind


def _head(words: str, *, colon: bool = True) -> re.Pattern[str]:
    mark = r"\s*:\s*" if colon else r"\s*:?(?:\s+|$)"
    return re.compile(rf"(?:^\s*|\|\s*)(?:[*•-]\s*)?(?:{words}){mark}", re.IGNORECASE)


_VENDOR, _CLIENT = PartyKind.VENDOR, PartyKind.CLIENT

LABELS: Final = (
    Label(
        _head(
            r"(?:שם )?ה?(?:ספק(?:ית|ים)?|קבלן|מוכר(?:ת)?|משכיר(?:ה)?|מנפיק(?:ה)?|עסק|משווק(?:ת)?|מבטח(?:ת)?"
            r"|יועץ|יועצת|נותן השירות(?:ים)?|נותנת השירות(?:ים)?)"
            r"|(?:name of )?(?:the )?(?:supplier|vendor|seller|contractor|landlord|lessor|insurer|consultant"
            r"|service provider)(?: name)?|sold by|bill(?:ed)? from|issued by"
        ),
        _VENDOR,
    ),
    Label(
        _head(
            r"(?:שם )?ה?(?:לקוח(?:ה)?|מזמין(?:ה)?|מזמינה|קונה|רוכש(?:ת)?|שוכר(?:ת)?|מבוטח(?:ת)?)"
            r"|(?:ה?מזמינ(?:ה|ת)|ה?מזמין) (?:ה?עבודה|ה?שירות)"
            r"|(?:name of )?(?:the )?(?:client|customer|buyer|purchaser|tenant|lessee|insured"
            r"|policy ?holder)(?: name)?|sold to|bill(?:ed)? to|ship to|invoice to"
        ),
        _CLIENT,
    ),
    Label(_head(r"הוכן על ידי|בוצע על ידי|נערך על ידי"), _VENDOR, person=True),
    Label(_head(r"הוכן על ידי|בוצע על ידי", colon=False), _VENDOR, person=True),
    Label(_head(r"הוכן עבור", colon=False), _CLIENT),
    Label(_head(r"התקבל(?:ה)? מ(?:את)?|received from"), _CLIENT, person=True),
    Label(_head(r"מאת|שולח(?:ת)?|from"), None, _VENDOR, person=True),
    Label(_head(r"אל|נמענ?(?:ת|ן|ים)?|עבור|to"), None, _CLIENT, person=True),
    Label(_head(r"לכבוד", colon=False), None, _CLIENT, person=True, below=True),
    Label(re.compile(r"^(?:Issued .{0,40} by|From) (?=[A-Z])"), None, _VENDOR),
    Label(re.compile(r"^(?:Sold|Supplied|Delivered) by (?=[A-Z])"), _VENDOR),
    Label(re.compile(r"^Sold to (?=[A-Z])"), _CLIENT),
    Label(re.compile(r"^To (?=[A-Z])"), None, _CLIENT),
    Label(_head(r"prepared for|submitted to|הוגש ל|מוגש ל"), _CLIENT),
    Label(re.compile(r"\bfor (?=[A-Z][\w&]+(?: [A-Z][\w&]*)* (?:SA|Ltd|Inc|GmbH|Limited|LLC)\b)"), _CLIENT),
    Label(
        _head(
            r"ה?(?:מפקח(?:ת)?|שמאי(?:ת)?|מבקר(?:ת)?|כותב(?:ת)?|עורכ?(?:ת|ך)|מחבר(?:ת)?|מאשר(?:ת)?|יו\"ר"
            r"|מזכיר(?:ה)?|רושמ?(?:ת|ם)|אחראי(?:ת)?)(?: ה?(?:דוח|דו\"ח|ביקורת|פרוטוקול|ישיבה|נוהל|חוות הדעת))?"
            r"|ה?(?:תובע(?:ת)?|נתבע(?:ת)?|מבקש(?:ת)?|משיב(?:ה)?|מערער(?:ת)?)|הכינה?|ערכה?|לפני|בפני|לבעל העסק"
            r"|בעל(?:ת)? ה(?:עסק|רישיון|היתר)"
            r"|prepared by|written by|surveyor|inspector|chair(?:man|woman|person)?|secretary|owner"
            r"|approved by|reviewed by|plaintiff|defendant|claimant|before"
        ),
        person=True,
        person_only=True,
    ),
    Label(re.compile(r"^\s*(?:prepared|written|submitted) by (?=[A-Z])", re.IGNORECASE), person=True, person_only=True),
    Label(re.compile(r"\bapproved on .{0,40} by (?=[A-Z])", re.IGNORECASE), person=True, person_only=True),
    Label(
        _head(
            r"נוכחים|נוכחות|נכחו|נוכחו|משתתפים|משתתפות|השתתפו|חברי ה?וועדה|חברי הוועדה|חברי ה?צוות|present"
            r"|attendees|participants|in attendance|members present|authors?"
        ),
        many=True,
        below=True,
    ),
)
