"""Invited people whose domain is routed to a connection: they join, and go on to it."""

from __future__ import annotations

import pytest

from tests.application import Answer
from tests.world.builder import PASSWORD
from tests.world.openid_acme import Acme
from tests.world.visitor import Visitor, forms_of

ACCEPT = "/app/invitations/accept"
JOINED = "/app/invitations/joined/acme"
GUEST = "guest@acme.example"


async def invited(acme: Acme) -> str:
    """Invite the guest, and return the path of the link."""
    sent = await acme.owner.post("/api/organizations/acme/invitations", {"email": GUEST, "role": "member"})
    assert sent.status == 200, sent.text
    values = (await acme.world.mails())[-1].values
    return f"{ACCEPT}?token={values['token']}&proof={values['proof']}"


def ways_of(page: Answer) -> list[str]:
    """Return the ways to accept that a page offers."""
    return [form.fields["by"] for form in forms_of(page) if form.action == ACCEPT]


async def by_connection(acme: Acme, page: Answer) -> Answer:
    """Press the button of the connection, and sign in there; return the page that follows."""
    [form] = [form for form in forms_of(page) if form.fields.get("by") == "connection"]
    leading = await acme.visitor.post(ACCEPT, form.fields)
    address = leading.headers["Refresh"].partition("url=")[2]
    assert address.startswith("/auth/upstream?")
    departure = (await acme.visitor.send("GET", address)).headers["Location"]
    acme.provider.claims = {"sub": "guest", "email": GUEST}
    return await acme.visitor.open(acme.provider.sign_in(departure))


def role_of(acme: Acme) -> str | None:
    """Return the guest's role."""
    return acme.world.role_of(acme.organization_id, GUEST)


async def test_a_new_person_joins_and_signs_in_by_the_connection_alone(acme: Acme) -> None:
    await acme.enforce()
    page = await acme.visitor.open(await invited(acme))

    done = await by_connection(acme, page)
    going_on = await acme.visitor.submit(done, "/app/choose-organization")

    assert ways_of(page) == ["connection"]
    assert "You are a member of Acme" in done.text
    assert going_on.status == 200
    assert role_of(acme) == "member"
    assert acme.world.value("SELECT confirmed_at IS NOT NULL FROM memberships WHERE role = 'member'")
    assert await acme.world.mails() == []


async def test_an_account_that_another_person_has_prepared_is_theirs_no_more(acme: Acme) -> None:
    await acme.world.register(GUEST, PASSWORD)
    await acme.world.mails()
    await acme.enforce()
    page = await acme.visitor.open(await invited(acme))

    assert "You are a member of Acme" in (await by_connection(acme, page)).text
    assert acme.world.value("SELECT password_hash FROM users WHERE email = %s", GUEST) is None


async def test_a_person_who_gives_up_at_the_connection_comes_back_with_the_same_link(acme: Acme) -> None:
    await acme.enforce()
    path = await invited(acme)
    page = await acme.visitor.open(path)
    [form] = [form for form in forms_of(page) if form.fields.get("by") == "connection"]
    await acme.visitor.post(ACCEPT, form.fields)

    again = await acme.visitor.open(path)

    assert acme.world.value("SELECT confirmed_at FROM memberships WHERE role = 'member'") is None
    assert "You are a member of Acme" in (await by_connection(acme, again)).text


@pytest.mark.parametrize("has_account", [False, True])
async def test_a_connection_that_is_not_enforced_is_offered_beside_the_password(acme: Acme, has_account: bool) -> None:
    if has_account:
        acme.world.user(GUEST)
    page = await acme.visitor.open(await invited(acme))
    first = "password" if has_account else "new_password"

    done = await acme.visitor.submit(page, ACCEPT, password=PASSWORD)

    assert ways_of(page)[:2] == [first, "connection"]
    assert "You are a member of Acme" in done.text


async def test_a_password_does_not_go_round_an_enforced_connection(acme: Acme) -> None:
    """Not in a form that was open before, and not for an account."""
    path = await invited(acme)
    new = await acme.visitor.open(path)
    await acme.enforce()
    refused = await acme.visitor.submit(new, ACCEPT, password=PASSWORD)
    acme.world.user(GUEST)
    known = await Visitor(acme.world.client).open(path)

    assert refused.status == 400
    assert (ways_of(refused), ways_of(known)) == (["connection"], ["connection"])
    assert role_of(acme) is None


async def test_an_account_joins_first_and_links_the_connection_by_signing_in(acme: Acme) -> None:
    acme.world.user(GUEST)
    await acme.enforce()
    page = await acme.visitor.open(await invited(acme))

    asked = await by_connection(acme, page)

    assert role_of(acme) == "member"
    assert "/app/sign-in" in asked.text
