"""What the attacker does with what she holds, besides provisioning (`giving.py`): her sessions, and her mailboxes."""

from __future__ import annotations

from tests.tenants import acting, judging, living
from tests.tenants.giving import picked
from tests.tenants.model import Way
from tests.tenants.neighbourhood import Neighbourhood
from tests.tenants.taking import Story, step

GIVING, LEAVING, REGISTERING, CONNECTING = Story.GIVING, Story.LEAVING, Story.REGISTERING, Story.CONNECTING


@step(GIVING, LEAVING, REGISTERING)
async def attacker_signs_in(hood: Neighbourhood, address: str, at: str) -> None:
    """Try the attacker's password for any address, at any service."""
    await acting.sign_in(hood, hood.eve, address, at)


@step(REGISTERING)
async def attacker_guesses_code(hood: Neighbourhood, address: str, own: str) -> None:
    """Ask for a mail to any address, and send the code of a mail of the attacker's, then guesses."""
    asked = await hood.send("POST", "/api/auth/magic-link/request", {"email": address}, by=hood.eve)
    of_eve = await acting.ask_for_code(hood, hood.eve, own)
    for code in (*([of_eve.code] if of_eve is not None and of_eve.code else []), "123456", "000000"):
        held = await acting.send_code(hood, hood.eve, asked.json["challenge_id"], code)
        await judging.judge(hood, held)


@step(GIVING)
async def attacker_gets_in(hood: Neighbourhood, own: str) -> None:
    """Choose a password by the attacker's mailbox, and sign in."""
    if await acting.reset(hood, hood.eve, own):
        await acting.sign_in(hood, hood.eve, own)


@step(GIVING, CONNECTING)
async def attacker_changes_address(hood: Neighbourhood, pick: int, own: str) -> None:
    """Change the address of an account to the attacker's, with any session that she holds."""
    held = picked(judging.live(hood, hood.eve), pick)
    if held is not None and await acting.change_address(hood, held, own):
        _opened(hood, held.way, held.user_id)


@step(GIVING, CONNECTING)
async def attacker_sets_password(hood: Neighbourhood, pick: int, whole: bool) -> None:
    """Set a password with any session that the attacker or the employer holds."""
    person = hood.employer if whole else hood.eve
    held = picked(judging.live(hood, person), pick)
    if held is None:
        return
    body = {"new_password": hood.eve.password}
    answer = await hood.send("POST", "/api/user/set-password", body, token=held.access_token, by=person)
    if answer.status == 200:
        _opened(hood, held.way, held.user_id)


@step(LEAVING)
async def attacker_refreshes(hood: Neighbourhood, pick: int) -> None:
    held = picked(judging.live(hood, hood.eve), pick)
    if held is not None:
        await judging.refresh(hood, held)


@step(GIVING)
async def attacker_opens_mail(hood: Neighbourhood, own: str) -> None:
    """Answer what organizations have mailed to the attacker's address."""
    for of in hood.organizations:
        await living.accept(hood, hood.eve, of, own)
    for mail in (await hood.mails(own, "membership_added"))[-1:]:
        await hood.send_form("/app/invitations/confirmation", {"token": mail.values["token"]}, by=hood.eve)


def _opened(hood: Neighbourhood, way: Way, user_id: str) -> None:
    """Record that A opened an account with a session of its own, which the rules allow for one that is A's alone."""
    if way is not Way.PERSON:
        hood.model.opened.add(user_id)
