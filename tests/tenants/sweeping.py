"""The end of a history: every person uses everything that they hold, and gets in to everything that is theirs."""

from __future__ import annotations

from tests.tenants import (
    acting,
    connecting,
    hijacking,
    living,
    made_adoptions,
    market_judging,
    office_rows,
    people,
    receiving,
    serving,
    standing,
)
from tests.tenants.judging import judge, refresh
from tests.tenants.model import Person, Violation
from tests.tenants.neighbourhood import B, Neighbourhood


async def sweep(hood: Neighbourhood) -> None:
    """Let every person use everything that they hold, and get back in to everything that is theirs."""
    model = hood.model
    await office_rows.recheck(hood, is_of_all=True)
    for held in list(model.sessions):
        await refresh(hood, held)
        await judge(hood, held)
    await standing.recheck(hood, is_of_all=True)
    if hood.desk is not None:
        await people.judge_news(hood, hood.desk)
        await people.judge_lists(hood, hood.desk)
        await standing.judge_endings(hood, hood.desk)
        await serving.judge_vendor(hood, hood.desk)
        serving.judge_events(hood, hood.desk)
    await market_judging.sweep(hood)
    if hood.market is not None:
        await made_adoptions.judge_adopted(hood)
    receiving.notice(hood)
    await receiving.judge_feeds(hood)
    for address in hood.addresses:
        if model.owner_of(address) is not hood.eve:
            await _attack(hood, address)
    for address in hood.eve.addresses:
        await acting.use_mailbox(hood, address)
    for person in (hood.alice, hood.bob):
        for address in person.addresses:
            await _recover(hood, person, address)
    for one in list(hood.takeovers):
        await hijacking.undo(hood, one)
    await _sign_on_at_b(hood)
    _judge_mails(hood)


async def _sign_on_at_b(hood: Neighbourhood) -> None:
    """Bob signs in by the connection of B, unless B has suspended him or his address is shut."""
    address, slug = hood.bob.addresses[0], hood.organizations[B].slug
    gifts = [gift for (of, _), gift in hood.model.gifts.items() if of == slug and gift.person is hood.bob]
    if _is_shut(hood, address) or any(gift.is_suspended for gift in gifts):
        return
    if await connecting.link(hood, hood.bob, B, address) is None:
        raise Violation("denied", f"bob cannot sign in to {address} by the connection of his organization")


def _is_shut(hood: Neighbourhood, address: str) -> bool:
    """Return whether the organization of an address has disposed over it, or its account was imported as blocked."""
    return address in hood.model.disposed or hood.user_id(address) in hood.model.blocked


async def _attack(hood: Neighbourhood, address: str) -> None:
    """Try the attacker's password for the account of another person."""
    await acting.sign_in(hood, hood.eve, address)


async def _recover(hood: Neighbourhood, person: Person, address: str) -> None:
    """The owner of a mailbox gets in to its account, or registers it, unless it is shut."""
    if _is_shut(hood, address):
        return
    if not await acting.reset(hood, person, address):
        await living.registers(hood, address)
        caused = hood.caused.get(address, [])
        if caused:
            await hood.send("GET", f"/auth/verify-email?token={caused[-1]}", by=person, headers=living.JSON)
        # A registration that was proved since the first try has a password of another registration.
        if await acting.sign_in(hood, person, address) is None:
            await acting.reset(hood, person, address)
    if await acting.sign_in(hood, person, address) is None:
        raise Violation("denied", f"{person.name} cannot get in to an account of {address} by its mailbox")


def _judge_mails(hood: Neighbourhood) -> None:
    """The attacker got no mail of B, unless B has written to the attacker."""
    slug = hood.organizations[B].slug
    for address in hood.eve.addresses:
        for mail in hood.mailboxes.get(address, []):
            is_of_b = slug in mail.values.values() or slug.title() in mail.values.values()
            if is_of_b and (slug, hood.eve) not in hood.model.addressed:
                raise Violation("mail", f"{address} got the mail {mail.template.value} of {slug}")
