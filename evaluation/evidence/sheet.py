"""The sheet as one HTML file that reads right to left and needs nothing from outside. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final, get_args

from evaluation.evidence.decisions import Attachment, Decision, Support
from evaluation.evidence.file import CaseFile
from evaluation.evidence.limits import LIMITS
from evaluation.evidence.rows import Row
from evaluation.evidence.words import FIELD, WORDS

STYLE: Final = (
    "body{font-family:system-ui,sans-serif;margin:2rem;line-height:1.5;color:#1a1a1a;background:#fff}"
    "section{margin-block:2rem}table{border-collapse:collapse;width:100%}"
    "th,td{border:1px solid #767676;padding:.4rem .6rem;vertical-align:top;text-align:start}"
    "th{background:#eef1f4}blockquote{margin:.3rem 0;padding-inline-start:.6rem;border-inline-start:3px solid #767676;"
    "white-space:pre-wrap}.limits{border:2px solid #8a4b00;padding:.5rem 1rem}.proposal{color:#555;font-style:italic}"
    "[dir=ltr]{text-align:left}mark{background:#ffe58a}"
)
PARTS: Final = ("observation", "hypothesis", "next_check")
HEAD: Final = ("#", "הטענה", "מקור ומקום", "הקביעות", "אבחנה", "הצעה (אינה קביעה)")
VERDICTS: Final = (*get_args(Attachment), *get_args(Support))
HE: Final = {code: word.name for code, word in WORDS["he"].items()}


def sheet_html(files: Sequence[CaseFile]) -> bytes:
    """The whole sheet; the limits stand first."""
    body = "".join(_case(file) for file in files)
    html = (
        '<!DOCTYPE html>\n<html lang="he" dir="rtl"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>גיליון ראיות</title>'
        f"<style>{STYLE}</style></head><body><h1>גיליון ראיות</h1>{_limits()}{_definitions()}{body}</body></html>\n"
    )
    return html.encode("utf-8", errors="backslashreplace")


def _limits() -> str:
    blocks = []
    for language, (title, lines) in LIMITS.items():
        direction = "rtl" if language == "he" else "ltr"
        items = "".join(f"<li>{escape(line)}</li>" for line in lines)
        blocks.append(f'<div lang="{language}" dir="{direction}"><h2>{escape(title)}</h2><ul>{items}</ul></div>')
    return f'<section class="limits">{"".join(blocks)}</section>'


def _definitions() -> str:
    items = "".join(
        f"<dt>{escape(HE[code])} <bdi>({code})</bdi></dt><dd>{escape(WORDS['he'][code].meaning)}</dd>"
        f"<dd dir=ltr lang=en>{escape(WORDS['en'][code].meaning)}</dd>"
        for code in VERDICTS
    )
    return f"<section><h2>הקביעות</h2><dl>{items}</dl></section>"


def _case(file: CaseFile) -> str:
    case, counts = file.case, file.counts()
    title = f"<h2>{_text(case.query)}</h2><p><code dir=ltr>{case.case_id}</code></p>"
    answer = f"<h3>התשובה</h3><blockquote>{_text(case.answer)}</blockquote><p>{_text(case.label)}</p>"
    if case.honest_miss:
        told = f"<p>סירוב כן (honest miss): {_text(case.reason or '')}</p>"
        return f"<section>{title}{answer}{told}{_passages(file)}</section>"
    gaps = "".join(f"<li>{_text(gap)}</li>" for gap in case.not_in_sources)
    left_open = f"<h3>חלקים שאינם במקורות</h3><ul>{gaps}</ul>" if gaps else ""
    numbers = "".join(f"<li>{escape(HE[verdict])}: {number}</li>" for verdict, number in counts.by_verdict.items())
    disagreed = "".join(
        f"<li>{_text(_claim(file, one.claim_id))}: "
        + escape("; ".join(f"{who}: {HE[what]}" for who, what in one.support.items()))
        + "</li>"
        for one in file.disagreements
    )
    # Disagreement stands before any figure.
    before = f"<h3>מחלוקות בין בודקים</h3><ul>{disagreed}</ul>" if disagreed else ""
    tally = (
        f"<h3>ספירה לפי קביעה</h3><ul>{numbers}<li>טרם הוכרעו: {counts.undecided}</li>"
        f"<li>במחלוקת: {counts.disagreed}</li></ul>"
    )
    if not file.sets:
        return f"<section>{title}{answer}<p>התשובה טרם פוצלה לטענות.</p>{_passages(file)}</section>"
    head = "".join(f"<th scope=col>{escape(name)}</th>" for name in HEAD)
    rows = "".join(_row(row) for row in file.rows)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f"<section>{title}{answer}{left_open}{before}{tally}{table}{_notes(file)}{_passages(file)}</section>"


def _claim(file: CaseFile, claim_id: str) -> str:
    return file.claims.claim(claim_id).text


def _row(row: Row) -> str:
    sources = "".join(
        f"<p>[{one.index}] {_text(one.document_name or '')} · גרסה {one.version or '—'} · דירוג {one.rank or '—'}"
        f" · <code dir=ltr>{escape(one.passage_id or '')}</code></p>"
        + (f"<p>{escape(one.problem)}</p>" if one.problem else "")
        + f"<blockquote>{_marked(one.passage_text or '', one.quote or '')}</blockquote>"
        for one in row.sources
    )
    decisions = "".join(_decision(decision) for decision in row.decisions) or "<p>טרם הוכרע</p>"
    causes = "".join(
        f"<p>{HE[f'{FIELD}cause']}: {HE[one.cause]} (<bdi>{one.cause}, {one.standing}</bdi>)<br>"
        + "<br>".join(f"{HE[FIELD + part]}: {_text(getattr(one, part))}" for part in PARTS)
        + "</p>"
        for one in [*row.diagnoses, *(d.verdict.diagnosis for d in row.decisions if d.verdict.diagnosis)]
    )
    checks = "".join(f"<li>{escape(f'{c.check}: {c.outcome} {c.detail}')}</li>" for c in row.proposal.checks)
    proposal = f"<p>{escape(HE[row.proposal.support])}</p><ul dir=ltr>{checks}</ul>{_by_model(row)}"
    return (
        f"<tr><td>{row.ordinal}</td><td>{_text(row.claim_text)}</td><td>{sources or '—'}</td><td>{decisions}</td>"
        f"<td>{causes}</td><td class=proposal>{proposal}</td></tr>"
    )


def _by_model(row: Row) -> str:
    found = row.by_model
    if found is None:
        return ""
    said = HE[found.support] if found.support else f"<bdi>{escape(found.problem or '')}</bdi>"
    told = "".join(f"<br>{_text(part)}" for part in (found.why, found.missing) if part)
    kept = f"<br>נשמרה ב-{found.kept} מתוך {found.resamples} תשובות חוזרות" if found.kept is not None else ""
    return f"<p>מודל {_text(found.model)}: {said}{told}{kept}</p>"


def _decision(decision: Decision) -> str:
    verdict = decision.verdict
    missing = f"<p>חסר: {_text(verdict.missing)}</p>" if verdict.missing else ""
    note = f"<p>הערה: {_text(verdict.note)}</p>" if verdict.note else ""
    return (
        f"<p>{_text(decision.reviewer)} · <time dir=ltr>{decision.at.isoformat()}</time></p>"
        f"<p>צירוף: {HE[verdict.attachment]}. {_text(verdict.attachment_reason)}</p>"
        f"<p>תמיכה: {HE[verdict.support]}. {_text(verdict.support_reason)}</p>{missing}{note}"
    )


def _notes(file: CaseFile) -> str:
    items = "".join(f"<li>{_text(note.author)}: {_text(note.text)}</li>" for note in file.notes)
    return f"<h3>הערות</h3><ul>{items}</ul>" if items else ""


def _passages(file: CaseFile) -> str:
    items = "".join(
        f"<li{f' value={one.rank}' if one.rank else ''}>{_text(one.document_name)} · {_text(one.section)}"
        f"{'' if one.rank else ' · צוטט ולא דורג בחיפוש'}"
        f"<blockquote>{_text(one.before or '')}<strong>{_text(one.text)}</strong>{_text(one.after or '')}</blockquote>"
        "</li>"
        for one in file.case.passages
    )
    return f"<details><summary>הקטעים שנשלפו, לפי סדרם</summary><ol>{items}</ol></details>"


def _marked(passage: str, quote: str) -> str:
    """The passage with the quoted words marked."""
    if not quote or quote not in passage:
        return _text(passage)
    before, _, after = passage.partition(quote)
    return f"{_text(before)}<mark>{_text(quote)}</mark>{_text(after)}"


def _text(value: str) -> str:
    """Text of either direction, isolated from what stands around it."""
    return f"<bdi>{escape(value)}</bdi>" if value else ""
