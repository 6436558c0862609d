"""Which date is which: signed, effective, expires; by the words beside each. Pure.

`signed` is the day on which the document was made: a contract's signing, a letter's own date line, an invoice's date,
the day of a meeting, the publication of a procedure. Terms such as "for 12 months" are not computed: whether the last
day counts is for people to say, and `expires` is not found.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import Final

from ingest.fields.dates import DateFound
from ingest.fields.text import clause_before, line_after, line_before, place
from search_config.document_fields import DocumentType, FieldReading, FieldStatus, QuarantineIssue, Trouble

Reading = FieldReading[date]

# Weights of what says "made on": of two dates the better said wins, of equals the first.
STRONG, LABEL, ALONE = 3, 2, 1
# Contracts and rules name their term anywhere; in other documents a term behind the first pages is of something else.
TERM_CHARS: Final = 3_000
_LONG_TERMS: Final = frozenset({DocumentType.CONTRACT, DocumentType.PROCEDURE})
# A date line that stands alone is a letter's own within this many characters of the beginning, or of the end.
ALONE_CHARS: Final = 600
# A title may end with its date: "Minutes no. 3/2024, Ramat Egoz, 2024-03-19".
HEADLINE_CHARS: Final = 160

_I: Final = re.IGNORECASE
# The cue must end where the date begins, but for small words and marks.
_GAP: Final = (
    r"[\s:.\-|()\"',]*(?:(?:ב?יום|ב?תאריך|ליום|מיום|לתאריך|הוא|היא|ה|ב|ל|on|the|of|is|from|as of|day|this|"
    r"(?:[אבגדהו]'|ראשון|שני|שלישי|רביעי|חמישי|שישי),?|(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?)"
    r"[\s:.\-|()\"',]+){0,4}[-]?$"
)
_SIGNED: Final = re.compile(
    r"(?:נערכ?ה? ו?נחתמ?ה?|נחתם|נחתמה|נערך|נערכה|נעשה|נעשתה|נכרת|(?:תאריך|מועד|יום) ה?חתימה|הוסכם"
    r"|(?:is |was )?(?:hereby )?(?:made|signed|executed|entered into|concluded)(?: (?:and|at|in) (?:\w+ ){0,3}?\w+)?"
    r"|date of (?:this )?(?:agreement|contract|signature|signing)|signature date|dated)"
    + r"(?:,? ב[א-ת\"'-]{2,}(?: [א-ת\"'-]{2,}){0,2})?"
    + _GAP,
    _I,
)
_LABEL: Final = re.compile(
    r"(?:תאריך(?: (?:ה?(?:דוח|דו\"ח|חשבונית|חשבון|הזמנה|הפקה|הנפקה|פרסום|אישור|מכתב|מסמך|ישיבה|הישיבה|הביקור"
    r"|עדכון|קנייה"
    r"|רכישה|הוצאה|עריכה|כתיבה|קבלה)|חוות ה?דעת))?|התאריך|נשלח|הופק|הופקה|הונפק|פורסם|פורסמה|הוגש"
    r"|מוגש(?: ל[א-ת]+)?|אושר|אושרה"
    r"|עודכן|עודכנה|מעודכן|ניתן|ניתנה|מועד(?: (?:הביקור|הישיבה|הפגישה))?|ש?התקיי(?:ם|מה|מו)|ש?נערכה? ישיבה"
    r"|התכנס|התכנסה|מיום|לתאריך"
    r"|(?:מהדורה|גרסה|גירסה) [\d.]+|בישיבה"
    r"|(?:ניתנ?ה?|ניתן|אושרה?|פורסמה?|פורסם|הוצאה?|הונפקה?|הוכנה?|הוכן) (?:על ידי|בידי|ע\"י) [^\n.;:]{2,50}?"
    r"|date(?: of (?:the )?(?:report|issue|invoice|purchase|meeting|publication|letter|approval))?"
    r"|(?:invoice|issue|reporting|meeting|revision|publication|report|letter) date|issued|published"
    r"|approved(?: by [\w ]{1,40})?"
    r"|adopted|updated|revised|surveyed|prepared|held(?: (?:at|in) [\w ]{1,40}?)?|sent|dated)" + _GAP,
    _I,
)
_EFFECTIVE: Final = re.compile(
    r"(?:(?:י?[יתנ]?כנס(?:ת|ו|ה)?|כניסתו|כניסה|כניסת \S+) לתוקפ?[וה]?|תחילת (?:ה?תוקף|ה?תחולה|ההתקשרות|ההסכם"
    r"|תוקף \S+)|תחילה|תחולה|תחולת \S+"
    r"|תחילתו|תחילתה|תאריך (?:תחולה|תחילה|כניסה לתוקף)"
    r"|(?:ב?תוקף|תקף|תקפה|תקפים|ב?תוקפו|ב?תוקפה|תחולתו|תחולתה|י?[ית]חול|יחולו)(?: החל)?(?: מיום| מתאריך| מ"
    r"| ביום)?|החל(?: מיום| מתאריך| מ| ביום)?|תתחיל(?: לעבוד)?|יתחיל(?: לעבוד)?"
    r"|effective(?: date)?|tak(?:e|es|ing) effect|(?:in|into) (?:force|effect)|commenc(?:es|ing|ement(?: date)?|e)"
    r"|valid|starts?|start date|begins|beginning)" + _GAP,
    _I,
)
_FROM: Final = re.compile(r"(?<![א-תA-Za-z])(?:מיום|החל|מ|מתאריך|from|commencing|beginning)" + _GAP, _I)
_RANGE: Final = re.compile(
    r"[ ,]*(?:ו?עד(?: ל?יום| ל?תאריך)?(?: ה-)?|ל-?|-|until|till|to|through|up to(?: and including)?)[ ]*", _I
)
_OPENING: Final = re.compile(r"^\W*(?:ביום|היום|on)\s*$", _I)
_SIGNING_AFTER: Final = re.compile(
    r"^[\s,]*(?:נחתמ?ה?|נחתם|נערכ?ה?|נערך|הוסכם|נכרת|נעשה|התכנס|התכנסה|התקיים|התקיימה|was (?:signed|made"
    r"|concluded)|it (?:is|was) agreed|the parties)(?![א-תa-z])",
    _I,
)
_NUMBERED_HEAD: Final = re.compile(r"^\W*(?:no\.?|number|מס'|מספר)\s*\S*\d\S*\s+(?:of|from|מיום|dated)\s*$", _I)
_UNTIL_WORD: Final = re.compile(r"(?<![א-תA-Za-z])(?:ו?עד|until|till|through|up to)" + _GAP, _I)
_BY_WORD: Final = re.compile(r"(?<![א-תA-Za-z])(?:by|before|לפני)" + _GAP, _I)
_EXPIRES: Final = re.compile(
    r"(?:פג|פגה|יפוג|תפוג|יפקע|תפקע|פקיעה|פקיעת \S+|תפוגה|(?:מועד|תאריך|תום|סיום|סוף) (?:ה?תוקף|ה?תפוגה"
    r"|ה?פקיעה|ה?סיום|ה?תקופה|ההסכם|ההתקשרות)"
    r"|(?:הסכם|החוזה|ההתקשרות|התקופה|עבודת[ךו]|העסקת[ךו]|הרישיון|ההיתר|הנוהל) (?:זה )?(?:י|ת)סתיי[םמ]"
    r"|(?:י|ת)בוא(?: לידי)? סיום|expires?|expiry(?: date)?|expiration(?: date)?|ends?|end date|terminates"
    r"|lapses|valid (?:un)?till?"
    r")(?: תוקפו| תוקפה| תוקף)?(?: ביום| on)?" + _GAP,
    _I,
)
_ENDS: Final = re.compile(r"ו?[ית]סתיי(?:ם|מה|מו)" + _GAP)
_TERM_SUBJECT: Final = re.compile(r"הסכם|חוזה|התקשרות|תקופ|תוקפ|השכירות|ההעסקה|העבודה שלך")
_WORKS: Final = re.compile(r"(?:העבודות|הפרויקט|הביצוע|הבנייה)(?![א-ת])")
_VALIDITY: Final = re.compile(
    r"תוקף|תוקפ|תקף|תקפ|תקופ|בתוקפ|יחול|החל|יפקע|יסתיים ההסכם|valid|in force|in effect|term\b|period"
    r"|effective|continu|remain|tenancy",
    _I,
)
_EXPIRING_NOUN: Final = re.compile(
    r"תוקף\s+(?:ה?(?:רי?שיון|היתר|הצעה|תעודה|ביטוח|ערבות|אישור|כרטיס|אחריות|פוליסה))\s*:?" + _GAP
)
_TERM_NOUN: Final = re.compile(r"(?:ב?תוקף(?: ה[א-ת]+)?|תחולה|תחילה)\s*:\s*$")
# Dates of other things: papers that are referred to, payments, deadlines, next meetings.
_ELSEWHERE: Final = re.compile(
    r"(?:מכתב(?:ך|כם|ו|ה|נו)|פניית(?:ך|כם)|הצעת (?:הספק|הקבלן|המציע|\S+)|פרסם|נקבע|הבאה?|לידה|לתשלום|אחרון"
    r"|פירעון|הקודמת?|בתגובה"
    r"|your (?:letter|e-?mail)|our (?:letter|e-?mail)|letter|due(?: date)?|payable|next meeting|meeting of"
    r"|minutes of the meeting of|born|deadline|no later than|completion date|המועד הקובע)"
    r"(?: מיום| ביום| מתאריך)?" + _GAP,
    _I,
)
_OTHER_PAPER: Final = re.compile(
    r"(?:ה?הסכם|ה?חוזה|ה?מכרז|ה?נוהל|ה?הזמנה|ה?חשבונית|ה?מכתב|ה?פנייה|ה?פרוטוקול|ה?דו\"?ח|ה?החלטה|ה?צו|ה?היתר|ה?רישיון"
    r"|agreement|contract|order|proposals?|drawing|invoice|letter|report|permit|minutes|policy|procedure)\s+"
    r"(?:(?:מס'|מספר|no\.?|number)\s*)?\S*\d\S*,?\s+(?:[א-תa-z]+\s+){0,2}$",
    _I,
)
_SUBJECT: Final = re.compile(r"^\W*(?:הנדון|נושא|re|subject)\s*:", _I)
_PAPER: Final = re.compile(r"(?:הסכם|חוזה|מכתב|lease|agreement|contract|letter|invoice)\s+(?:[א-תa-z]+\s+){0,3}$", _I)
_ON_ITS_OWN: Final = re.compile(r"^[\W\d]*(?:[א-ת'\"-]+,\s*|[A-Za-z]+,\s*)?(?:ב?יום )?(?:[אבגדהו]',?\s*)?$")
_NOTHING_AFTER: Final = re.compile(r"^[\s.,()]*(?:\d{1,2}:\d{2}[\s.]*)?$|^\s*\(")
_QUOTED: Final = re.compile(r"^\s*>")

_UNLIMITED: Final = re.compile(
    r"ללא (?:כל )?הגבל(?:ת|ה ב)\s?זמן|(?:ל?תקופה|לזמן) (?:בלתי|לא) (?:קצובה|קצוב|מוגבלת|מוגבל)|(?:אינ[והן]"
    r"|לא) מוגבל(?:ת|ים)? בזמן"
    r"|ללא (?:מועד|תאריך) (?:סיום|תפוגה|פקיעה)|אין (?:מועד|תאריך) (?:סיום|תפוגה|פקיעה)|ללא תפוגה|בתוקף לצמיתות"
    r"|(?<=פקיעה: )אין|(?<=תפוגה: )אין|(?<=סיום: )אין"
    r"|\bindefinitely\b|\bfor an indefinite (?:period|term)\b|\bindefinite term\b|\bno (?:expiry|expiration"
    r"|end)(?: date)?\b"
    r"|\b(?:does|shall|will) not expire\b|\bin perpetuity\b|\bperpetual(?:ly)?\b"
    r"|\bwithout (?:limit(?:ation)? (?:of|in) time|time limit)\b"
    r"|(?<=expiry: )none\b|(?<=expires: )never\b",
    _I,
)
_UNSIGNED: Final = re.compile(r"טרם נחתמ?ה?(?![א-ת])|\bnot yet signed\b|\bunsigned draft\b", _I)


@dataclass(frozen=True, slots=True)
class Dating:
    """The three dates of a document, and what can't be taken."""

    signed: Reading
    effective: Reading
    expires: Reading
    issues: tuple[QuarantineIssue, ...]


