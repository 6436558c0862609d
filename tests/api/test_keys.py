"""The keys index: what is stored, and who may revoke."""

from __future__ import annotations

import pytest

from api import verified
from api.keys import KEY_PATTERN, KeyStore
from api.verified import VerifiedKeys
from search_config.client import Engine
from search_config.errors import AuthenticationError, IndexMissing, InvalidTenant, MissingTenant, NotFound
from search_config.names import Names
from tests.conftest import MakeIndex


@pytest.fixture
def keys(engine: Engine, make_index: MakeIndex) -> KeyStore:
    info, _ = make_index()
    return KeyStore(engine, info.names)


def test_a_key_names_its_tenant(keys: KeyStore) -> None:
    first, second = keys.create("a", label="intranet"), keys.create("b")
    assert keys.authenticate(first.key).tenant == "a"
    assert keys.authenticate(second.key).tenant == "b"
    assert first.key != second.key
    assert KEY_PATTERN.fullmatch(first.key)


def test_the_secret_is_not_stored(engine: Engine, make_index: MakeIndex) -> None:
    info, _ = make_index()
    created = KeyStore(engine, info.names).create("a")
    secret = created.key.rpartition("_")[2]
    row = engine.get(info.names.keys, created.id)
    assert row is not None
    assert secret not in str(row)
    assert len(secret) == 64  # 256 bits


def test_listings_show_a_tenants_own_keys_without_secrets(keys: KeyStore) -> None:
    first, second, _ = keys.create("a", label="one"), keys.create("a", label="two"), keys.create("b")
    listed = keys.list("a")
    assert [(record.id, record.label) for record in listed] == [(first.id, "one"), (second.id, "two")]
    assert first.key not in repr(listed)


def test_a_revoked_key_is_refused_and_stays_listed(keys: KeyStore) -> None:
    created = keys.create("a")
    revoked = keys.revoke("a", created.id)
    assert revoked.revoked_at is not None
    with pytest.raises(AuthenticationError):
        keys.authenticate(created.key)
    assert [record.revoked_at for record in keys.list("a")] == [revoked.revoked_at]
    assert keys.revoke("a", created.id).revoked_at == revoked.revoked_at


def test_only_the_tenants_own_key_can_be_revoked(keys: KeyStore) -> None:
    created = keys.create("a")
    for tenant, key_id in (("b", created.id), ("a", "0" * 12), ("a", "../_all"), ("a", "")):
        with pytest.raises(NotFound):
            keys.revoke(tenant, key_id)
    assert keys.authenticate(created.key).tenant == "a"


@pytest.mark.parametrize(("tenant", "error"), [("", MissingTenant), ("*", InvalidTenant), ("a,b", InvalidTenant)])
def test_no_key_for_a_tenant_that_is_none(keys: KeyStore, tenant: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        keys.create(tenant)


def test_the_engine_does_not_make_a_keys_index_by_itself(engine: Engine) -> None:
    names = Names(prefix="never-set-up")
    with pytest.raises(IndexMissing):
        KeyStore(engine, names).create("a")
    assert not engine.exists(f"/{names.keys}")


class Time:
    """Seconds that a test sets."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_checked_key_is_known_for_the_seconds_stated_and_a_revocation_elsewhere_counts_then(
    engine: Engine, make_index: MakeIndex
) -> None:
    info, _ = make_index()
    ours, elsewhere = KeyStore(engine, info.names), KeyStore(engine, info.names)
    clock = Time()
    here = VerifiedKeys(ours, seconds=5.0, clock=clock)
    created = ours.create("a", groups=["staff"])
    assert here.known(created.key) is None
    caller = here.authenticate(created.key)
    assert (caller.tenant, caller.groups) == ("a", ("staff",))
    elsewhere.revoke("a", created.id)
    clock.now += 4.9
    assert here.known(created.key) == here.authenticate(created.key) == caller
    clock.now += 0.1
    assert here.known(created.key) is None
    with pytest.raises(AuthenticationError):
        here.authenticate(created.key)


def test_a_key_that_is_revoked_here_is_not_known_any_more(keys: KeyStore) -> None:
    here = VerifiedKeys(keys, seconds=300.0)
    created, other = keys.create("a"), keys.create("a")
    here.authenticate(created.key), here.authenticate(other.key)
    keys.revoke("a", created.id)
    assert here.known(created.key) is None
    with pytest.raises(AuthenticationError):
        here.authenticate(created.key)
    assert here.known(other.key) is not None


def test_only_the_very_key_is_known(keys: KeyStore) -> None:
    here = VerifiedKeys(keys, seconds=300.0)
    created = keys.create("a")
    here.authenticate(created.key)
    last = "0" if created.key[-1] != "0" else "1"
    for wrong in (created.key[:-1] + last, created.key[:-1], created.key + "0", created.id, ""):
        assert here.known(wrong) is None
        with pytest.raises(AuthenticationError):
            here.authenticate(wrong)
    # A wrong one does not make the right one unknown.
    assert here.known(created.key) is not None


def test_nothing_is_kept_for_no_seconds_and_the_last_callers_where_there_are_many(
    keys: KeyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    never = VerifiedKeys(keys, seconds=0.0)
    first, second = keys.create("a"), keys.create("b")
    never.authenticate(first.key)
    assert never.known(first.key) is None
    monkeypatch.setattr(verified, "MOST", 1)
    here = VerifiedKeys(keys, seconds=300.0)
    here.authenticate(first.key), here.authenticate(second.key)
    assert (here.known(first.key), here.known(second.key)) == (None, never.authenticate(second.key))
