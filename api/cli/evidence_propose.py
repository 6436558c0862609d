"""`mafteach evidence propose`: what the configured model would say; shown apart, and never a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.context import opened
from api.cli.output import JsonFlag, TenantOption, clean, print_json, print_line, print_table

if TYPE_CHECKING:
    from api.cli.context import Runtime
    from models.base import LanguageModel

CaseId = Annotated[str, typer.Argument(metavar="CASE", help="A case's id, or its beginning.")]


def configured_model(runtime: Runtime, remedy: str) -> LanguageModel:
    """The configured language model.

    Raises:
        InvalidSettings: none is configured.
    """
    from search_config.errors import InvalidSettings

    if runtime.language_model is None:
        raise InvalidSettings("No language model is configured.", where="MAFTEACH_LLM_URL", remedy=remedy)
    return runtime.language_model


def propose(
    case: CaseId,
    tenant: TenantOption,
    resamples: Annotated[
        int,
        typer.Option(
            "--resamples",
            metavar="N",
            min=0,
            help="Answers to write anew from the frozen passages; each claim is looked for in them. 0 for none.",
        ),
    ] = 5,  # `RESAMPLES` of evaluation.evidence.model_proposal, whose import the command line saves
    as_json: JsonFlag = False,
) -> None:
    """Let the configured language model propose a verdict on each claim. It is shown apart and never counts as one.

    Two figures a claim: whether the cited passages entail it, and how many of N resampled answers keep it.
    """
    from evaluation.evidence.base import now
    from evaluation.evidence.model_proposal import proposed
    from evaluation.evidence.store import EvidenceStore

    with opened() as runtime:
        model = configured_model(runtime, "Set it; proposals by rules need none.")
        store = EvidenceStore(runtime.engine, runtime.names)
        owned = runtime.known_tenant(tenant)
        file = store.read(owned, store.find(owned, case))
        made = proposed(file.case, file.claims, model, at=now(), resamples=resamples)
        store.add_proposal(owned, made)
    if as_json:
        print_json({"proposal": made.proposal_id, **made.model_dump(mode="json")})
        return
    print_line(f"{clean(made.model)}: {made.standing}")
    texts = {one.claim_id: one.text for one in file.claims.material}
    print_table(
        ("claim", "text", "proposed", "resampled answers that keep it"),
        [
            (
                one.claim_id,
                clean(texts[one.claim_id]),
                one.support or one.problem or "",
                "-" if one.kept is None else f"{one.kept} of {len(made.resamples)}",
            )
            for one in made.claims
        ],
    )
