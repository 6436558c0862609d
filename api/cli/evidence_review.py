"""The reviewer's commands of `mafteach evidence`: claims, decide, note, propose, agreement, replay."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.context import opened
from api.cli.evidence_propose import CaseId, configured_model, propose
from api.cli.evidence_targets import OptionalTenant, Targets, folders_of, loaded
from api.cli.failures import Exit, invalid_values
from api.cli.output import JsonFlag, TenantOption, clean, print_json, print_line, print_pairs, print_table
from api.cli.progress import progress_bar
from search_config.errors import InvalidRequest

if TYPE_CHECKING:
    from api.cli.context import Runtime
    from evaluation.evidence.cases import Case
    from evaluation.evidence.claim_sets import ClaimSet
    from evaluation.evidence.replay_suite import SuiteReport

ReasonOption = Annotated[str, typer.Option("--reason", help="Why; mandatory for marking a claim.")]
# What people know the fields of a verdict by.
NAMES = {
    "attachment_reason": "--attachment-reason",
    "support_reason": "--support-reason",
    "attachment": "--attachment",
    "support": "--support",
    "missing": "--missing",
    "note": "--note",
    "diagnosis": "--cause, --observation, --hypothesis, --next-check",
    "reviewer": "--reviewer",
}


def register(group: typer.Typer) -> None:
    """Add the commands."""
    group.command(epilog="Example: mafteach evidence claims 0123456789ab --tenant demo")(claims)
    group.command(
        epilog="Example: mafteach evidence decide 0123456789ab 0123456789abcdef01234567 --tenant demo --reviewer dana "
        "--attachment attached --attachment-reason 'נפתח בקטע' --support supported --support-reason 'כתוב כך'"
    )(decide)
    group.command(epilog="Example: mafteach evidence note 0123456789ab --tenant demo --author dana --text 'נבדק'")(note)
    group.command(epilog="Example: mafteach evidence propose 0123456789ab --tenant demo --resamples 5")(propose)
    group.command(epilog="Example: mafteach evidence agreement examples/evidence")(agreement)
    group.command(epilog="Example: mafteach evidence replay examples/evidence")(replay)


def claims(
    case: CaseId,
    tenant: TenantOption,
    author: Annotated[str, typer.Option("--author", metavar="NAME", help="Who changes the claims.")] = "",
    split: Annotated[
        tuple[str, str] | None,
        typer.Option("--split", metavar="CLAIM WORDS", help="Cut a claim before these words of it."),
    ] = None,
    merge: Annotated[
        tuple[str, str] | None, typer.Option("--merge", metavar="CLAIM CLAIM", help="Join two neighbours.")
    ] = None,
    immaterial: Annotated[
        str | None, typer.Option("--immaterial", metavar="CLAIM", help="Mark a claim as immaterial.")
    ] = None,
    material: Annotated[
        str | None, typer.Option("--material", metavar="CLAIM", help="Mark a claim as material again.")
    ] = None,
    reason: ReasonOption = "",
    by_model: Annotated[
        bool, typer.Option("--by-model", help="Let the configured language model split, where nobody did yet.")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Show a case's claims, splitting the answer by rules where that was not done; or change them.

    A change is a new revision: it supersedes the decisions on the claims that it touches, and no others.
    """
    from evaluation.evidence.base import now
    from evaluation.evidence.claim_sets import mark_claim, merge_claims, split_claim
    from evaluation.evidence.store import EvidenceStore

    changes = [one for one in (split, merge, immaterial, material) if one is not None]
    if len(changes) > 1:
        raise InvalidRequest("Make one change at a time.", where="--split, --merge, --immaterial, --material")
    if changes and not author.strip():
        raise InvalidRequest("A change needs an author.", remedy="Add --author NAME.")
    with opened() as runtime:
        store = EvidenceStore(runtime.engine, runtime.names)
        owned = runtime.known_tenant(tenant)
        file = store.read(owned, store.find(owned, case))
        current = file.sets[-1] if file.sets else _first(runtime, file.case, by_model=by_model)
        if not file.sets:
            store.add_claims(owned, current)
        made: ClaimSet | None = None
        if split is not None:
            made = split_claim(file.case, current, *split, author=author, at=now())
        elif merge is not None:
            made = merge_claims(file.case, current, *merge, author=author, at=now())
        elif immaterial is not None or material is not None:
            claim = immaterial if immaterial is not None else material
            made = mark_claim(
                current, str(claim), material=material is not None, reason=reason, author=author, at=now()
            )
        if made is not None:
            store.add_claims(owned, made)
            current = made
    if as_json:
        print_json({"claim_set": current.claim_set_hash, **current.model_dump(mode="json", by_alias=True)})
        return
    print_line(f"revision {current.revision}, {len(current.material)} material claims, {current.claim_set_hash}")
    print_table(
        ("claim", "from", "to", "cut", "material", "text"),
        [
            (one.claim_id, one.from_, one.to, one.cut, "yes" if one.material else one.why_immaterial, one.text)
            for one in current.claims
        ],
    )


