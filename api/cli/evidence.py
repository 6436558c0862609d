"""`mafteach evidence …`: freeze answers, read sheets, export and verify packs, replay."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli import evidence_review
from api.cli.context import opened
from api.cli.evidence_targets import OptionalTenant, Targets, loaded
from api.cli.failures import Exit
from api.cli.output import JsonFlag, TenantOption, clean, print_json, print_line, print_pairs, print_table, say
from search_config.errors import InvalidRequest

if TYPE_CHECKING:
    from api.cli.context import Runtime
    from evaluation.evidence.cases import ExpectedEvidence
    from evaluation.evidence.file import CaseFile
    from evaluation.evidence.rows import Row
    from query.answer_result import AnswerResult

group = typer.Typer(
    help="Evidence sheets: whether the sources say what an answer says.",
    epilog="Example: mafteach evidence export examples/evidence --out pack.zip && mafteach evidence verify pack.zip",
    no_args_is_help=False,
)


def register(app: typer.Typer) -> None:
    """Add the group."""
    evidence_review.register(group)
    app.add_typer(group, name="evidence")


@group.command(epilog="Example: mafteach evidence freeze 'כמה כרטיסי מבקר מגיעים לתושב?' --tenant demo --owner dana")
def freeze(
    tenant: TenantOption,
    owner: Annotated[str, typer.Option("--owner", metavar="NAME", help="Who answers for the case.")],
    question: Annotated[
        str | None, typer.Argument(metavar="QUESTION", help="Ask this now, and freeze the answer.")
    ] = None,
    answer_file: Annotated[
        Path | None,
        typer.Option("--answer", metavar="FILE", help="Freeze an answer, as `mafteach ask --json` printed it."),
    ] = None,
    log: Annotated[
        Path | None,
        typer.Option("--from-log", metavar="FILE", help="Freeze every answer of a log: one such JSON object a line."),
    ] = None,
    expected: Annotated[
        Path | None,
        typer.Option(
            "--expected",
            metavar="FILE",
            help="JSON with `passages` that are needed and points that are `unanswerable`.",
        ),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Freeze an answer or a refusal with everything that it was made from."""
    from api.version import version
    from evaluation.evidence.base import now
    from evaluation.evidence.freeze import freeze as frozen
    from evaluation.evidence.freeze import generation_identity
    from evaluation.evidence.store import EvidenceStore

    given = [one for one in (question, answer_file, log) if one is not None]
    if len(given) != 1:
        raise InvalidRequest("Give one of QUESTION, --answer and --from-log.", remedy="See --help.")
    wanted = _expected(expected)
    read = [] if question is not None else _answers(answer_file, log)
    with opened() as runtime:
        owned = runtime.known_tenant(tenant)
        answers = read if question is None else [_asked(runtime, owned, question)]
        store = EvidenceStore(runtime.engine, runtime.names)
        made = []
        for answer in answers:
            case = frozen(
                answer,
                tenant=owned,
                owner=owner,
                registry=runtime.registry,
                engine=runtime.engine,
                info=runtime.info,
                generation=generation_identity(answer, app_version=version()),
                answered_at=now(),
                expected=wanted,
            )
            made.append((store.add_case(case), case.outcome, case.query))
    if as_json:
        print_json([{"case": one, "outcome": outcome, "query": query} for one, outcome, query in made])
    else:
        print_table(("case", "outcome", "query"), made)


@group.command("list", epilog="Example: mafteach evidence list --tenant demo")
def list_cases(tenant: TenantOption, as_json: JsonFlag = False) -> None:
    """List a tenant's cases with counts by verdict."""
    from evaluation.evidence.store import EvidenceStore

    with opened() as runtime:
        store = EvidenceStore(runtime.engine, runtime.names)
        owned = runtime.known_tenant(tenant)
        found = list(store.files(owned))
    if as_json:
        print_json([_summary(file) for file in found])
        return
    print_table(
        ("case", "outcome", "claims", "undecided", "disagreed", "query"),
        [
            (
                file.case.case_id[:12],
                file.case.outcome,
                file.counts().claims,
                file.counts().undecided,
                file.counts().disagreed,
                file.case.query,
            )
            for file in found
        ],
    )


@group.command(epilog="Example: mafteach evidence show examples/evidence/04-elevator-rescue")
def show(targets: Targets, tenant: OptionalTenant = None, as_json: JsonFlag = False) -> None:
    """Show the sheets of cases: limits first, then disagreements, then claims beside their passages."""
    from evaluation.evidence.limits import limits_text

    files = loaded(targets, tenant)
    if as_json:
        print_json(
            [
                {
                    **_summary(file),
                    "disagreements": [one.model_dump(mode="json") for one in file.disagreements],
                    "rows": [row.model_dump(mode="json", by_alias=True) for row in (file.rows if file.sets else ())],
                }
                for file in files
            ]
        )
        return
    print_line(limits_text())
    for file in files:
        _print_sheet(file)


