"""Which share of the connections a use case takes from, and what is remembered for that."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from adapters.postgres.driver.places import Share
from adapters.postgres.shares import (
    BACKGROUND,
    KnownCredentials,
    background_share,
    request_share,
    session_credential,
)
from core.connection_uses import BACKGROUND_USE, REQUEST_USE, ConnectionUse

ORGANIZATION, OTHER = UUID(int=1), UUID(int=2)
CHANGING = ConnectionUse(changes_organization=True)
SIGN_IN = ConnectionUse(is_sign_in=True)


def test_a_request_counts_for_its_network_until_its_credential_is_known() -> None:
    known = KnownCredentials()

    first = request_share(REQUEST_USE, "192.0.2.77", b"hash", known, may_lock=False)
    known.know(b"hash", ORGANIZATION)
    second = request_share(REQUEST_USE, "192.0.2.77", b"hash", known, may_lock=False)
    known.know(b"hash", None)
    third = request_share(REQUEST_USE, "192.0.2.77", b"hash", known, may_lock=False)

    assert (first, second, third) == (Share("192.0.2.0/24"), Share(ORGANIZATION), Share("192.0.2.0/24"))


@pytest.mark.parametrize(
    ("address", "network"),
    [("192.0.2.77", "192.0.2.0/24"), ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"), (None, "unknown")],
)
def test_a_sign_in_counts_for_its_network_whatever_its_credential_is(address: str | None, network: str) -> None:
    known = KnownCredentials()
    known.know(b"hash", ORGANIZATION)

    assert request_share(SIGN_IN, address, b"hash", known, may_lock=True) == Share(network, is_sign_in=True)


def test_transactions_that_change_an_organization_wait_for_each_other() -> None:
    known = KnownCredentials()
    unknown = request_share(CHANGING, "192.0.2.77", b"hash", known, may_lock=True)
    known.know(b"hash", ORGANIZATION)

    assert unknown == Share("192.0.2.0/24", row=b"hash")
    assert request_share(CHANGING, None, b"hash", known, may_lock=True) == Share(ORGANIZATION, row=ORGANIZATION)
    assert request_share(CHANGING, None, b"hash", known, may_lock=False).row is None
    assert request_share(REQUEST_USE, None, b"hash", known, may_lock=True).row is None


def test_background_work_has_one_share_and_that_of_one_organization_its_share() -> None:
    of_one = ConnectionUse.background_of(ORGANIZATION)

    assert background_share(BACKGROUND_USE, may_lock=True) == Share(BACKGROUND)
    assert background_share(ConnectionUse.background_of(None), may_lock=True) == Share(BACKGROUND)
    assert background_share(of_one, may_lock=True) == Share(ORGANIZATION, row=ORGANIZATION)
    assert background_share(of_one, may_lock=False) == Share(ORGANIZATION)


def test_a_session_is_known_for_each_path_apart() -> None:
    known, session = KnownCredentials(), UUID(int=7)
    known.know(session_credential(session, "acme"), ORGANIZATION)

    assert known.key(session_credential(session, "acme")) == ORGANIZATION
    assert known.key(session_credential(session, "globex")) is None
    assert known.key(session_credential(session, None)) is None


def test_as_many_credentials_are_known_as_were_used_last() -> None:
    known = KnownCredentials(credentials_max=2)
    known.know(b"first", ORGANIZATION)
    known.know(b"second", ORGANIZATION)
    known.key(b"first")

    known.know(b"third", OTHER)

    assert len(known) == 2
    assert [known.key(one) for one in (b"first", b"second", b"third")] == [ORGANIZATION, None, OTHER]


def test_a_use_at_a_path_keeps_what_it_is_for() -> None:
    assert CHANGING.at("acme") == replace(CHANGING, organization_slug="acme")
    assert SIGN_IN.at("acme") == replace(SIGN_IN, organization_slug="acme")