@dataclass(frozen=True, slots=True)
class _Candidate:
    found: DateFound
    weight: int


def read_dating(text: str, folded: str, dates: list[DateFound], kind: DocumentType) -> Dating:
    """Signed, effective and expiry dates.

    Args:
        text: canonical.
        folded: the same, folded.
        dates: of `find_dates(folded)`.
        kind: the document's type: a contract's signing is said in words, a letter's date stands on a line.
    """
    roles: dict[str, list[_Candidate]] = {"signed": [], "effective": [], "expires": []}
    for number, found in enumerate(dates):
        before = dates[number - 1] if number else None
        said = _role(folded, found, before, kind)
        if said is not None and not (said[0] != "signed" and kind not in _LONG_TERMS and found.start > TERM_CHARS):
            roles[said[0]].append(_Candidate(found, said[1]))
    issues: list[QuarantineIssue] = []
    signed = _chosen(text, "signed", _by_kind(roles["signed"], kind), issues)
    effective = _chosen(text, "effective", roles["effective"], issues)
    expires = _chosen(text, "expires", roles["expires"], issues)
    _agree_in_brackets(
        text, folded, dates, (("signed", signed), ("effective", effective), ("expires", expires)), issues
    )
    if expires.value and effective.value and expires.value < effective.value and expires.place:
        issues.append(
            QuarantineIssue(
                field="expires",
                trouble=Trouble.EXPIRES_BEFORE_EFFECTIVE,
                what="It would end before it begins.",
                as_read=expires.place.as_read,
                place=expires.place,
            )
        )
        expires = FieldReading()
    troubled = {issue.field for issue in issues}
    if expires.status is FieldStatus.NOT_FOUND and "expires" not in troubled:
        expires = _stated_none(text, folded, _UNLIMITED)
    if signed.status is FieldStatus.NOT_FOUND and "signed" not in troubled:
        signed = _stated_none(text, folded, _UNSIGNED)
    return Dating(signed, effective, expires, tuple(issues))


