"""People who have left an organization and come back are linked again by its connection."""

from __future__ import annotations

from html import unescape
from typing import LiteralString

import pytest
import trio

from core.accounts import addresses
from core.accounts.sign_in_methods import Provider
from core.accounts.users import User
from core.organizations import departures
from tests.application import Answer
from tests.openid_provider import CLIENT_ID, CLIENT_SECRET
from tests.waiting import waiting_for_a_lock
from tests.world.builder import PASSWORD
from tests.world.openid_acme import Acme
from tests.world.openid_connection import CONNECTIONS
from tests.world.visitor import Visitor, forms_of

ADA = "ada@acme.example"
PRIVATE = "ada@private.example"
SIGN_IN, CODE = "/app/sign-in", "/app/sign-in/code"


@pytest.fixture
async def ada(acme: Acme) -> Acme:
    """Acme with Ada, who signs in by its connection to an account that she had before, and has no other way."""
    acme.world.member(acme.organization_id, acme.world.user(ADA))
    asked = await acme.sign_in()
    methods = await acme.visitor.submit(asked, SIGN_IN, email=ADA)
    await acme.visitor.submit(methods, "/app/sign-in/password", password=PASSWORD)
    acme.world.remove_password(ADA)
    assert (acme.identities, acme.live_sessions) == (1, 1)
    return acme


async def leave(acme: Acme) -> None:
    """Remove Ada from Acme."""
    answer = await acme.owner.post(f"/api/organizations/acme/members/{acme.world.user_id(ADA)}")
    assert answer.status == 200, answer.text
    assert (acme.identities, acme.live_sessions) == (0, 0)
    acme.visitor.cookies.clear()


def come_back(acme: Acme, role: str = "member") -> None:
    """Make Ada a member of Acme again, as its directory or an administrator does."""
    acme.world.member(acme.organization_id, acme.world.user_id(ADA), role, is_confirmed=False)


def present(user: User | None) -> User:
    """Return a user who is there."""
    assert user is not None
    return user


def assert_asked_to_link(acme: Acme, page: Answer) -> None:
    """Assert that a page asks for a sign-in to the account, and that nothing is linked."""
    assert any(form.action == SIGN_IN for form in forms_of(page)), page.text
    assert (acme.identities, acme.live_sessions, acme.visitor.has_session) == (0, 0, False)


@pytest.mark.parametrize("by", ["joins_as", "directory", "service"])
async def test_who_has_come_back_signs_in_without_another_way(ada: Acme, by: str) -> None:
    await leave(ada)
    if by == "joins_as":
        await ada.change(joins_as="member")
    elif by == "directory":
        come_back(ada)
    else:
        ada.world.link(ada.organization_id, ada.world.service(ada.organization_id)[0], ada.world.user_id(ADA))

    await ada.sign_in()

    assert (ada.identities, ada.live_sessions) == (1, 1)
    assert ada.world.value("SELECT user_id FROM identities") == ada.world.user_id(ADA)
    assert ada.world.value("SELECT count(*) FROM departed_identities") == 0
    assert [mail.to for mail in await ada.world.mails() if mail.template == "identity_linked"][-1:] == [ADA]


async def test_where_the_connection_is_required_each_sign_in_ends_signed_in(ada: Acme) -> None:
    await ada.change(joins_as="member")
    await ada.enforce()
    for times in (1, 2):
        await leave(ada)

        await ada.sign_in()

        assert (ada.identities, ada.live_sessions) == (1, 1), times


async def test_who_does_not_belong_again_is_asked_to_sign_in_once(ada: Acme) -> None:
    await leave(ada)

    assert_asked_to_link(ada, await ada.sign_in())


async def test_a_role_besides_that_of_the_connection_takes_a_mailed_code(ada: Acme) -> None:
    await leave(ada)
    come_back(ada, "admin")

    page = await ada.sign_in()

    assert ada.live_sessions == 0
    [mail] = [one for one in await ada.world.mails() if one.template == "magic_link"]
    await ada.visitor.submit(page, CODE, code=mail.values["code"])
    assert ada.live_sessions == 1


async def test_a_suspended_member_is_not_linked_again(ada: Acme) -> None:
    await leave(ada)
    come_back(ada)
    ada.world.connection.execute(
        "UPDATE memberships SET suspended_at = now() WHERE user_id = %s", (ada.world.user_id(ADA),)
    )

    assert_asked_to_link(ada, await ada.sign_in())


@pytest.mark.parametrize("column", ["deactivated_at", "closed_at", "disowned_at", "locked_at"])
async def test_an_account_that_nothing_opens_is_not_linked_again(ada: Acme, column: LiteralString) -> None:
    await leave(ada)
    come_back(ada)
    ada.world.connection.execute(f"UPDATE users SET {column} = now() WHERE email = %s", (ADA,))

    await ada.sign_in()

    assert (ada.identities, ada.live_sessions) == (0, 0)


async def test_an_account_with_a_private_address_is_not_linked_again(ada: Acme) -> None:
    await leave(ada)
    come_back(ada)
    ada.world.connection.execute("UPDATE users SET email = %s WHERE email = %s", (PRIVATE, ADA))

    await ada.sign_in()

    # The address is free, so the provider makes another account of it.
    assert ada.world.value("SELECT count(*) FROM identities WHERE user_id = %s", ada.world.user_id(PRIVATE)) == 0


