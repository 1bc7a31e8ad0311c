"""Who may sign in by an organization's connection, and what such a session may change of the account."""

from __future__ import annotations

from uuid import UUID

import pytest

from core.organizations import departures
from tests.shown_text import shows
from tests.upstream_provider import Account
from tests.world.builder import PASSWORD
from tests.world.openid_acme import Acme
from tests.world.saml import SamlWorld
from tests.world.second_factors import insert_person
from tests.world.upstream import Upstream
from tests.world.visitor import Visitor
from tests.world.world import World

ADA = "ada@acme.example"
PRIVATE = "ada@private.example"
PAGE = "/app/account/second-factor"
REFUSED = "You do not belong to this organization any more"


async def private_account(acme: Acme) -> UUID:
    """Sign Ada in by the connection; return the account, whose address is private from then on."""
    await acme.sign_in()
    acme.visitor.cookies.clear()
    user_id = acme.world.user_id(ADA)
    acme.world.connection.execute("UPDATE users SET email = %s WHERE id = %s", (PRIVATE, user_id))
    return user_id


@pytest.mark.parametrize("joins_as", ["", "member"])
async def test_the_provider_of_a_former_employer_opens_no_private_account(acme: Acme, joins_as: str) -> None:
    await acme.change(joins_as=joins_as)
    user_id = await private_account(acme)
    acme.world.connection.execute("DELETE FROM memberships WHERE user_id = %s", (user_id,))

    page = await acme.sign_in()

    assert (page.status, REFUSED in page.text) == (403, True)
    assert (acme.identities, acme.live_sessions, acme.visitor.has_session) == (0, 0, False)
    assert acme.world.role_of(acme.organization_id, PRIVATE) is None
    assert acme.world.events("user.login.failed")[-1][2]["reason"] == "not_of_organization"


async def test_a_member_and_an_end_user_sign_in_with_a_private_address(acme: Acme) -> None:
    user_id = await private_account(acme)
    service_id, _ = acme.world.service(acme.organization_id)
    acme.world.link(acme.organization_id, service_id, user_id)

    await acme.sign_in()
    assert acme.visitor.has_session
    acme.world.connection.execute("DELETE FROM service_users")
    acme.world.member(acme.organization_id, user_id)
    acme.visitor.cookies.clear()
    await acme.sign_in()

    assert acme.visitor.has_session


async def test_a_member_of_another_organization_is_no_member_of_this_one(acme: Acme) -> None:
    user_id = await private_account(acme)
    globex = acme.world.organization("globex")
    acme.world.member(globex, user_id)
    acme.world.link(globex, acme.world.service(globex)[0], user_id)

    assert (await acme.sign_in()).status == 403


async def test_a_suspended_member_is_refused_and_signs_in_again_when_restored(acme: Acme) -> None:
    user_id = await private_account(acme)
    acme.world.member(acme.organization_id, user_id)
    acme.world.connection.execute("UPDATE memberships SET suspended_at = now() WHERE user_id = %s", (user_id,))

    assert (await acme.sign_in()).status == 403
    assert acme.identities == 1
    acme.world.connection.execute("UPDATE memberships SET suspended_at = NULL")
    await acme.sign_in()

    assert acme.visitor.has_session


async def test_the_session_of_somebody_who_has_left_signs_in_to_no_service(acme: Acme, saml: SamlWorld) -> None:
    await acme.change(joins_as="member")
    await acme.sign_in()
    service = await saml.service(acme.organization_id, "acme")
    acme.world.connection.execute("UPDATE users SET email = %s WHERE email = %s", (PRIVATE, ADA))
    acme.world.connection.execute("UPDATE saml_configurations SET members_only = false")
    acme.world.connection.execute("DELETE FROM memberships WHERE user_id = %s", (acme.world.user_id(PRIVATE),))

    asked = await acme.visitor.open(service.sso())
    page = await acme.visitor.submit(asked, f"{service.path}/authenticate")

    assert not shows(page.text, "SAMLResponse")
    assert (acme.identities, acme.live_sessions) == (0, 0)


async def test_leaving_unlinks_what_the_connections_of_the_organization_have_linked(acme: Acme) -> None:
    await acme.sign_in()
    user_id = acme.world.user_id(ADA)
    acme.world.connection.execute(
        """
        INSERT INTO identities (id, user_id, provider, subject, scopes, linked_at, used_at)
        VALUES (gen_random_uuid(), %s, 'codehost', '7', '{}', now(), now())
        """,
        (user_id,),
    )
    globex = acme.world.organization("globex")
    transact = acme.world.installation.database.transact

    await transact(departures.end, globex, [user_id])
    assert (acme.identities, acme.live_sessions) == (1, 1)
    await transact(departures.end, acme.organization_id, [user_id])

    assert (acme.identities, acme.live_sessions) == (0, 0)
    assert acme.world.value("SELECT provider FROM identities") == "codehost"