def _role(folded: str, found: DateFound, before: DateFound | None, kind: DocumentType) -> tuple[str, int] | None:
    """What a date is, with its weight; None where nothing says it, or it belongs to something else."""
    floor = before.end if before is not None else 0
    left = clause_before(folded, found.start, floor=floor)
    line = line_before(folded, found.start)
    if _QUOTED.match(line) or _ELSEWHERE.search(left):
        return None
    ranged = before is not None and _RANGE.fullmatch(folded[before.end : found.start]) is not None
    if ranged and before is not None:
        return ("expires", STRONG) if _is_term(folded, before, kind) else None
    if (term := _term_role(folded, found, left, kind)) is not None:
        return term
    if _UNTIL_WORD.search(left) or _BY_WORD.search(left):
        return None
    return _signed_role(folded, found, left, line, kind)


def _term_role(folded: str, found: DateFound, left: str, kind: DocumentType) -> tuple[str, int] | None:
    """Effective or expires, by the words before it."""
    whole = clause_before(folded, found.start)
    if (
        _EXPIRING_NOUN.search(left)
        or _EXPIRES.search(left)
        or _ends_term(left, whole)
        or (_UNTIL_WORD.search(left) and _VALIDITY.search(whole))
    ):
        return "expires", STRONG
    if not _UNTIL_WORD.search(left) and (_EFFECTIVE.search(left) or _TERM_NOUN.search(left)):
        return "effective", STRONG
    if (
        _FROM.search(left)
        and (_VALIDITY.search(whole) or _range_follows(folded, found))
        and _is_term(folded, found, kind)
    ):
        return "effective", LABEL
    return None


