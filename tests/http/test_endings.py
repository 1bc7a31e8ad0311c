"""Every cause ends exactly what `core/endings.py` says, in its own transaction."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from psycopg.types.json import Jsonb

from core.endings import ENDED_BY, Cause, Issued
from core.secrets import Secret
from tests.openid_provider import running_openid_provider
from tests.world.builder import PASSWORD
from tests.world.directory import insert_directory
from tests.world.issued import Everything, issue_everything
from tests.world.revocations import Revoker
from tests.world.team import Team
from tests.world.world import World

OFF = {"op": "replace", "path": "active", "value": False}
RESET_TOKEN = "3f0c6f3e-2f66-4a6f-9a5c-6a0d6a1f0001"


@pytest.fixture
def acme(world: World) -> Team:
    """Return an organization with an owner, a mail domain, and a directory."""
    team = world.team("acme")
    team.add("owner", "owner")
    world.mail_domain(team.organization_id, "acme.example")
    return team


def issued_to(team: Team, email: str = "ada@example.com") -> Everything:
    user_id = team.world.user(email, has_mfa=True)
    team.world.member(team.organization_id, user_id)
    return issue_everything(team, user_id, email)


async def leave(one: Everything) -> None:
    answer = await one.team.request("owner", "POST", f"/members/{one.user_id}")
    assert answer.status == 200, answer.text


async def delete_by_directory(one: Everything) -> None:
    answer = await insert_directory(one.team).request("DELETE", f"/Users/{one.user_id}")
    assert answer.status == 204, answer.text


async def deactivate(one: Everything) -> None:
    answer = await insert_directory(one.team).patch(str(one.user_id), OFF)
    assert answer.status == 200, answer.text


async def revoke_by_provider(one: Everything) -> None:
    with running_openid_provider() as provider:
        one.world.connection.execute(
            """
            UPDATE upstream_connections SET issuer = %(url)s, token_issuer = %(url)s, enabled = true
            WHERE  organization_id = %(acme)s
            """,
            {"url": provider.url, "acme": one.team.organization_id},
        )
        connection_id = str(
            one.world.value("SELECT id FROM upstream_connections WHERE organization_id = %s", one.team.organization_id)
        )
        answer = await Revoker(one.world, provider, connection_id).revoke_subject("ada")
    assert answer.status == 204, answer.text


async def change_address(one: Everything) -> None:
    tokens = await _signed_in(one)
    await one.world.change_address(tokens, "ada@home.example")


async def first_proof(one: Everything) -> None:
    one.world.connection.execute("UPDATE users SET email_verified_at = NULL WHERE id = %s", (one.user_id,))
    await reset_password(one)


async def reset_password(one: Everything) -> None:
    one.world.connection.execute(
        "UPDATE one_time_tokens SET token_hash = %s WHERE purpose = 'reset_password'",
        (hashlib.sha256(RESET_TOKEN.encode()).digest(),),
    )
    body = {"token": RESET_TOKEN, "new_password": PASSWORD}
    answer = await one.world.client.post("/api/auth/reset-password", body=body)
    assert answer.status == 200, answer.text


async def sign_out_elsewhere(one: Everything) -> None:
    answer = await one.world.client.delete("/api/user/sessions", token=await _signed_in(one))
    assert answer.status == 204, answer.text


async def undo_of_later(one: Everything) -> None:
    await _undo(one, since=one.world.clock() - timedelta(days=1))


async def undo_of_earlier(one: Everything) -> None:
    one.world.clock.advance(timedelta(minutes=1))
    await _undo(one, since=one.world.clock())


async def _undo(one: Everything, *, since: datetime) -> None:
    """Undo a change of the address that was asked for at this time, when the account held only what it holds now."""
    held = one.world.rows("SELECT organization_id, role FROM memberships WHERE confirmed_at IS NOT NULL")
    roles = {str(organization_id): role for organization_id, role in held} if since == one.world.clock() else {}
    grants = (
        dict.fromkeys(map(str, (row[0] for row in one.world.rows("SELECT id FROM services"))), "viewer")
        if roles
        else {}
    )
    data = {
        "memberships": {},
        "is_platform_owner": False,
        "signed_in_at": "2026-01-01T00:00:00+00:00",
        "requested_at": since.isoformat(),
        "held": {"roles": roles, "grants": grants},
    }
    one.world.connection.execute(
        """
        INSERT INTO one_time_tokens (token_hash, purpose, user_id, email, data, created_at, expires_at)
        VALUES (%s, 'undo_email_change', %s, 'ada@before.example', %s, %s, %s)
        """,
        (
            hashlib.sha256(RESET_TOKEN.encode()).digest(),
            one.user_id,
            Jsonb(data),
            since,
            one.world.clock() + timedelta(days=1),
        ),
    )
    # The undo reads since when the app is there, with its secret.
    one.world.connection.execute("UPDATE totp_secrets SET enabled_at = NULL")
    await one.world.installation.database.transact(
        lambda uow: uow.totp_secrets.put_pending(
            one.user_id, Secret("JBSWY3DPEHPK3PXP"), at=uow.now, is_of_limited_session=False
        )
    )
    one.world.connection.execute("UPDATE totp_secrets SET enabled_at = created_at")
    answer = await one.world.client.post(
        "/auth/undo-email-change",
        data=f"token={RESET_TOKEN}".encode(),
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )
    assert answer.status == 200, answer.text


async def close(one: Everything) -> None:
    # A member cannot close the account; what the membership brought along is none of this.
    one.world.connection.execute(
        "DELETE FROM memberships WHERE confirmed_at IS NOT NULL AND role <> 'owner' AND made_for IS NULL"
    )
    of_membership = (Issued.MEMBERSHIP, Issued.SERVICE_GRANT, Issued.SETUP_LINK, Issued.ORGANIZATION_KEY)
    of_customer = (Issued.SERVICE_ASSIGNMENT, Issued.CUSTOMER_VISIT, Issued.CUSTOMER_ASSIGNMENT)
    for issued in (*of_membership, Issued.SETUP_LINK_BY_KEY, Issued.CUSTOMER_SETUP_LINK, *of_customer):
        del one.ids[issued]
    answer = await one.world.client.delete("/api/user", token=await _signed_in(one))
    assert answer.status == 204, answer.text


async def lock(one: Everything) -> None:
    answer = await one.world.client.post("/api/user/lock", token=await _signed_in(one))
    assert answer.status == 204, answer.text


async def anonymize(one: Everything) -> None:
    root = await one.world.signed_in_platform_owner()
    answer = await root.delete(f"/api/privacy/forget/{one.user_id}")
    assert answer.status == 200, answer.text


async def delete_account(one: Everything) -> None:
    # Its organization may delete it once no other one has a row for it, and no registration waits for a proof.
    one.world.connection.execute("UPDATE open_registrations SET expires_at = created_at")
    one.world.connection.execute(
        "DELETE FROM service_users WHERE user_id = %s AND organization_id <> %s",
        (one.user_id, one.team.organization_id),
    )
    one.world.connection.execute(
        "DELETE FROM memberships WHERE user_id = %s AND organization_id <> %s", (one.user_id, one.team.organization_id)
    )
    one.world.connection.execute("UPDATE users SET email_verified_at = NULL WHERE id = %s", (one.user_id,))
    await delete_by_directory(one)


async def delete_service(one: Everything) -> None:
    one.world.connection.execute(
        "UPDATE subscriptions SET status = 'cancelled' WHERE organization_id = %s", (one.team.organization_id,)
    )
    answer = await one.team.request("owner", "DELETE", "/services/shop")
    assert answer.status == 204, answer.text


async def delete_organization(one: Everything) -> None:
    root = await one.world.signed_in_platform_owner()
    answer = await root.delete(f"/api/platform/organizations/{one.team.organization_id}")
    assert answer.status == 204, answer.text


async def delete_restorably(one: Everything) -> None:
    answer = await one.team.request("owner", "DELETE", "")
    assert answer.status == 204, answer.text
    assert one.world.value("SELECT status FROM organizations WHERE slug = 'acme'") == "deleting"


async def end_customer(one: Everything) -> None:
    one.world.connection.execute("DELETE FROM service_customers")


async def delete_key(one: Everything, query: str = "") -> None:
    answer = await one.team.request("owner", "DELETE", f"/keys/{one.ids[Issued.ORGANIZATION_KEY]}{query}")
    assert answer.status == 204, answer.text


async def delete_key_with_made(one: Everything) -> None:
    await delete_key(one, "?with_made=true")


async def _signed_in(one: Everything) -> str:
    """Return the access token of a session of the user that is not one of those issued."""
    one.world.connection.execute("UPDATE users SET mfa_enabled_at = NULL WHERE id = %s", (one.user_id,))
    return (await one.world.sign_in(one.email)).access_token


CARRIED_OUT: dict[Cause, Callable[[Everything], Awaitable[None]]] = {
    Cause.LEAVING: leave,
    Cause.DIRECTORY_DELETION: delete_by_directory,
    Cause.SUSPENSION: deactivate,
    Cause.REVOCATION: revoke_by_provider,
    Cause.DEACTIVATION: deactivate,
    Cause.ADDRESS_CHANGE: change_address,
    Cause.FIRST_PROOF: first_proof,
    Cause.PASSWORD_RESET: reset_password,
    Cause.SIGN_OUT_ELSEWHERE: sign_out_elsewhere,
    Cause.UNDO_OF_LATER: undo_of_later,
    Cause.UNDO_OF_EARLIER: undo_of_earlier,
    Cause.LOCK: lock,
    Cause.CLOSING: close,
    Cause.ANONYMIZATION: anonymize,
    Cause.ACCOUNT_DELETION: delete_account,
    Cause.SERVICE_DELETION: delete_service,
    Cause.ORGANIZATION_DELETION: delete_organization,
    Cause.RESTORABLE_DELETION: delete_restorably,
    Cause.CUSTOMER_END: end_customer,
    Cause.KEY_DELETION: delete_key,
    Cause.KEY_DELETION_WITH_MADE: delete_key_with_made,
}


@pytest.mark.parametrize("cause", Cause, ids=lambda cause: cause.name.lower())
async def test_a_cause_ends_what_the_table_says_and_nothing_else(acme: Team, cause: Cause) -> None:
    one = issued_to(acme, "ada@acme.example" if cause is Cause.DEACTIVATION else "ada@example.com")
    assert one.alive() == set(Issued), "something does not hold from the beginning"

    await CARRIED_OUT[cause](one)

    assert set(one.ids) - one.alive() == ENDED_BY[cause]


def test_every_cause_and_everything_issued_is_in_the_table() -> None:
    assert set(ENDED_BY) == set(Cause) == set(CARRIED_OUT)
    assert frozenset[Issued]().union(*ENDED_BY.values()) == set(Issued)


# A table with one of these keeps something that opens something: a token, a session, a link, a key, a grant.
TELLING_COLUMN = re.compile(r"^    (\w*_hash|session_id|credential_id|\w+_sealed|confirmed_at|origin) ", re.MULTILINE)
TELLING_NAME = re.compile(r"session|token|link|grant|key|invitation|subscription|identit|membership|consent|code")
# What such a table keeps that was not issued to a person or for one, and what ends it.
NOT_ISSUED = {
    "authorization_requests": "a request of a service that waits; who answers it is checked then",
    "billing_checkouts": "a page of the payment provider, on which a plan is bought",
    "billing_subscriptions": "what the payment provider says of a subscription",
    "browser_returns": "where a browser goes on; it opens nothing",
    "branding_pictures": "pictures by the hash of their content",
    "connection_keys": "our keys at the identity provider of a connection, which end with it",
    "custom_domains": "a claim of an organization",
    "departed_identities": "who signed in by a connection before they left; it opens nothing",
    "login_events": "a log",
    "logout_notices": "a notice that a session has ended",
    "mail_servers": "the password of an organization's mail server, which it has entered",
    "mails": "the outbox; the tokens in it are those of the other tables",
    "membership_totals": "counts",
    "recent_acts": "what young credentials did, for the undo of a takeover",
    "oauth_credentials": "the secret of an organization at a provider, which it has entered",
    "organization_roles": "what a role allows",
    "passkey_challenges": "a challenge, which counts up to a number of the account",
    "request_sign_ins": "which request the form of a sign-in belonged to; it ends with the session",
    "saml_certificates": "keys of a service, which end with it",
    "saml_logouts": "a logout on its way",
    "saml_requests": "a request of a service provider that waits; who answers it is checked then",
    "sandbox_sessions": "a page of the payment sandbox",
    "sandbox_subscriptions": "what the payment sandbox says of a subscription",
    "server_secrets": "the installation's own",
    "services": "the secret of a service, which ends with it",
    "setup_visits": "the browser of a setup link, which ends with the link",
    "siem_streams": "the token of an organization's receiver, which it has entered",
    "shown_secrets": "what the session that made it is about to be shown; no other session, and no ended one, reads it",
    "sign_in_failures": "attempts that are counted",
    "signing_keys": "the installation's own",
    "elliptic_signing_keys": "the installation's own",
    "single_uses": "what was used up",
    "provider_sessions": "how an identity provider names a session, for the logout",
    "upstream_connections": "the secret of an organization at its provider, which it has entered",
    "users": "the account itself; its password is replaced or removed with the account",
    "bulk_jobs": "it acts in the session of its maker, and ends with that",
    "subscription_changes": "what was sold, as a record",
    "subscription_days": "what was sold, added up",
    "subscription_totals": "what is sold, added up",
    "trial_sign_ins": "a test sign-in that signs nobody in; it is of a browser session, and ends within minutes",
    "webhooks": "the secret that signs deliveries, which the organization holds",
}


def test_a_table_that_keeps_something_issued_is_named() -> None:
    schema = (Path(__file__).parents[2] / "ops" / "schema.sql").read_text(encoding="utf-8")
    tables = dict(re.findall(r"^CREATE TABLE (\w+) \(\n(.*?)^\)", schema, re.MULTILINE | re.DOTALL))
    telling = {name for name, columns in tables.items() if TELLING_COLUMN.search(columns) or TELLING_NAME.search(name)}

    named = {issued.table for issued in Issued}
    assert telling - named - set(NOT_ISSUED) == set(), "name what ends it in core/endings.py"
    assert set(NOT_ISSUED) <= set(tables)
    assert named <= set(tables)
    assert named.isdisjoint(NOT_ISSUED)
