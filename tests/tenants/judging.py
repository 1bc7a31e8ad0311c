"""Judging a session, as soon as it begins and whenever it is used: it opens only what was given to its holder."""

from __future__ import annotations

from typing import Any

from tests.tenants.model import GOVERNING, Ended, Held, Person, Violation, Way
from tests.tenants.neighbourhood import DEPUTY, A, B, Neighbourhood, Organization
from tests.tenants.words import Belonging, Word

# The plan of a user without a subscription (tests/world/builder.py).
# What ends a session whatever it opens by now.
OF_ALL_TOKENS = {Ended.ACCOUNT, Ended.ORGANIZATION, Ended.REVOCATION, Ended.LOCK}
DEFAULT_PLAN = "Free"


def live(hood: Neighbourhood, person: Person) -> list[Held]:
    """Return the sessions of a person that have not been refused yet."""
    return [held for held in hood.model.sessions if held.person is person and not held.is_dead]


async def judge(hood: Neighbourhood, held: Held | None) -> None:
    """Raise `Violation` when a session opens what its holder was not given; None opens nothing."""
    if held is None or held.is_dead:
        return
    answer = await hood.send("GET", "/api/user", token=held.access_token, by=held.person)
    if answer.status == 401:
        held.is_dead = True
    if answer.status != 200:
        return
    profile = answer.json
    if held.ended is not None and (profile["service"] or held.ended[0] in OF_ALL_TOKENS):
        raise Violation(f"outlived {held.ended[0]}", f"{held}, although {held.ended[1]}")
    if held.user_id in hood.model.off:
        raise Violation(f"outlived {Ended.ACCOUNT}", f"{held}, although its organization has deactivated the account")
    if held.user_id in hood.model.closed and held.way is not Way.PERSON:
        raise Violation("reopened", f"{held}, although its person has closed the account")
    hood.model.closed.discard(held.user_id)
    # The profile shows the address that was asked for, until it is proved.
    address = profile["email"] if profile["email_verified"] else held.address
    _judge_account(hood, held, address)
    _judge_subscription(hood, held, profile)
    if profile["org"] and profile["role"] is not None:
        _judge_role(hood, held, profile["org"], profile["role"])
    if not profile["service"]:
        await _judge_memberships(hood, held)


async def select(hood: Neighbourhood, held: Held, organization: Organization) -> None:
    """Select an organization in a session, and keep the tokens."""
    path = f"{organization.path}/select"
    answer = await hood.send("POST", path, {}, token=held.access_token, by=held.person)
    if answer.status == 200:
        _judge_role(hood, held, organization.slug, answer.json["membership"]["role"])
        _take_over(held, answer.json)


async def refresh(hood: Neighbourhood, held: Held) -> None:
    """Refresh a session, and judge it.

    Those at the desk and at the office are refreshed as they are judged there (`standing.py`, `office_rows.py`).
    """
    if any(held in one.sessions for one in (hood.desk, hood.office) if one is not None):
        return
    body = {"refresh_token": held.refresh_token}
    answer = await hood.send("POST", "/api/auth/refresh", body, by=held.person)
    if answer.status == 200:
        _take_over(held, answer.json)
        held.is_dead = False
        await judge(hood, held)


def _judge_account(hood: Neighbourhood, held: Held, address: str) -> None:
    owner, model, at_a = hood.model.owner_of(address), hood.model, hood.organizations[A]
    if owner is held.person or owner is hood.eve:
        return
    is_of_a = held.person in model.attackers and at_a.slug in {held.organization, held.customer} and bool(held.service)
    if is_of_a and held.way is Way.MAKER:
        return
    if is_of_a and held.way is Way.CONNECTION:
        # An address at A is A's to assert; any other one only while the link of its person lasts.
        if hood.is_at(A, address) or (at_a.slug, held.user_id) not in model.unlinked:
            return
        raise Violation("taken over by a former employer", f"{held}, which is the account of {address}")
    if is_of_a and held.way is Way.REDIRECTED and _is_asserted(hood, held, address):
        return
    if held.user_id in model.opened:
        return
    raise Violation("taken over", f"{held}, which is the account of {address}")