def _signed_role(folded: str, found: DateFound, left: str, line: str, kind: DocumentType) -> tuple[str, int] | None:
    """Signed: by words of signing, by a date's label, or by standing alone."""
    own = _SIGNED.search(left)
    if own:
        return (
            None
            if _of_another_paper(left, own.start()) or _of_a_paper(line, left, own.start(), kind)
            else ("signed", STRONG)
        )
    if _SIGNING_AFTER.match(folded[found.end : found.end + 30]) and _OPENING.match(line):
        return "signed", STRONG
    label = _LABEL.search(left)
    if label:
        return None if _of_another_paper(left, label.start()) else ("signed", LABEL)
    return ("signed", ALONE) if _stands_alone(folded, found, line, kind) else None


def _stands_alone(folded: str, found: DateFound, line: str, kind: DocumentType) -> bool:
    """Whether a date opens a contract, ends a title, or has a line to itself at the head or the end."""
    opens = (_OPENING.match(line) and kind is DocumentType.CONTRACT) or _NUMBERED_HEAD.match(line)
    if opens and found.start < ALONE_CHARS:
        return True
    if line.rstrip().endswith(",") and found.start < HEADLINE_CHARS and not line_after(folded, found.end).strip(" ."):
        return True
    alone = _ON_ITS_OWN.match(line) and _NOTHING_AFTER.match(line_after(folded, found.end))
    near = found.start < ALONE_CHARS or len(folded) - found.end < ALONE_CHARS
    return bool(alone) and near


