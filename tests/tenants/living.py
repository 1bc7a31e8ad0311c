"""What people do, each with their own mailboxes: registering, proving, signing in, changing addresses, leaving."""

from __future__ import annotations

from core.accounts.links import CODE_TRIES_MAX
from core.platform.sign_in_checks import SignInWay
from core.platform.sign_in_questions import SignInQuestion
from tests.tenants import explaining, judging
from tests.tenants.acting import RESETS, ask_for_code, change_address, reset, send_code, sign_in
from tests.tenants.giving import joined_by_invitation, picked, removed
from tests.tenants.model import Held, Person, Violation
from tests.tenants.neighbourhood import Neighbourhood
from tests.tenants.taking import Story, step
from tests.world.mailed_codes import other_than

GIVING, SUSPENDING, LEAVING = Story.GIVING, Story.SUSPENDING, Story.LEAVING
REGISTERING, CONNECTING = Story.REGISTERING, Story.CONNECTING
JSON = {"Accept": "application/json"}
VERIFICATION = "verify_email"


@step(REGISTERING, SUSPENDING)
async def registers(hood: Neighbourhood, address: str) -> None:
    """The owner of an address registers it, and asks for the link again where no mail comes."""
    person = hood.model.owner_of(address)
    assert person is not None
    await _cause(hood, person, address, "/api/auth/register", {"email": address, "password": person.password})
    if not hood.caused.get(address):
        await _cause(hood, person, address, "/api/auth/resend-verification", {"email": address})


@step(REGISTERING)
async def attacker_registers(hood: Neighbourhood, address: str) -> None:
    body = {"email": address, "password": hood.eve.password}
    await hood.send("POST", "/api/auth/register", body, by=hood.eve)


@step(REGISTERING)
async def proves(hood: Neighbourhood, address: str) -> None:
    """The owner of an address opens the latest link that their own registration has sent."""
    person = hood.model.owner_of(address)
    assert person is not None
    caused = hood.caused.get(address)
    if caused:
        await hood.send("GET", f"/auth/verify-email?token={caused[-1]}", by=person, headers=JSON)
        await sign_in(hood, person, address)


@step(REGISTERING)
async def mail_scanner_opens(hood: Neighbourhood, address: str) -> None:
    """A program opens every link of the latest mail, as one does before the person reads it."""
    mails = await hood.mails(address, VERIFICATION, "verify_new_email", "magic_link", *RESETS)
    if mails:
        path = {VERIFICATION: "/auth/verify-email", "verify_new_email": "/auth/verify-email"}.get(
            mails[-1].template.value, "/auth/reset-password"
        )
        await hood.send("GET", f"{path}?token={mails[-1].values['token']}", headers={"Accept": "*/*"})


@step(SUSPENDING, REGISTERING, CONNECTING, Story.SWITCHING)
async def gets_in(hood: Neighbourhood, address: str) -> None:
    """The owner of an address chooses a new password by mail, and signs in with it."""
    person = hood.model.owner_of(address)
    assert person is not None
    if await reset(hood, person, address):
        await sign_in(hood, person, address)


@step(GIVING, LEAVING, SUSPENDING, Story.SWITCHING, Story.ADMITTING, Story.READING)
async def signs_in(hood: Neighbourhood, address: str, at: str) -> None:
    """The owner of an address signs in to a service or the platform, after a new password where theirs is refused."""
    person = hood.model.owner_of(address)
    assert person is not None
    if await sign_in(hood, person, address, at) is None and await reset(hood, person, address):
        await sign_in(hood, person, address, at)


@step(REGISTERING)
async def uses_magic_link(hood: Neighbourhood, address: str) -> None:
    person = hood.model.owner_of(address)
    assert person is not None
    await hood.send("POST", "/api/auth/magic-link/request", {"email": address}, by=person)
    mails = await hood.mails(address, "magic_link")
    if mails:
        token = {"token": mails[-1].values["token"]}
        predicted = await explaining.predict(hood, SignInQuestion(email=address, way=SignInWay.LINK))
        held = hood.hold(person, await hood.send("POST", "/api/auth/magic-link/verify", token, by=person))
        predicted.compare(hood, is_signed_in=held is not None)
        await judging.judge(hood, held)


@step(REGISTERING)
async def uses_mailed_code(hood: Neighbourhood, address: str, pick: int) -> None:
    """The owner of an address signs in with the code of a mail after up to five wrong ones, which leave the link."""
    person = hood.model.owner_of(address)
    assert person is not None
    challenge = await ask_for_code(hood, person, address)
    if challenge is None:
        return
    wrong = pick % 6
    for _ in range(wrong):
        await send_code(hood, person, challenge.id, other_than(challenge.code))
    predicted = await explaining.predict(hood, SignInQuestion(email=address, way=SignInWay.LINK))
    if challenge.code and wrong < CODE_TRIES_MAX:
        held = await send_code(hood, person, challenge.id, challenge.code)
    else:
        if challenge.code and await send_code(hood, person, challenge.id, challenge.code) is not None:
            raise Violation("guessed", f"{person.name} signed in by a code after five wrong ones")
        token = {"token": challenge.token}
        held = hood.hold(person, await hood.send("POST", "/api/auth/magic-link/verify", token, by=person))
    predicted.compare(hood, is_signed_in=held is not None)
    await judging.judge(hood, held)


