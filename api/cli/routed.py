"""Options of the commands that ask a question: which layer answers it, and the filters that it names itself."""

from __future__ import annotations

from typing import Annotated

import typer

RouteOption = Annotated[
    str,
    typer.Option(
        "--route", metavar="ROUTE", help="auto, metadata (the documents' fields), semantic (passages) or both."
    ),
]
AsOfOption = Annotated[
    str | None, typer.Option("--as-of", metavar="DATE", help="The day that periods are counted from; else today.")
]
WithoutOption = Annotated[
    list[str] | None,
    typer.Option("--without", metavar="FIELD", help="Leave out a filter that was derived from the question."),
]
DerivedFlag = Annotated[
    bool, typer.Option("--derived/--no-derived", help="Apply the filters that the question itself names.")
]
