"""What people do with their mailboxes and passwords, of which steps are made."""

from __future__ import annotations

from dataclasses import dataclass

from core.mail.mail import MailMessage
from core.platform.sign_in_checks import SignInWay
from core.platform.sign_in_questions import SignInQuestion
from tests.tenants import explaining
from tests.tenants.judging import judge, select
from tests.tenants.model import Held, Person, Violation
from tests.tenants.neighbourhood import B, Neighbourhood

# What opens an account for the reader of a mailbox.
RESETS = ("reset_password", "choose_password", "invitation_accepted")


async def change_address(hood: Neighbourhood, held: Held, address: str) -> bool:
    """Ask in a session for an address of the same person, and press the button behind the link in its mailbox."""
    answer = await hood.send("PATCH", "/api/user", {"email": address}, token=held.access_token, by=held.person)
    if answer.status != 200:
        return False
    for mail in (await hood.mails(address, "verify_new_email"))[-1:]:
        changed = await hood.send_form("/auth/verify-email", {"token": mail.values["token"]}, by=held.person)
        if changed.status == 200:
            _require_nothing_unconfirmed(hood, held)
            hood.model.change_address(held.user_id)
            return True
    return False


def _require_nothing_unconfirmed(hood: Neighbourhood, held: Held) -> None:
    query = "SELECT FROM memberships WHERE user_id = %s AND confirmed_at IS NULL AND role <> 'owner'"
    if hood.world.rows(query, held.user_id):
        raise Violation("membership", f"{held} and took to another address what the person had not confirmed")


async def reset(hood: Neighbourhood, person: Person, address: str) -> bool:
    """Choose a password by a link in the mailbox; return whether there was one and it worked."""
    await hood.send("POST", "/api/auth/forgot-password", {"email": address}, by=person)
    mails: list[MailMessage] = await hood.mails(address, *RESETS)
    if not mails:
        return False
    body = {"token": mails[-1].values["token"], "new_password": person.password}
    answer = await hood.send("POST", "/api/auth/reset-password", body, by=person)
    if answer.status == 200:
        hood.model.locked.discard(hood.user_id(address) or "")
    hood.mailboxes[address] = [one for one in hood.mailboxes[address] if one not in mails]
    return answer.status == 200


@dataclass(frozen=True)
class Challenge:
    """What a program was answered that asked for a sign-in mail, and what the mail has."""

    id: str
    code: str
    token: str


async def ask_for_code(hood: Neighbourhood, person: Person, address: str) -> Challenge | None:
    """Ask for a sign-in mail, and read it in the mailbox; None when none comes."""
    before = len(await hood.mails(address, "magic_link"))
    answer = await hood.send("POST", "/api/auth/magic-link/request", {"email": address}, by=person)
    mails = (await hood.mails(address, "magic_link"))[before:]
    if not mails:
        return None
    return Challenge(answer.json["challenge_id"], mails[-1].values["code"], mails[-1].values["token"])


async def send_code(hood: Neighbourhood, person: Person, challenge_id: str, code: str) -> Held | None:
    """Send a code of a sign-in mail; return the session that it opens."""
    body = {"challenge_id": challenge_id, "code": code}
    return hood.hold(person, await hood.send("POST", "/api/auth/magic-link/verify", body, by=person))


async def sign_in(hood: Neighbourhood, person: Person, address: str, at: str = "") -> Held | None:
    """Sign in by password, and judge what that opened; None when it is refused."""
    context = {}
    if at:
        party = hood.organizations[at].party
        context = {"org_slug": party.slug, "service_slug": party.service_slug}
    body = {"email": address, "password": person.password, **context}
    question = SignInQuestion(email=address, service_slug=context.get("service_slug"), way=SignInWay.PASSWORD)
    predicted = await explaining.predict(hood, question, at)
    held = hood.hold(person, await hood.send("POST", "/api/auth/login", body, by=person))
    predicted.compare(hood, is_signed_in=held is not None)
    await judge(hood, held)
    return held


async def use_mailbox(hood: Neighbourhood, address: str) -> None:
    """Get in by the attacker's own mailbox, and try each organization and service."""
    await reset(hood, hood.eve, address)
    held = await sign_in(hood, hood.eve, address)
    if held is not None:
        await select(hood, held, hood.organizations[B])
        await sign_in(hood, hood.eve, address, B)
