"""A form of a mailed link that is refused, because its user has signed in meanwhile, leads back to the link."""

from __future__ import annotations

import re
from html import unescape

from tests.application import Answer
from tests.world.builder import PASSWORD
from tests.world.inviter import Inviter
from tests.world.registrations import CONFIRM, path_of
from tests.world.visitor import Visitor

ACCEPT, DECLINE = "/app/invitations/accept", "/app/invitations/decline"
OTHER = "other@example.com"


def loaded_again(page: Answer) -> str:
    """Return where the button leads that loads the form again."""
    [address] = re.findall(r'href="([^"]+)">Load the form again<', page.text)
    return unescape(address)


async def test_the_form_of_an_invitation_is_loaded_again_with_its_link(inviter: Inviter, visitor: Visitor) -> None:
    inviter.world.user(OTHER)
    invitation = await inviter.invite()
    page = await visitor.open(ACCEPT + invitation.link)
    await visitor.sign_in(OTHER)

    refused = [await visitor.submit(page, action, password=PASSWORD) for action in (ACCEPT, DECLINE)]
    again = await visitor.open(loaded_again(refused[0]))
    joined = await visitor.submit(again, ACCEPT, password=PASSWORD)

    assert [one.status for one in refused] == [403, 403]
    assert loaded_again(refused[1]) == loaded_again(refused[0])
    assert "You are a member of Acme" in joined.text


async def test_the_form_of_a_registration_is_loaded_again_with_its_link(inviter: Inviter, visitor: Visitor) -> None:
    await inviter.world.register("new@example.com", PASSWORD)
    link = path_of((await inviter.world.mails())[-1].values["token"])
    inviter.world.user(OTHER)
    page = await visitor.open(link)
    await visitor.sign_in(OTHER)

    refused = await visitor.submit(page, CONFIRM, password=PASSWORD)
    done = await visitor.submit(await visitor.open(loaded_again(refused)), CONFIRM, password=PASSWORD)

    assert refused.status == 403
    assert "new@example.com" in done.text


async def test_what_another_site_sends_names_no_link(inviter: Inviter, visitor: Visitor) -> None:
    page = await visitor.open(ACCEPT + (await inviter.invite()).link)

    refused = await visitor.submit(page, ACCEPT, headers={"Sec-Fetch-Site": "cross-site"})

    assert refused.status == 403
    assert "token=" not in refused.text
