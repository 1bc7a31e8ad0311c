"""Stored addresses of earlier versions get their canonical form, or are reported."""

from __future__ import annotations

import pytest

from adapters.postgres.driver.connection import Connection, RawConnection
from adapters.postgres.schema import canonical_addresses
from core.secrets import hash_token
from tests.clock import SettableClock
from tests.world.builder import Builder

OLD, CANONICAL = "boss@straße.example", "boss@xn--strae-oqa.example"


@pytest.fixture
def builder(connection: Connection, clock: SettableClock) -> Builder:
    """The rows of an earlier version."""
    return Builder(connection, clock)


def converted(raw_connection: RawConnection) -> list[str]:
    """Convert the addresses, and return what is reported."""
    lines: list[str] = []
    canonical_addresses.convert(raw_connection, lines.append)
    return lines


def test_an_account_gets_its_canonical_address_with_its_links_and_mails(
    builder: Builder, raw_connection: RawConnection
) -> None:
    user_id = builder.user(OLD)
    builder.connection.execute(
        """
        INSERT INTO one_time_tokens (token_hash, purpose, user_id, email, created_at, expires_at)
        VALUES (%s, 'reset_password', %s, %s, now(), now())
        """,
        (hash_token("a link"), user_id, OLD),
    )
    builder.connection.execute(
        """
        INSERT INTO mails (organization_id, id, recipient, template, state, attempts, due_at, created_at)
        VALUES ('00000000-0000-0000-0000-000000000000', gen_random_uuid(), %s, 'test', 'queued', 0, now(), now())
        """,
        (OLD,),
    )

    assert converted(raw_connection) == ["Addresses of accounts converted to their canonical form: 1 of 1."]

    assert builder.rows("SELECT email FROM users") == [(CANONICAL,)]
    assert builder.rows("SELECT email FROM one_time_tokens") == [(CANONICAL,)]
    assert builder.rows("SELECT recipient FROM mails") == [(CANONICAL,)]
    assert converted(raw_connection) == []


def test_an_account_whose_canonical_address_another_one_has_is_reported(
    builder: Builder, raw_connection: RawConnection
) -> None:
    old, _ = builder.user(OLD), builder.user(CANONICAL)

    [line] = converted(raw_connection)

    assert line.endswith("0 of 1. `gatehouse doctor` lists the others.")
    assert [(one.id, one.canonical) for one in canonical_addresses.not_canonical(raw_connection)] == [(old, CANONICAL)]
    assert sorted(builder.rows("SELECT email FROM users")) == [(OLD,), (CANONICAL,)]


@pytest.mark.parametrize(
    "email", ["boss@\uff45xample.org", "boss@xn--a.example", "boss@a_b.example", "\ufb01@a.example"]
)
def test_an_address_without_a_canonical_form_stays_and_is_reported(
    builder: Builder, raw_connection: RawConnection, email: str
) -> None:
    user_id = builder.user(email)

    converted(raw_connection)

    assert builder.rows("SELECT email FROM users") == [(email,)]
    assert [(one.id, one.canonical) for one in canonical_addresses.not_canonical(raw_connection)] == [(user_id, None)]


@pytest.mark.parametrize("email", ["ada@example.org", CANONICAL, "jürgen@example.org", "a_b@example.org"])
def test_a_canonical_address_is_left_alone(builder: Builder, raw_connection: RawConnection, email: str) -> None:
    builder.user(email)

    assert converted(raw_connection) == []
    assert canonical_addresses.not_canonical(raw_connection) == []
    assert builder.rows("SELECT email FROM users") == [(email,)]


def test_a_pending_invitation_is_converted_unless_the_person_has_another(
    builder: Builder, raw_connection: RawConnection
) -> None:
    acme, bolt = builder.organization("acme"), builder.organization("bolt")
    for number, (organization_id, email) in enumerate([(acme, OLD), (bolt, OLD), (bolt, CANONICAL)]):
        builder.connection.execute(
            """
            INSERT INTO invitations (id, organization_id, email, role, status, token_hash, proof_hash, created_at,
                                     expires_at)
            VALUES (gen_random_uuid(), %s, %s, 'member', 'pending', %s, '', now(), now())
            """,
            (organization_id, email, hash_token(str(number))),
        )

    converted(raw_connection)

    query = "SELECT email FROM invitations WHERE organization_id = %s ORDER BY email"
    assert builder.rows(query, acme) == [(CANONICAL,)]
    assert sorted(builder.rows(query, bolt)) == [(OLD,), (CANONICAL,)]
