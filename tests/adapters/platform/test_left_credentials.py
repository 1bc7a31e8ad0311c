"""Credentials that allow what their maker may no longer do."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from core.platform import doctor
from tests.world.backend import insert_key
from tests.world.builder import Builder, new_id
from tests.world.directory import insert_scim_token

SCIM = "scim_live_abcdef"
KEY = "sk_abcdef"


@pytest.fixture
def maker(builder: Builder) -> UUID:
    """The only admin of an organization, who has made a credential of each kind; the keys only read."""
    organization_id, maker = builder.organization(), builder.user("maker@example.com")
    service = builder.service(organization_id)
    builder.member(organization_id, maker, "admin")
    insert_scim_token(builder, organization_id, f"{SCIM}_{'a' * 43}", maker_role="admin")
    insert_key(builder, organization_id, service.id, f"{KEY}_{'a' * 43}", permissions=["read:users"])
    for table in ("scim_tokens", "api_keys"):
        builder.connection.execute(f"UPDATE {table} SET created_by = %s", (maker,))
    builder.connection.execute(
        """
        INSERT INTO siem_streams (id, organization_id, provider, endpoint, options, enabled, position, created_at,
                                  updated_at, made_by)
        VALUES (%s, %s, 'http', 'https://siem.example.com/?key=hush', '{}', true, 0, now(), now(), %s)
        """,
        (new_id(), organization_id, maker),
    )
    builder.connection.execute(
        """
        INSERT INTO webhooks (id, organization_id, name, url, events, secret_sealed, created_at, updated_at, made_by)
        VALUES (%s, %s, 'hook', 'https://hooks.example.com/hush', '{user.invited}', '', now(), now(), %s)
        """,
        (new_id(), organization_id, maker),
    )
    builder.connection.execute(
        """
        INSERT INTO upstream_connections (id, organization_id, type, name, scopes, attribute_mapping, trust_mfa,
                                          enabled, created_at, updated_at, made_by)
        VALUES (%s, %s, 'saml', 'Acme', '{}', '{}', false, false, now(), now(), %s)
        """,
        (new_id(), organization_id, maker),
    )
    builder.connection.execute("UPDATE services SET client_secret_hash = 'hash', client_secret_made_by = %s", (maker,))
    return maker


EVERY = [
    f"acme: API key {KEY} of the service shop",
    f"acme: SCIM token {SCIM}",
    "acme: SIEM stream to siem.example.com",
    "acme: client secret of the service shop",
    "acme: connection to a provider without an address",
    "acme: webhook to hooks.example.com",
]


def found(transact: Callable[..., Any]) -> list[str]:
    """Return what is found, as an operator reads it."""
    return [str(credential) for credential in transact(doctor.without_right)]


def give(builder: Builder, maker: UUID, *capabilities: str) -> None:
    """Give the maker a custom role."""
    organization_id = builder.value("SELECT id FROM organizations")
    builder.custom_role(organization_id, "narrow", *capabilities)
    builder.connection.execute("UPDATE memberships SET role = 'narrow' WHERE user_id = %s", (maker,))


def test_an_admin_has_every_right(maker: UUID, transact: Callable[..., Any]) -> None:
    assert maker
    assert found(transact) == []


def test_who_has_left_has_none(maker: UUID, builder: Builder, transact: Callable[..., Any]) -> None:
    builder.connection.execute("DELETE FROM memberships WHERE user_id = %s", (maker,))

    assert found(transact) == EVERY


def test_who_is_suspended_has_none(maker: UUID, builder: Builder, transact: Callable[..., Any]) -> None:
    builder.connection.execute("UPDATE memberships SET suspended_at = now() WHERE user_id = %s", (maker,))

    assert found(transact) == EVERY


def test_a_maker_whose_account_is_gone_is_known_still(
    maker: UUID, builder: Builder, transact: Callable[..., Any]
) -> None:
    builder.connection.execute("DELETE FROM users WHERE id = %s", (maker,))

    assert found(transact) == EVERY


def test_what_was_made_before_makers_were_recorded_is_not_guessed_at(
    maker: UUID, builder: Builder, transact: Callable[..., Any]
) -> None:
    for table in ("siem_streams", "webhooks", "upstream_connections"):
        builder.connection.execute(f"UPDATE {table} SET made_by = NULL")
    builder.connection.execute("UPDATE services SET client_secret_made_by = NULL")
    builder.connection.execute("DELETE FROM memberships WHERE user_id = %s", (maker,))

    assert found(transact) == EVERY[:2]


def test_what_has_expired_is_not_listed(maker: UUID, builder: Builder, transact: Callable[..., Any]) -> None:
    builder.connection.execute("DELETE FROM memberships WHERE user_id = %s", (maker,))
    for table in ("scim_tokens", "api_keys"):
        builder.connection.execute(f"UPDATE {table} SET expires_at = %s", (builder.clock() - timedelta(days=1),))

    assert found(transact) == EVERY[2:]


@pytest.mark.parametrize(
    ("capabilities", "left"),
    [
        ((), EVERY),
        (("services.manage",), [*EVERY[:3], *EVERY[4:]]),
        (("services.create", "webhooks.manage"), [*EVERY[:3], EVERY[4]]),
        (("services.manage", "end_users.view", "integrations.manage"), [EVERY[1], EVERY[2], EVERY[5]]),
        # The token may change admins, and its maker may not any more.
        (("integrations.manage", "org.members.manage", "audit_logs.view"), [EVERY[0], EVERY[1], EVERY[3], EVERY[5]]),
    ],
)
def test_a_lesser_role_has_the_rights_that_it_lists(
    maker: UUID, builder: Builder, transact: Callable[..., Any], capabilities: tuple[str, ...], left: list[str]
) -> None:
    give(builder, maker, *capabilities)

    assert found(transact) == left


def test_an_older_token_takes_no_more_than_making_one(
    maker: UUID, builder: Builder, transact: Callable[..., Any]
) -> None:
    builder.connection.execute("UPDATE scim_tokens SET maker_role = NULL")
    give(builder, maker, "integrations.manage", "org.members.manage")

    assert EVERY[1] not in found(transact)


def test_a_grant_on_the_service_counts_for_its_keys_and_its_secret(
    maker: UUID, builder: Builder, transact: Callable[..., Any]
) -> None:
    give(builder, maker, "end_users.view")
    [(organization_id, service_id)] = builder.rows("SELECT organization_id, id FROM services")
    builder.grant(organization_id, service_id, maker, "manager")

    assert found(transact) == [EVERY[1], EVERY[2], EVERY[4], EVERY[5]]
