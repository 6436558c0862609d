"""Answers that this process gave a moment ago, so that the very answer that a reader saw can be frozen.

They are kept in memory alone, few of them, and are found again only by whoever was given them: a key's (or a token's)
own id, its groups, the question and the text, to the letter. An answer that is not here any more is asked for anew.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Final

from fastapi import Depends, Request

from api.caller import Caller
from query.answer_result import AnswerResult

# An answer with its passages is some tens of kilobytes: ten megabytes at most.
CAPACITY: Final = 200


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """An answer as it was sent, and when."""

    result: AnswerResult
    at: datetime


class RecentAnswers:
    """The answers that were given last; safe for use by several threads."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._given: OrderedDict[str, GivenAnswer] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, caller: Caller, result: AnswerResult) -> AnswerResult:
        """Keep an answer as it is sent; gives it."""
        key = _key(caller, result.question, result.answer)
        with self._lock:
            self._given.pop(key, None)
            self._given[key] = GivenAnswer(result, datetime.now(UTC))
            while len(self._given) > self._capacity:
                self._given.popitem(last=False)
        return result

    def find(self, caller: Caller, question: str, shown: str) -> GivenAnswer | None:
        """The answer with this text that this caller was given; None where it is gone."""
        with self._lock:
            return self._given.get(_key(caller, question, shown))


def recent(request: Request) -> RecentAnswers:
    """The answers of this application."""
    kept: RecentAnswers = request.app.state.recent
    return kept


RecentHere = Annotated[RecentAnswers, Depends(recent)]


def _key(caller: Caller, question: str, answer: str) -> str:
    parts = (caller.tenant, caller.id, *sorted(caller.groups), question.strip(), answer)
    lengths = ",".join(str(len(part)) for part in parts)
    return hashlib.sha256("\0".join((lengths, *parts)).encode(errors="backslashreplace")).hexdigest()
