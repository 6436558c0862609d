"""How many requests one credential may send."""

from __future__ import annotations

import math
import time
from typing import Final

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from api.caller import Caller
from search_config.errors import RateLimited

NAMESPACE: Final = "credential"


class RateLimit:
    """A moving window of one minute for each credential, in this process's memory.

    Several processes behind one address each allow the whole number.
    """

    def __init__(self, per_minute: int) -> None:
        """Make one; 0 limits nothing."""
        self._item = RateLimitItemPerMinute(per_minute) if per_minute else None
        self._limiter = MovingWindowRateLimiter(MemoryStorage())

    def count(self, caller: Caller) -> None:
        """Count one request.

        Raises:
            RateLimited: it is one too many; it says when the next one may come.
        """
        if self._item is None or self._limiter.hit(self._item, NAMESPACE, caller.tenant, caller.id):
            return
        window = self._limiter.get_window_stats(self._item, NAMESPACE, caller.tenant, caller.id)
        wait = max(1, math.ceil(window.reset_time - time.time()))
        raise RateLimited(
            f"This credential may send {self._item.amount} requests a minute.",
            retry_after_s=wait,
            where="Authorization",
            remedy=f"Send the next one in {wait} seconds.",
        )