def _ends_term(left: str, whole: str) -> bool:
    """`ההסכם ... ויסתיים ביום`: what ends is the agreement or its term, not the works."""
    ends = _ENDS.search(left)
    return ends is not None and _TERM_SUBJECT.search(whole) is not None and _WORKS.search(left[: ends.start()]) is None


def _of_another_paper(left: str, cue: int) -> bool:
    """`לפי הסכם 77/21 שנחתם ביום`: the paper is named within a sentence; at a line's head it is the document itself."""
    paper = _OTHER_PAPER.search(left[:cue].rstrip("ש") + " ")
    return paper is not None and bool(left[: paper.start()].strip(" \t-*•"))


def _of_a_paper(line: str, left: str, cue: int, kind: DocumentType) -> bool:
    """In a letter or a report, what was signed is the agreement that it speaks of."""
    return kind is not DocumentType.CONTRACT and (
        _SUBJECT.match(line) is not None or _PAPER.search(left[:cue].rstrip("ש")) is not None
    )


def _is_term(folded: str, first: DateFound, kind: DocumentType) -> bool:
    """Whether a range is the document's own term, not a billing period or days of measuring."""
    left = clause_before(folded, first.start)
    if kind in (DocumentType.INVOICE, DocumentType.REPORT):
        return re.search(r"תוקף|בתוקף|valid", left, _I) is not None
    return kind is DocumentType.CONTRACT or _VALIDITY.search(left) is not None


def _range_follows(folded: str, found: DateFound) -> bool:
    return re.match(r"[\s,]*(?:ו?עד|until|to|till|through|-)\b", folded[found.end : found.end + 20], _I) is not None


def _by_kind(candidates: list[_Candidate], kind: DocumentType) -> list[_Candidate]:
    """In a contract words of signing win; elsewhere the document's own date line comes before them."""
    if kind is DocumentType.CONTRACT:
        return candidates
    flat = [_Candidate(one.found, LABEL if one.weight == STRONG else one.weight) for one in candidates]
    first = flat[0] if flat else None
    # A date on its own line at the head stands before everything else that is said below.
    if first is not None and first.weight == ALONE:
        return [_Candidate(first.found, STRONG), *flat[1:]]
    return flat


def _chosen(text: str, field: str, candidates: list[_Candidate], issues: list[QuarantineIssue]) -> Reading:
    if not candidates:
        return FieldReading()
    best = max(one.weight for one in candidates)
    first = next(one for one in candidates if one.weight == best).found
    where = place(text, first.start, first.end)
    if first.value is None:
        trouble = first.trouble or Trouble.IMPOSSIBLE_DATE
        what = {
            Trouble.IMPOSSIBLE_DATE: "There is no such day.",
            Trouble.AMBIGUOUS_DATE: "This can be read as more than one day.",
        }[trouble]
        issues.append(QuarantineIssue(field=field, trouble=trouble, what=what, as_read=where.as_read, place=where))
        return FieldReading()
    return FieldReading(status=FieldStatus.VALUE, value=first.value, place=where)


def _agree_in_brackets(
    text: str,
    folded: str,
    dates: list[DateFound],
    readings: tuple[tuple[str, Reading], ...],
    issues: list[QuarantineIssue],
) -> None:
    """`ט"ו בשבט תשפ"ד (25.1.2024)`: one day written in both calendars must be one day."""
    for name, reading in readings:
        at = next((i for i, one in enumerate(dates) if reading.place and one.start == reading.place.from_), None)
        if at is None or at + 1 >= len(dates):
            continue
        one, other = dates[at], dates[at + 1]
        between = folded[one.end : other.start].strip(" ,")
        if one.jewish != other.jewish and between in ("(", "-", "=", "/", "") and one.value != other.value:
            where = place(text, one.start, other.end)
            issues.append(
                QuarantineIssue(
                    field=name,
                    trouble=Trouble.CONTRADICTING_DATES,
                    what="The two calendars name different days.",
                    as_read=where.as_read,
                    place=where,
                )
            )


def _stated_none(text: str, folded: str, pattern: re.Pattern[str]) -> Reading:
    found = pattern.search(folded)
    if found is None:
        return FieldReading()
    return FieldReading(status=FieldStatus.STATED_NONE, place=place(text, found.start(), found.end()))