@step(REGISTERING, CONNECTING)
async def moves_before_mailed_code(hood: Neighbourhood, address: str) -> None:
    """The owner of an address asks for a mail, moves to another address, and then uses the code."""
    person = hood.model.owner_of(address)
    assert person is not None
    challenge = await ask_for_code(hood, person, address)
    held = await sign_in(hood, person, address)
    if challenge is None or held is None:
        return
    is_moved = await change_address(hood, held, next(one for one in person.addresses if one != address))
    by_code = await send_code(hood, person, challenge.id, challenge.code or "000000")
    if is_moved and by_code is not None:
        raise Violation("outlived an address", f"{by_code}, by a code that was mailed to {address} before")
    await judging.judge(hood, by_code)


@step(GIVING)
async def accepts_invitation(hood: Neighbourhood, of: str, address: str) -> None:
    """The owner of an address accepts with the proof of the mailed link."""
    person = hood.model.owner_of(address)
    assert person is not None
    await accept(hood, person, of, address)


async def accept(hood: Neighbourhood, person: Person, of: str, address: str) -> None:
    """Accept the latest invitation to an address, with the proof of the mailed link."""
    wanted = [token for invited, _, token in hood.organizations[of].invitations if invited == address]
    for mail in reversed(await hood.mails(address, "invitation")):
        if mail.values["token"] in wanted:
            body = {"token": mail.values["token"], "proof": mail.values["proof"]}
            answer = await hood.send("POST", "/api/invitations/accept", body, by=person)
            joined_by_invitation(hood, of, address, answer)
            confirmed(hood, hood.organizations[of].slug, address)
            return


@step(GIVING, Story.ADMITTING)
async def confirms_membership(hood: Neighbourhood, address: str) -> None:
    """The owner of an address presses the button in the mail that tells of a membership."""
    person = hood.model.owner_of(address)
    assert person is not None
    for mail in (await hood.mails(address, "membership_added"))[-1:]:
        await hood.send_form("/app/invitations/confirmation", {"token": mail.values["token"]}, by=person)
        for organization in hood.organizations.values():
            confirmed(hood, organization.slug, address)


@step(GIVING, Story.SERVING, Story.READING)
async def selects(hood: Neighbourhood, name: str, of: str, pick: int) -> None:
    """A person selects an organization in one of their sessions."""
    held = picked(judging.live(hood, hood.person(name)), pick)
    if held is not None:
        await judging.select(hood, held, hood.organizations[of])


@step(LEAVING, Story.SERVING, Story.ADMITTING, Story.READING)
async def leaves(hood: Neighbourhood, name: str, of: str, pick: int) -> None:
    held: Held | None = picked(judging.live(hood, hood.person(name)), pick)
    if held is not None:
        path = f"{hood.organizations[of].path}/leave"
        answer = await hood.send("POST", path, token=held.access_token, by=held.person)
        await removed(hood, of, held.user_id, answer, "the member left")


@step(GIVING, CONNECTING, Story.ADMITTING, Story.READING)
async def moves(hood: Neighbourhood, address: str) -> None:
    """The owner of an address changes that account to another address of theirs."""
    person = hood.model.owner_of(address)
    assert person is not None
    held = await sign_in(hood, person, address)
    others = [one for one in person.addresses if one != address]
    if held is not None:
        await change_address(hood, held, others[0])


@step(CONNECTING)
async def closes_account(hood: Neighbourhood, address: str) -> None:
    """The owner of an address closes that account, which takes one without organizations."""
    person = hood.model.owner_of(address)
    assert person is not None
    held = await sign_in(hood, person, address)
    if held is not None:
        answer = await hood.send("DELETE", "/api/user", token=held.access_token, by=person)
        if answer.status == 204:
            hood.model.closed.add(held.user_id)


async def _cause(hood: Neighbourhood, person: Person, address: str, path: str, body: dict[str, str]) -> None:
    before = len(await hood.mails(address, VERIFICATION))
    await hood.send("POST", path, body, by=person)
    for mail in (await hood.mails(address, VERIFICATION))[before:]:
        hood.caused.setdefault(address, []).append(mail.values["token"])


def confirmed(hood: Neighbourhood, slug: str, address: str) -> None:
    """Record that a person confirmed a membership; of an account that is open to A they were told so before."""
    user_id = hood.user_id(address)
    gift = hood.model.gifts.get((slug, user_id or ""))
    if gift is not None and user_id in hood.model.opened:
        gift.is_shared = True