async def test_another_id_of_the_provider_is_somebody_else(ada: Acme) -> None:
    await leave(ada)
    come_back(ada)
    ada.provider.claims = {"sub": "another", "email": ADA, "email_verified": True}

    assert_asked_to_link(ada, await ada.sign_in())


async def test_another_connection_of_the_organization_links_nobody_again(ada: Acme) -> None:
    await leave(ada)
    come_back(ada)
    body = {"type": "oidc", "name": "Second", "issuer": ada.provider.url, "client_id": CLIENT_ID}
    made = await ada.owner.post(CONNECTIONS, {**body, "client_secret": CLIENT_SECRET})
    assert made.status == 200, made.text

    departed = await ada.visitor.send("GET", f"/auth/upstream?connection_id={made.json['id']}")
    page = await ada.visitor.open(ada.provider.sign_in(departed.headers["Location"]))

    assert_asked_to_link(ada, page)


async def test_a_connection_that_leads_elsewhere_links_nobody_again(ada: Acme) -> None:
    await leave(ada)
    come_back(ada)

    # The id may be another person's there; back at the first one it is not known again either.
    for mapping in ({"id": "employee"}, {}):
        await ada.change(attribute_mapping=mapping)

    assert_asked_to_link(ada, await ada.sign_in())


async def test_a_first_proof_of_the_address_ends_what_was_linked(ada: Acme) -> None:
    await leave(ada)
    come_back(ada)
    await ada.world.installation.database.transact(
        lambda uow: addresses.reclaim(uow, present(uow.users.lock(ada.world.user_id(ADA))))
    )

    assert_asked_to_link(ada, await ada.sign_in())


async def test_what_ends_it_while_a_sign_in_waits_for_the_account_ends_it(ada: Acme) -> None:
    await leave(ada)
    come_back(ada)
    pages: list[Answer] = []

    async def sign_in() -> None:
        pages.append(await ada.sign_in())

    async with trio.open_nursery() as nursery:
        with ada.world.connection.transaction():
            ada.world.rows("SELECT FROM users WHERE email = %s FOR UPDATE", ADA)
            nursery.start_soon(sign_in)
            await waiting_for_a_lock(ada.world.connection)
            ada.world.connection.execute("DELETE FROM departed_identities")

    assert_asked_to_link(ada, pages[0])


async def test_what_unlinks_everything_of_an_account_ends_what_was_linked(ada: Acme) -> None:
    await leave(ada)
    come_back(ada)
    await ada.world.installation.database.transact(lambda uow: uow.identities.remove_all(ada.world.user_id(ADA)))

    assert_asked_to_link(ada, await ada.sign_in())


async def test_a_change_of_address_out_of_the_domain_and_back_links_nobody_again(ada: Acme) -> None:
    user_id = ada.world.user_id(ADA)
    await ada.world.installation.database.transact(
        lambda uow: departures.leave_mail_domain(uow, user_id, old_domain="acme.example", new_domain="private.example")
    )
    ada.visitor.cookies.clear()

    assert_asked_to_link(ada, await ada.sign_in())


async def test_what_is_unlinked_by_hand_is_not_linked_again(ada: Acme) -> None:
    await leave(ada)
    come_back(ada)
    user_id = ada.world.user_id(ADA)
    await ada.world.installation.database.transact(lambda uow: uow.identities.remove(user_id, Provider.UPSTREAM, None))

    assert_asked_to_link(ada, await ada.sign_in())


@pytest.mark.parametrize("is_back", [True, False])
async def test_the_explanation_and_a_trial_say_what_the_sign_in_does(ada: Acme, *, is_back: bool) -> None:
    await leave(ada)
    come_back(ada)
    if not is_back:
        ada.world.connection.execute("UPDATE memberships SET suspended_at = now() WHERE role = 'member'")

    told = await ada.owner.get(
        f"/api/organizations/acme/why?email={ADA}&way=connection&connection_id={ada.connection_id}"
    )
    console = Visitor(ada.world.client)
    await console.sign_in(ada.owner.email)
    page = f"/app/organizations/acme/sign-in/connections/{ada.connection_id}"
    begun = await console.submit(await console.open(page), f"{page}/trial", is_followed=False)
    address = unescape(begun.headers["Refresh"].partition("url=")[2])
    trial = await console.open(ada.provider.sign_in(address))

    rules = {one["rule"] for walk in told.json["ways"] for one in walk["rules"]}
    assert ("link" in rules, "The account is linked to this connection" in trial.text) == (not is_back, is_back)
    page = await ada.sign_in()
    assert ada.identities == is_back


async def test_who_has_left_is_exported_and_forgotten_with_the_person(ada: Acme) -> None:
    await leave(ada)
    user_id = ada.world.user_id(ADA)
    owner = await ada.world.signed_in_platform_owner()

    exported = await owner.get(f"/api/privacy/export/{user_id}")
    await owner.delete(f"/api/privacy/forget/{user_id}")

    [one] = exported.json["oauth_identities"]
    assert (one["provider"], one["provider_user_id"], one["linked_at"] is None) == ("upstream", "employee-1", False)
    assert one["left_at"] is not None
    assert ada.world.value("SELECT count(*) FROM departed_identities") == 0