def _first(runtime: Runtime, case: Case, *, by_model: bool) -> ClaimSet:
    """The first revision of the claims."""
    from evaluation.evidence.base import now
    from evaluation.evidence.by_model import claims_by_model
    from evaluation.evidence.claim_sets import first_claims

    if not by_model:
        return first_claims(case, at=now())
    return claims_by_model(case, configured_model(runtime, "Set it, or split by rules."), at=now())


def decide(
    case: CaseId,
    claim: Annotated[str, typer.Argument(metavar="CLAIM", help="A claim's id.")],
    tenant: TenantOption,
    reviewer: Annotated[str, typer.Option("--reviewer", metavar="NAME", help="Who decides.")],
    attachment: Annotated[
        str, typer.Option("--attachment", metavar="VERDICT", help="attached, missing or points_nowhere.")
    ],
    attachment_reason: Annotated[str, typer.Option("--attachment-reason", help="Why; never empty.")],
    support: Annotated[
        str,
        typer.Option(
            "--support",
            metavar="VERDICT",
            help="supported, partially_supported, not_supported or cannot_be_evaluated.",
        ),
    ],
    support_reason: Annotated[str, typer.Option("--support-reason", help="Why; never empty.")],
    missing: Annotated[
        str | None, typer.Option("--missing", help="What is missing; mandatory for cannot_be_evaluated.")
    ] = None,
    note: Annotated[str | None, typer.Option("--note", help="An open note.")] = None,
    cause: Annotated[
        str | None,
        typer.Option(
            "--cause",
            metavar="CAUSE",
            help="A possible cause: not_in_corpus, not_retrieved, retrieved_not_cited, qualification_omitted, "
            "cited_contradicts or locator_elsewhere. Needs the next three.",
        ),
    ] = None,
    observation: Annotated[str | None, typer.Option("--observation", help="What can be seen.")] = None,
    hypothesis: Annotated[str | None, typer.Option("--hypothesis", help="What may explain it.")] = None,
    next_check: Annotated[str | None, typer.Option("--next-check", help="What would tell.")] = None,
    supersedes: Annotated[
        str | None, typer.Option("--supersedes", metavar="DECISION", help="Your decision before, where you changed it.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Decide on a claim: both verdicts, each with its reason. Decisions are never written over."""
    from pydantic import ValidationError

    from evaluation.evidence.base import now
    from evaluation.evidence.decisions import Verdict
    from evaluation.evidence.store import EvidenceStore

    found: dict[str, Any] = {
        "attachment": attachment,
        "attachment_reason": attachment_reason,
        "support": support,
        "support_reason": support_reason,
        "missing": missing,
        "note": note,
    }
    parts = {"cause": cause, "observation": observation, "hypothesis": hypothesis, "next_check": next_check}
    if any(part is not None for part in parts.values()):
        found["diagnosis"] = parts
    try:
        verdict = Verdict.model_validate(found)
    except ValidationError as error:
        raise invalid_values(error, NAMES) from error
    if not reviewer.strip():
        raise InvalidRequest("A reviewer is missing.", where="--reviewer")
    with opened() as runtime:
        store = EvidenceStore(runtime.engine, runtime.names)
        owned = runtime.known_tenant(tenant)
        file = store.read(owned, store.find(owned, case))
        made = file.next_decision(claim, verdict, reviewer=reviewer, at=now(), supersedes=supersedes)
        store.add_decision(owned, made)
    if as_json:
        print_json({"decision": made.decision_id, **made.model_dump(mode="json")})
    else:
        print_pairs([("decision", made.decision_id), ("claim", claim), ("support", verdict.support)])


def note(
    case: CaseId,
    tenant: TenantOption,
    author: Annotated[str, typer.Option("--author", metavar="NAME", help="Who writes it.")],
    text: Annotated[str, typer.Option("--text", help="The note.")],
    claim: Annotated[str | None, typer.Option("--claim", metavar="CLAIM", help="About this claim.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Add a note to a case or a claim."""
    from pydantic import ValidationError

    from evaluation.evidence.base import now
    from evaluation.evidence.notes import Note
    from evaluation.evidence.store import EvidenceStore

    with opened() as runtime:
        store = EvidenceStore(runtime.engine, runtime.names)
        owned = runtime.known_tenant(tenant)
        case_id = store.find(owned, case)
        try:
            made = Note(case_id=case_id, claim_id=claim, author=author, at=now(), text=text)
        except ValidationError as error:
            raise invalid_values(error, {"author": "--author", "text": "--text"}) from error
        store.add_note(owned, made)
    if as_json:
        print_json({"note": made.note_id})
    else:
        print_line(f"note {made.note_id}")


def agreement(targets: Targets, tenant: OptionalTenant = None, as_json: JsonFlag = False) -> None:
    """Show where reviewers disagree, then how far they agree; and what the rules' proposals are worth."""
    from evaluation.evidence.agreement import reviewer_agreement
    from evaluation.evidence.replay_suite import labelled

    files = loaded(targets, tenant)
    reviewers = reviewer_agreement(files)
    proposals = labelled(folders_of(targets), files)
    if as_json:
        print_json({"reviewers": reviewers.model_dump(mode="json"), "proposals": proposals.model_dump(mode="json")})
        return
    for one in reviewers.disagreements:
        print_line(f"Disagreement on {one.claim_id}: {clean(str(one.support))}")
    for pair in reviewers.pairs:
        figure = pair.why_no_kappa if pair.kappa is None else f"kappa {pair.kappa:.2f}"
        print_line(f"{clean(pair.first)} and {clean(pair.second)}: {pair.same} of {pair.rows} rows alike; {figure}")
    print_line(proposals.standing)
    print_table(
        ("label", "rows", "proposed alike", "95% from", "to"),
        [
            (one.label, one.rows, f"{one.recall.value:.2f}", f"{one.recall.low:.2f}", f"{one.recall.high:.2f}")
            for one in proposals.by_label
        ],
    )
    for text in proposals.wrongly_supported:
        print_line(f"Wrongly proposed as supported: {clean(text)}")


def replay(
    targets: Targets,
    tenant: OptionalTenant = None,
    documents: Annotated[
        Path | None,
        typer.Option(
            "--documents",
            metavar="DIR",
            help="The corpus of frozen cases in a folder; else `documents` beside that folder. Indexed for this run.",
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="PACK.zip", help="Write the runs' pack.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Ask the questions of frozen cases again, list by stage what changed, and compare rows where that is possible.

    Exit status 1: a passage can't be found again, rows moved to another proposal, a trap is proposed as supported, or
    too few plainly supported rows are proposed so.
    """
    from api.version import version
    from evaluation.evidence.replay_suite import replay_folders, replay_stored, suite_pack
    from evaluation.evidence.store import EvidenceStore

    folders = folders_of(targets)
    if not folders and tenant is None:
        raise InvalidRequest("For ids of cases a tenant is needed.", remedy="Add --tenant TENANT.")
    with opened() as runtime, progress_bar() as progress:
        if folders and tenant is None:
            report = replay_folders(
                folders,
                documents,
                engine=runtime.engine,
                embedder=runtime.embedder,
                settings=runtime.settings,
                model=runtime.language_model,
                app_version=version(),
                progress=progress,
            )
        else:
            store = EvidenceStore(runtime.engine, runtime.names)
            owned = runtime.known_tenant(str(tenant))
            files = loaded(targets, None) if folders else [store.read(owned, store.find(owned, one)) for one in targets]
            report = replay_stored(
                files,
                context=runtime.search_context,
                registry=runtime.registry,
                model=runtime.language_model,
                app_version=version(),
            )
    if out is not None:
        from api.cli.evidence import write_bytes

        write_bytes(out, suite_pack(report))
    if as_json:
        print_json(report.summary())
    else:
        _print_report(report)
    if report.failures:
        raise typer.Exit(Exit.FAILED)


def _print_report(report: SuiteReport) -> None:
    for run in report.runs:
        print_line(f"run {run.run_id} · case {run.case_id[:12]}")
        for change in run.changes:
            print_line(f"  {change.stage}: {clean(change.what)}: {clean(change.before)} -> {clean(change.after)}")
        if run.comparable:
            moved = [row for row in run.rows if not row.same]
            print_line(f"  rows compared: {len(run.rows)}, moved: {len(moved)}")
            for row in moved:
                print_line(f"    {clean(row.claim_text)}: {row.proposal_before} -> {row.proposal_after}")
        else:
            print_line(f"  rows can't be compared: {clean('; '.join(run.why_not))}")
    for failure in report.failures:
        print_line(f"FAILED: {clean(failure)}")
