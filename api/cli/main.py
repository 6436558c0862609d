"""The entry point `mafteach`: commands, errors and exit statuses."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any, Final

import typer

from api.cli import (
    ablate,
    ask,
    bench,
    cases,
    certificates,
    dev_tools,
    doctor,
    documents,
    evaluate,
    evaluate_answers,
    evaluate_fields,
    evaluate_router,
    evidence,
    feedback,
    glossary,
    ingest,
    keys,
    migrate,
    node,
    search,
    serve,
    setup,
    status,
    tune,
    worker,
)
from api.cli.failures import Exit, check_arguments, exit_status, report, usage_error
from api.cli.output import prepare_streams, print_line
from search_config.errors import MafteachError

# Every module adds its commands; their order is the help's.
MODULES: Final = (
    node,
    certificates,
    setup,
    status,
    doctor,
    ingest,
    worker,
    migrate,
    documents,
    search,
    dev_tools,
    glossary,
    ask,
    keys,
    serve,
    evaluate,
    evaluate_answers,
    evaluate_router,
    evaluate_fields,
    tune,
    ablate,
    cases,
    evidence,
    feedback,
    bench,
)

# Threads of the linear algebra under numpy.
BLAS_THREADS: Final = "OPENBLAS_NUM_THREADS"

# typer brings click along under another name, depending on its version; this is click's UsageError in all of them.
UsageError: Final[Any] = typer.BadParameter.__mro__[1]

app = typer.Typer(
    name="mafteach",
    no_args_is_help=False,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Search an organisation's Hebrew and English documents.",
    epilog="Example: mafteach ingest examples/documents --tenant demo && mafteach search 'אישור חניה' --tenant demo",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from api.version import version

        print_line(f"mafteach {version()}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        print_line(context.get_help())


for module in MODULES:
    module.register(app)


def run(arguments: Sequence[str]) -> int:
    """Run one command line; gives its exit status."""
    as_json = "--json" in arguments
    arguments = ingest.with_ray_address(arguments)
    try:
        check_arguments(arguments)
        status = app(args=list(arguments), prog_name="mafteach", standalone_mode=False)
        sys.stdout.flush()
    except MafteachError as error:
        report(error, as_json=as_json)
        return exit_status(error)
    except UsageError as error:
        # In the words that its help uses: "Missing argument 'ID'."
        report(usage_error(error.format_message()), as_json=as_json)
        return Exit.USAGE
    except (typer.Abort, KeyboardInterrupt):
        sys.stderr.write("interrupted\n")
        return Exit.INTERRUPTED
    except (BrokenPipeError, SystemExit):
        # The reader has gone (the framework ends with SystemExit then, and with nothing else); the interpreter would
        # complain when it flushes the stream at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.BROKEN_PIPE
    return status if isinstance(status, int) else Exit.DONE


def main() -> int:
    """Console script."""
    prepare_streams()
    # Before numpy is loaded, which then fixes it. Products here are small, and many run side by side: threads that
    # share one of them mostly wait for each other, spinning, and where the process forks while they compute (a node of
    # another account is started by a fork) they wait for ever. Who sets the variable keeps what was set.
    os.environ.setdefault(BLAS_THREADS, "1")
    return run(sys.argv[1:])