async def test_changing_the_address_to_one_outside_of_the_mail_domain_unlinks_the_account(acme: Acme) -> None:
    ada = await acme.world.signed_in_user(ADA)
    asked = await acme.sign_in()
    methods = await acme.visitor.submit(asked, "/app/sign-in", email=ADA)
    await acme.visitor.submit(methods, "/app/sign-in/password", password=PASSWORD)
    assert (acme.identities, acme.live_sessions) == (1, 1)

    await acme.world.change_address(ada.token, "ada.l@acme.example")
    assert (acme.identities, acme.live_sessions) == (1, 1)
    await acme.world.change_address(ada.token, PRIVATE)

    assert (acme.identities, acme.live_sessions) == (0, 0)
    assert (acme.organization_id, PRIVATE) in {one[:2] for one in acme.world.events("session.revoked")}


async def test_a_connection_that_is_switched_off_behind_a_session_lets_it_begin_no_other(
    acme: Acme, saml: SamlWorld
) -> None:
    await acme.change(joins_as="member")
    await acme.sign_in()
    service = await saml.service(acme.organization_id, "acme")
    acme.world.connection.execute("UPDATE upstream_connections SET enabled = false")

    page = await acme.visitor.open(service.sso())

    assert not shows(page.text, "SAMLResponse")


async def with_second_factor(acme: Acme) -> None:
    """Sign Ada in by the connection, which is trusted, to her account with a second factor."""
    await acme.change(trust_mfa=True)
    await acme.sign_in()
    acme.world.connection.execute("UPDATE users SET mfa_enabled_at = now() WHERE email = %s", (ADA,))
    await acme.sign_in_confirmed()


@pytest.mark.parametrize("action", ["disable", "backup-codes"])
async def test_a_connection_that_is_trusted_does_not_change_the_factors_of_the_account(acme: Acme, action: str) -> None:
    await with_second_factor(acme)
    page = await acme.visitor.open(PAGE)

    answer = await acme.visitor.submit(page, f"{PAGE}/{action}")

    assert answer.status == 403
    assert "Sign in again with your second factor to do this" in answer.text
    assert acme.world.value("SELECT mfa_enabled_at IS NOT NULL FROM users WHERE email = %s", ADA)


async def test_a_connection_that_is_trusted_neither_adds_nor_removes_passkeys(acme: Acme) -> None:
    await with_second_factor(acme)

    assert (await acme.visitor.open("/app/account/passkeys/new")).status == 403


@pytest.mark.parametrize("by", ["connection", "codehost"])
async def test_no_provider_opens_a_closed_account_again(acme: Acme, upstream: Upstream, by: str) -> None:
    if by == "connection":
        await acme.sign_in()
    else:
        await upstream.sign_in(account=Account(email=ADA))
    assert acme.visitor.has_session
    acme.visitor.cookies.clear()
    acme.world.connection.execute("UPDATE users SET closed_at = %s WHERE email = %s", (acme.world.clock(), ADA))
    acme.world.connection.execute("UPDATE sessions SET revoked_at = now() WHERE provider <> 'password'")

    page = await (acme.sign_in() if by == "connection" else upstream.sign_in(account=Account(email=ADA)))

    assert (page.status, "This account is closed" in page.text) == (401, True)
    assert not acme.visitor.has_session
    assert acme.world.value("SELECT closed_at IS NOT NULL FROM users WHERE email = %s", ADA)


async def test_a_password_reopens_a_closed_account(world: World, visitor: Visitor) -> None:
    insert_person(world)
    world.connection.execute("UPDATE users SET closed_at = %s", (world.clock(),))

    await visitor.sign_in()

    assert visitor.has_session


async def test_a_second_half_of_a_sign_in_is_checked_again(acme: Acme) -> None:
    ada = insert_person(acme.world, ADA)
    asked = await acme.sign_in()
    methods = await acme.visitor.submit(asked, "/app/sign-in", email=ADA)
    await acme.visitor.submit(methods, "/app/sign-in/password", password=PASSWORD)
    await ada.turn_mfa_on()
    acme.visitor.cookies.clear()
    code_page = await acme.sign_in()
    acme.world.connection.execute("UPDATE users SET email = %s WHERE id = %s", (PRIVATE, ada.id))

    refused = await acme.visitor.submit(code_page, "/app/second-factor", code=ada.code(1))

    assert (refused.status, REFUSED in refused.text) == (403, True)
    assert (acme.identities, acme.visitor.has_session) == (0, False)


async def test_the_code_of_the_account_in_a_session_by_a_connection_does_change_its_factors(acme: Acme) -> None:
    ada = insert_person(acme.world, ADA)
    asked = await acme.sign_in()
    methods = await acme.visitor.submit(asked, "/app/sign-in", email=ADA)
    await acme.visitor.submit(methods, "/app/sign-in/password", password=PASSWORD)
    await ada.turn_mfa_on()
    acme.visitor.cookies.clear()
    code_page = await acme.sign_in()
    await acme.visitor.submit(code_page, "/app/second-factor", code=ada.code(1))

    answer = await acme.visitor.submit(await acme.visitor.open(PAGE), f"{PAGE}/disable")

    assert answer.status == 200
    assert not acme.world.value("SELECT mfa_enabled_at IS NOT NULL FROM users WHERE email = %s", ADA)