@group.command(epilog="Example: mafteach evidence export examples/evidence --out pack.zip --xlsx sheet.xlsx")
def export(
    targets: Targets,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="PACK.zip", help="The audit pack to write.")],
    tenant: OptionalTenant = None,
    csv_file: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write the sheet as CSV too.")] = None,
    xlsx_file: Annotated[
        Path | None, typer.Option("--xlsx", metavar="FILE", help="Write the sheet as a workbook too.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Write an audit pack: cases, claims, rows, decisions, passages, schema, sheet and a manifest with hashes."""
    from evaluation.evidence.canonical import sha256
    from evaluation.evidence.export import to_csv, to_xlsx
    from evaluation.evidence.pack import build_pack

    files = loaded(targets, tenant)
    pack = build_pack(files)
    write_bytes(out, pack)
    if csv_file is not None:
        write_bytes(csv_file, to_csv(files))
    if xlsx_file is not None:
        write_bytes(xlsx_file, to_xlsx(files))
    written = {"pack": str(out), "cases": len(files), "bytes": len(pack), "sha256": sha256(pack)}
    if as_json:
        print_json(written)
    else:
        print_pairs(written.items())


@group.command(epilog="Example: mafteach evidence verify pack.zip")
def verify(
    pack: Annotated[Path, typer.Argument(metavar="PACK.zip", help="An audit pack.")], as_json: JsonFlag = False
) -> None:
    """Verify an audit pack, and name the first part that does not hold. Needs no engine."""
    from evaluation.evidence.verify import verify_file

    found = verify_file(pack)
    if as_json:
        print_json(found.model_dump(mode="json"))
    elif found.holds:
        print_line(f"Every part holds: {found.parts} parts, {found.cases} cases, sha256 {found.sha256}")
        for path in found.missing:
            print_line(f"missing, as the manifest says: {path}")
    else:
        print_line(f"This part does not hold: {clean(found.part or '')}: {clean(found.why or '')}")
    if not found.holds:
        raise typer.Exit(Exit.FAILED)


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file.

    Raises:
        InvalidRequest: it can't be written.
    """
    try:
        path.write_bytes(content)
    except OSError as error:
        raise InvalidRequest(
            f"The result can't be written: {error.strerror}.",
            where=str(path),
            remedy="Name a file that can be written.",
        ) from error


def _asked(runtime: Runtime, tenant: str, question: str) -> AnswerResult:
    from query.answer_request import AnswerRequest
    from query.answering import answer
    from query.request import SearchRequest
    from query.validation import clean_query

    clean_query(question, max_chars=runtime.settings.max_query_chars)
    request = AnswerRequest(search=SearchRequest(tenant=tenant, query=question))
    return answer(request, runtime.search_context, model=runtime.language_model)


def _answers(answer_file: Path | None, log: Path | None) -> list[AnswerResult]:
    from pydantic import ValidationError

    from query.answer_result import AnswerResult

    path = answer_file or log
    if path is None:
        return []
    try:
        text = path.read_text(encoding="utf-8")
        lines = [text] if log is None else [line for line in text.splitlines() if line.strip()]
        return [AnswerResult.model_validate_json(line) for line in lines]
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRequest(f"The file can't be read: {error}.", where=str(path)) from error
    except ValidationError as error:
        first = error.errors()[0]
        raise InvalidRequest(
            f"This is not an answer: {'.'.join(map(str, first['loc']))}: {first['msg']}.",
            where=str(path),
            remedy="Give what `mafteach ask --json` printed.",
        ) from error


def _expected(path: Path | None) -> ExpectedEvidence | None:
    from pydantic import TypeAdapter

    from evaluation.evidence.cases import ExpectedEvidence
    from evaluation.evidence.folder import parsed, read_json

    return None if path is None else parsed(TypeAdapter(ExpectedEvidence), read_json(path), path)


def _summary(file: CaseFile) -> dict[str, object]:
    case = file.case
    return {
        "case": case.case_id,
        "owner": case.owner,
        "query": case.query,
        "outcome": case.outcome,
        "claim_set": file.claims.claim_set_hash if file.sets else None,
        "revision": len(file.sets),
        "counts": file.counts().model_dump(mode="json"),
        "proposals": [one.model_dump(mode="json") for one in file.proposals],
    }


def _proposed(row: Row) -> str:
    found = row.by_model
    if found is None:
        return "-"
    kept = "" if found.kept is None else f"; kept in {found.kept} of {found.resamples}"
    return f"{found.support or found.problem}{kept}"


def _print_sheet(file: CaseFile) -> None:
    case = file.case
    print_pairs([("case", case.case_id), ("owner", case.owner), ("query", case.query), ("outcome", case.outcome)])
    print_line(clean(case.answer))
    print_line()
    for one in file.disagreements:
        differing = "; ".join(f"{who}: {what}" for who, what in one.support.items())
        print_line(f"Disagreement on {one.claim_id}: {clean(differing)}")
    counts = file.counts()
    print_pairs(
        [
            *counts.by_verdict.items(),
            ("undecided", counts.undecided),
            ("disagreed", counts.disagreed),
            ("honest miss", "yes" if counts.honest_miss else "no"),
        ]
    )
    if not file.sets:
        if not case.honest_miss:
            say("The answer was not split into claims yet.")
        return
    print_table(
        (
            "#",
            "claim",
            "text",
            "citations",
            "attachment seen",
            "verdict",
            "proposal (no verdict)",
            "by model (neither)",
        ),
        [
            (
                row.ordinal,
                row.claim_id,
                row.claim_text,
                " ".join(f"[{one.index}]" for one in row.sources),
                row.attachment_seen,
                "; ".join(f"{one.reviewer}: {one.verdict.support}" for one in row.decisions) or "-",
                row.proposal.support,
                _proposed(row),
            )
            for row in file.rows
        ],
    )
