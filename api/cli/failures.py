"""What a command ends with: one exit status for each branch of the error tree, and one way to say what went wrong."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from search_config import errors
from search_config.errors import InvalidRequest, MafteachError

if TYPE_CHECKING:
    from pydantic import ValidationError


class Exit(IntEnum):
    """Exit statuses; an empty result and a refusal are DONE."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    ENGINE = 3
    # What shells give for a process that SIGINT or SIGPIPE ended: 128 + the signal's number.
    INTERRUPTED = 130
    BROKEN_PIPE = 141


# The nearest class of an error's ancestry decides.
STATUSES: Final[Mapping[type[MafteachError], Exit]] = {
    MafteachError: Exit.FAILED,
    errors.InvalidInput: Exit.USAGE,
    errors.TenantError: Exit.USAGE,
    errors.AuthenticationError: Exit.USAGE,
    errors.NotPermitted: Exit.USAGE,
    errors.EngineError: Exit.ENGINE,
    errors.NodeError: Exit.ENGINE,
}


def exit_status(error: MafteachError | type[MafteachError]) -> Exit:
    """The exit status of an error or of a class of errors."""
    kind = error if isinstance(error, type) else type(error)
    return next(STATUSES[ancestor] for ancestor in kind.__mro__ if ancestor in STATUSES)


def report(error: MafteachError, *, as_json: bool) -> None:
    """Say on standard error what went wrong: `error: what [where] remedy`, or one JSON object."""
    # ASCII in JSON, since an error may quote what can't be encoded.
    line = json.dumps({"error": error.as_dict()}, ensure_ascii=True) if as_json else f"error: {error}"
    sys.stderr.write(f"{line}\n")


def usage_error(message: str) -> InvalidRequest:
    """The command line's own complaint about an argument, as one of our errors."""
    sentence = message.strip()
    return InvalidRequest(
        sentence if sentence.endswith((".", "?")) else f"{sentence}.",
        remedy="See: mafteach --help, or --help after a command.",
    )


def invalid_values(error: ValidationError, names: Mapping[str, str]) -> InvalidRequest:
    """Every value of a request that does not hold, at once.

    Args:
        error: what validation found.
        names: for a field, what the user knows it by (`size`: `--size`).
    """
    problems = [f"{_known_by(item['loc'], names)}: {item['msg']}" for item in error.errors()]
    return InvalidRequest(f"{'; '.join(problems)}.", remedy="Correct it; --help after the command shows what it takes.")


def _known_by(location: Sequence[int | str], names: Mapping[str, str]) -> str:
    path = ".".join(str(part) for part in location)
    return next((known for field, known in names.items() if path == field or path.startswith(f"{field}.")), path)


def check_arguments(arguments: Sequence[str]) -> None:
    """Refuse arguments that are not text.

    Bytes that the locale can't decode arrive as lone surrogates, which can neither be searched for nor stored.

    Raises:
        InvalidRequest
    """
    for number, argument in enumerate(arguments, start=1):
        if any("\ud800" <= character <= "\udfff" for character in argument):
            raise InvalidRequest(
                f"Argument {number} is not valid text: it has bytes or surrogates that stand for no character.",
                where=ascii(argument[:80]),
                remedy="Pass it as UTF-8; rename a file whose name is not.",
            )