def _is_asserted(hood: Neighbourhood, held: Held, address: str) -> bool:
    """Return whether A may assert an address of its own: the account was never used by its person before it first did.

    What that link opens is at A alone; it stays when the person comes later.
    """
    is_used = any(
        other.user_id == held.user_id and other.person is not held.person and other.way is Way.PERSON
        for other in hood.model.sessions
    )
    if hood.is_at(A, address) and not is_used:
        hood.model.asserted.add(held.user_id)
    return hood.is_at(A, address) and held.user_id in hood.model.asserted


def _judge_subscription(hood: Neighbourhood, held: Held, profile: Any) -> None:
    if profile["plan"] in {None, DEFAULT_PLAN} or profile["org"] != hood.organizations[B].slug:
        return
    person = hood.model.subscriptions.get((profile["org"], held.user_id))
    if person is not held.person:
        owner = person.name if person is not None else "no one"
        raise Violation("subscription", f"{held} with the plan {profile['plan']} that was given to {owner}")


async def _judge_memberships(hood: Neighbourhood, held: Held) -> None:
    answer = await hood.send("GET", "/api/organizations", token=held.access_token, by=held.person)
    if answer.status != 200:
        return
    for one in answer.json:
        slug, role = one["organization"]["slug"], one["membership"]["role"]
        if not _may_hold(hood, held, slug, role):
            # Being listed is not yet being in.
            organization = next(other for other in hood.organizations.values() if other.slug == slug)
            await select(hood, held, organization)


def _judge_role(hood: Neighbourhood, held: Held, slug: str, role: str) -> None:
    if not _may_hold(hood, held, slug, role):
        gift = hood.model.gifts.get((slug, held.user_id))
        owner = gift.person.name if gift is not None else "no one"
        raise Violation("membership", f"{held} and is {role} at {slug}, given to {owner}")


def _may_hold(hood: Neighbourhood, held: Held, slug: str, role: str) -> bool:
    gift = hood.model.gifts.get((slug, held.user_id))
    if slug == hood.organizations[A].slug:
        is_given = gift is not None and gift.person is held.person and gift.role == role
        if role == DEPUTY and _is_by_rule(hood, held):
            return True
        return is_given or held.way in {Way.MAKER, Way.CONNECTION} or role not in GOVERNING
    if gift is None or gift.is_suspended:
        return False
    return gift.is_shared or (gift.person is held.person and role == gift.role)


def _is_by_rule(hood: Neighbourhood, held: Held) -> bool:
    """Return whether a rule gave the role; raise `Violation` where the word of the provider alone opens it.

    It is one of those for which the person has to type a mailed code once.
    """
    organization = hood.organizations[A]
    found = hood.world.rows(
        """
        SELECT i.confirmed_at IS NOT NULL
        FROM   memberships m
        LEFT   JOIN identities i ON i.connection_id = %s AND i.user_id = m.user_id
        WHERE  m.organization_id = %s AND m.user_id = %s AND m.role_source IS NOT NULL
        """,
        organization.connection_id,
        organization.party.organization_id,
        held.user_id,
    )
    is_word_alone = held.way in {Way.CONNECTION, Way.REDIRECTED} and found == [(False,)]
    word = Word(joins_as=hood.joins_as, is_confirmed=not is_word_alone, powerful=frozenset({DEPUTY}))
    if not word.opens(DEPUTY, Belonging(role=DEPUTY, is_role_by_groups=True)):
        raise Violation("word alone", f"{held}, and acts as {DEPUTY} by a rule")
    return bool(found)


def _take_over(held: Held, tokens: Any) -> None:
    held.access_token = tokens["access_token"]
    held.refresh_token = tokens["refresh_token"]
