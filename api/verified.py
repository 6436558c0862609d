"""Credentials that were checked a moment ago: a client that searches again is not looked up in the engine again.

Kept for some seconds (`MAFTEACH_KEY_CACHE_S`), which is how long a key that another process revoked may still be
taken; one that this process revokes is refused at once. What is kept of a credential is a keyed hash, with a key that
this process drew and nobody sees. Only what was let in is kept: a wrong one is looked at anew each time.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Final, NamedTuple

from api.caller import Caller
from api.keys import KEY_PATTERN, KeyStore

# Callers that are kept, the ones that asked last: about half a kilobyte each.
MOST: Final = 10_000
# Of BLAKE2b's key and digest.
BYTES: Final = 32


class _Kept(NamedTuple):
    """By the id of its key."""

    digest: bytes
    caller: Caller
    until: float


class VerifiedKeys:
    """Keys in front of their store. Safe for several threads."""

    def __init__(self, store: KeyStore, *, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        """Make one.

        Args:
            store: looks up what is not known.
            seconds: that a key is known; 0 knows none.
            clock: seconds that only rise.
        """
        self._store = store
        self._seconds = seconds
        self._clock = clock
        self._secret = secrets.token_bytes(BYTES)
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._lock = Lock()
        # Grows with every revocation: what was looked up before one is not kept after it.
        self._revoked = 0
        store.observe_revoked(self._forget)

    def authenticate(self, presented: str) -> Caller:
        """The caller that a key names.

        Raises:
            AuthenticationError: as `KeyStore.authenticate`.
        """
        known = self.known(presented)
        if known is not None:
            return known
        # From before the look-up: its answer may already be old when it comes.
        until, revoked = self._clock() + self._seconds, self._revoked
        caller = self._store.authenticate(presented)
        with self._lock:
            if self._seconds and self._revoked == revoked:
                self._kept[caller.id] = _Kept(self._digest(presented), caller, until)
                self._kept.move_to_end(caller.id)
                while len(self._kept) > MOST:
                    self._kept.popitem(last=False)
        return caller

    def known(self, presented: str) -> Caller | None:
        """The caller, where this very key was let in lately; without a wait. None says nothing of the key."""
        parts = KEY_PATTERN.fullmatch(presented)
        if parts is None:
            return None
        with self._lock:
            kept = self._kept.get(parts["id"])
        if kept is None or self._clock() >= kept.until:
            return None
        return kept.caller if hmac.compare_digest(self._digest(presented), kept.digest) else None

    def _digest(self, presented: str) -> bytes:
        return hashlib.blake2b(presented.encode(), digest_size=BYTES, key=self._secret).digest()

    def _forget(self, key_id: str) -> None:
        with self._lock:
            self._revoked += 1
            self._kept.pop(key_id, None)
