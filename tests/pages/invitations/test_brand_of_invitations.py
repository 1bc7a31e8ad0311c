"""The pages of an invitation show the brand and speak the language of their person, also after it was answered."""

from __future__ import annotations

import pytest

from core.mail.mail import MailTemplate
from core.organizations.settings.branding import Branding
from ports.unit_of_work import UnitOfWork
from tests.application import Answer
from tests.clock import SettableClock
from tests.world.builder import PASSWORD
from tests.world.inviter import GUEST, Invitation, Inviter
from tests.world.visitor import Visitor, forms_of

ACCEPT = "/app/invitations/accept"
CONFIRMATION = "/app/invitations/confirmation"
BRANDING = Branding(terms_url="https://acme.example/terms", updated_at=SettableClock()())


@pytest.fixture
async def acme(inviter: Inviter) -> Inviter:
    """An inviter whose organization has a brand."""

    def save(uow: UnitOfWork) -> None:
        uow.branding.save(inviter.organization_id, BRANDING)

    await inviter.world.installation.database.transact(save)
    return inviter


def is_branded(page: Answer) -> bool:
    """Whether a page shows the brand."""
    return "brand-head" in page.text and "https://acme.example/terms" in page.text


async def answered(inviter: Inviter, invitation: Invitation, by: str, *, link: str | None = None) -> Answer:
    """Press a button of the page in a browser of its own; return the page that follows."""
    visitor = Visitor(inviter.world.client)
    page = await visitor.open(ACCEPT + (link or invitation.link))
    [form] = [form for form in forms_of(page) if form.fields.get("by", "") == by]
    return await visitor.post(form.action, {**form.fields, "password": PASSWORD})


async def test_the_pages_after_an_answer_have_the_brand(acme: Inviter) -> None:
    acme.world.user("known@example.com")
    acme.world.user("passwordless@example.com", password_hash=None)
    without_proof = await acme.invite("first@example.com")

    pages = {
        "new": await answered(acme, await acme.invite("second@example.com"), "new_password"),
        "known": await answered(acme, await acme.invite("known@example.com"), "password"),
        "other way": await answered(acme, await acme.invite("passwordless@example.com"), "other_way"),
        "by mail": await answered(acme, without_proof, "mail", link=f"?token={without_proof.token}"),
        "declined": await answered(acme, await acme.invite("third@example.com"), ""),
    }

    assert [name for name, page in pages.items() if not is_branded(page)] == []


@pytest.mark.parametrize("path", [CONFIRMATION, f"{CONFIRMATION}/leave"])
async def test_the_pages_after_the_answer_to_a_membership_have_the_brand(acme: Inviter, path: str) -> None:
    await acme.accept_on_behalf(await acme.invite())
    [token] = [one.values["token"] for one in await acme.world.mails() if one.template is MailTemplate.MEMBERSHIP_ADDED]

    page = await Visitor(acme.world.client).post(path, {"token": token})

    assert (page.status, is_branded(page)) == (200, True)


async def test_a_new_account_keeps_the_language_in_which_its_person_has_joined(
    inviter: Inviter, visitor: Visitor
) -> None:
    invitation = await inviter.invite()
    visitor.headers["Accept-Language"] = "de"

    page = await visitor.submit(await visitor.open(ACCEPT + invitation.link), ACCEPT, password=PASSWORD)

    assert 'lang="de"' in page.text
    assert inviter.world.value("SELECT language FROM users WHERE email = %s", GUEST) == "de"
