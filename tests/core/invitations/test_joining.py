"""Joining by the proof of a mailed link, while the account of its address changes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from adapters.postgres.driver.connection import Connection
from core.invitations import joining
from core.invitations.joining import AccountChanged, JoinBy
from core.secrets import hash_token
from core.sign_in.proofs import Destination
from tests.clock import SettableClock
from tests.world.builder import Builder, new_id

GUEST = "guest@example.com"
TOKEN, PROOF = "token", "proof"


@pytest.fixture
def builder(connection: Connection, clock: SettableClock) -> Builder:
    """Rows of an organization that has invited a guest."""
    builder = Builder(connection, clock)
    organization_id, now = builder.organization(), clock()
    connection.execute(
        """
        INSERT INTO invitations (id, organization_id, email, role, status, token_hash, proof_hash, created_at,
                                 expires_at)
        VALUES (%s, %s, %s, 'member', 'pending', %s, %s, %s, %s)
        """,
        (new_id(), organization_id, GUEST, hash_token(TOKEN), hash_token(PROOF), now, now + timedelta(days=1)),
    )
    return builder


@pytest.mark.usefixtures("builder")
def test_an_invitation_is_for_its_address(transact: Callable[..., Any]) -> None:
    answerable = transact(joining.inspect, TOKEN, PROOF)

    assert (answerable.email, answerable.join_by) == (GUEST, JoinBy.NEW_PASSWORD)


def test_an_account_that_is_proved_after_the_page_was_shown_keeps_its_password(
    builder: Builder, transact: Callable[..., Any]
) -> None:
    user_id = builder.user(GUEST)

    with pytest.raises(AccountChanged):
        transact(joining.accept_as_new, TOKEN, PROOF, "another hash", "Another name", Destination())

    assert builder.value("SELECT password_hash FROM users WHERE id = %s", user_id) != "another hash"
    assert builder.value("SELECT name FROM users WHERE id = %s", user_id) is None
