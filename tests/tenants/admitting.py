"""What A does to let in few people to its office, and how people come there: members, those assigned, and strangers."""

from __future__ import annotations

from typing import Any, Final

from core.platform.sign_in_checks import SignInWay
from core.platform.sign_in_questions import SignInQuestion
from tests.tenants import asserting, explaining, giving, grouping, living, office_rows, using
from tests.tenants.acting import reset
from tests.tenants.customers import Assignment, Facts
from tests.tenants.desk import Browser
from tests.tenants.model import Person, Violation
from tests.tenants.neighbourhood import TECHNICIAN, A, Neighbourhood
from tests.tenants.office import Office
from tests.tenants.office_rows import facts_of
from tests.tenants.taking import Story, step
from tests.tenants.using import Wanted
from tests.world.visitor import Visitor

ADMITTING: Final = Story.ADMITTING
ACCESS: Final = ("members", "assigned", "everyone")
CONFIRMED: Final = "confirmed a membership on the way to the office"
# Why the office refuses a person.
CLOSED: Final = frozenset({"not_member", "not_assigned"})
CODES_KEPT_MAX: Final = 4


@step(ADMITTING)
async def owner_sets_access(hood: Neighbourhood, pick: int) -> None:
    """The owner of A says who may come to the office."""
    office = office_rows.opened(hood)
    if await _change(hood, {"access": ACCESS[pick]}):
        office.access = ACCESS[pick]


@step(ADMITTING)
async def owner_assigns(hood: Neighbourhood, address: str, pick: int, whole: bool) -> None:
    """The owner of A assigns the office to a person, a role, a group, or everybody, with roles there or without."""
    office = office_rows.opened(hood)
    subject, in_model = await _subject(hood, address, pick, whole=whole)
    roles = office_rows.ROLES[: pick + 1] if whole else office_rows.ROLES[pick:]
    if subject and await _change(hood, {"assignments": [{"subject": subject, "roles": roles}]}):
        office.assignments = [Assignment(in_model, frozenset(office.role_ids[name] for name in roles))]


@step(ADMITTING)
async def owner_unassigns(hood: Neighbourhood) -> None:
    """The owner of A assigns the office to nobody."""
    office = office_rows.opened(hood)
    if await _change(hood, {"assignments": []}):
        office.assignments = []


@step(ADMITTING)
async def key_lets_in(hood: Neighbourhood, address: str, whole: bool) -> None:
    """The program of the office makes a person an end user, who is let in so, and takes that away or not."""
    office = office_rows.opened(hood)
    key = {"X-Api-Key": office.key}
    had_account = hood.user_id(address) is not None
    answer = await hood.send("POST", "/api/service/users", {"email": address}, headers=key)
    user_id = hood.user_id(address)
    if user_id is None:
        return
    if answer.status == 200 and not had_account:
        hood.model.makers[user_id] = hood.organizations[A].slug
    if whole:
        await office_rows.recheck(hood)
        giving.dispose(hood, A, user_id)
        await hood.send("DELETE", f"/api/service/users/{hood.known_id(A, user_id)}", headers=key)


@step(ADMITTING)
async def comes_to_office(hood: Neighbourhood, address: str, pick: int) -> None:
    """The owner of an address comes to the office as a program does, in a browser, or by SAML.

    They choose a new password where theirs is refused.
    """
    person, office = hood.model.owner_of(address), office_rows.opened(hood)
    assert person is not None
    come = (_by_password, _in_browser, _by_saml)[pick]
    if not await come(hood, office, person, address) and await reset(hood, person, address):
        await come(hood, office, person, address)


@step(ADMITTING)
async def redeems_code_of_office(hood: Neighbourhood) -> None:
    """The client of the office redeems the codes that it has got before."""
    office = office_rows.opened(hood)
    while office.codes:
        await _redeem(hood, office, *office.codes.pop())


@step(ADMITTING)
async def gets_code_of_office(hood: Neighbourhood, address: str) -> None:
    """The owner of an address comes to the office in a browser, whose code the client redeems later."""
    person, office = hood.model.owner_of(address), office_rows.opened(hood)
    assert person is not None
    await _in_browser(hood, office, person, address, is_kept=True)


async def _change(hood: Neighbourhood, fields: dict[str, Any]) -> bool:
    answer = await hood.by_owner(A, "PATCH", "/services/office", fields)
    return answer.status == 200


async def _subject(hood: Neighbourhood, address: str, pick: int, *, whole: bool) -> tuple[str, str]:
    """Return whom the owner assigns, as the interface and as the rules write it; nothing for one who is no member."""
    if pick == 0:
        user_id = hood.user_id(address)
        rows = hood.world.rows(
            "SELECT id::text FROM memberships WHERE organization_id = %s AND user_id = %s",
            hood.organizations[A].party.organization_id,
            user_id,
        )
        return (f"user:{user_id}", f"membership:{rows[0][0]}") if rows else ("", "")
    if pick == 1 and whole:
        if hood.groups.group_id is None:
            await grouping.owner_sets_rules(hood, 2)
        subject = f"group:{hood.groups.group_id}" if hood.groups.group_id is not None else ""
    else:
        subject = f"role:{'member' if whole else TECHNICIAN}" if pick == 1 else "everyone"
    return subject, subject


async def _by_password(hood: Neighbourhood, office: Office, person: Person, address: str) -> bool:
    """Sign in by JSON; return whether the password was taken."""
    user_id = hood.user_id(address)
    if user_id is None:
        return False
    facts, party = facts_of(hood, office, user_id), office.party
    question = SignInQuestion(email=address, service_slug=party.service_slug, way=SignInWay.PASSWORD)
    predicted = await explaining.predict(hood, question, A)
    body = {"email": address, "password": person.password, "org_slug": party.slug, "service_slug": party.service_slug}
    held = hood.hold(person, await hood.send("POST", "/api/auth/login", body, by=person))
    reasons = explaining.reasons_since(predicted.lines)
    predicted.compare(hood, is_signed_in=held is not None)
    if held is not None:
        office_rows.admit(hood, office, held, facts, is_by_code=False)
    if reasons & CLOSED and office.admits(facts):
        raise Violation("denied", f"{address} was refused at the office, which is for {office.access}")
    return held is not None or bool(reasons & CLOSED)


async def _in_browser(
    hood: Neighbourhood, office: Office, person: Person, address: str, *, is_kept: bool = False
) -> bool:
    """Sign in in a browser; return whether it was signed in, to the account at least."""
    browser = Browser(person, address, Visitor(hood.world.client, address=person.network), None)
    before = _facts(hood, office, address)
    met = await using.walk(office.party, browser, Wanted(None, 0))
    if met.code:
        _require_told(hood, office, before, address, is_told=met.is_told_of_membership)
        office.codes = [*office.codes, (browser, met.code)][-CODES_KEPT_MAX:]
        if not is_kept:
            await redeems_code_of_office(hood)
    return browser.visitor.has_session


async def _redeem(hood: Neighbourhood, office: Office, browser: Browser, code: str) -> None:
    """Redeem a code, which opens nothing when the office has been closed since."""
    held = hood.hold(browser.person, await office.party.redeem(code))
    if held is not None:
        office_rows.admit(hood, office, held, facts_of(hood, office, held.user_id), is_by_code=True)


async def _by_saml(hood: Neighbourhood, office: Office, person: Person, address: str) -> bool:
    """Sign in to the application by SAML; return whether the browser was signed in, to the account at least."""
    if office.saml is None:
        office.saml = await asserting.insert_application(hood, office.party)
    browser = Browser(person, address, Visitor(hood.world.client, address=person.network), None)
    before = _facts(hood, office, address)
    met = await asserting.walk(office.saml, browser, None, 0, is_passive=False)
    if met.form is not None and met.form.statuses == ["Success"]:
        _require_told(hood, office, before, address, is_told=met.is_told_of_membership)
    return browser.visitor.has_session


def _facts(hood: Neighbourhood, office: Office, address: str) -> Facts | None:
    user_id = hood.user_id(address)
    return facts_of(hood, office, user_id) if user_id is not None else None


def _require_told(hood: Neighbourhood, office: Office, before: Facts | None, address: str, *, is_told: bool) -> None:
    """Raise `Violation` when a person came in without right, or without a word of a membership that is unconfirmed."""
    if before is not None and before.is_unconfirmed_in(A) and not is_told:
        raise Violation("unasked", f"{address}, whom A had added, came in, and no page has said so")
    for facts, confirms in ((before, is_told), (_facts(hood, office, address), False)):
        if facts is not None:
            office_rows.require_admitted(office, facts, address, confirms=confirms)
    if is_told:
        hood.explained.add(CONFIRMED)
        living.confirmed(hood, hood.organizations[A].slug, address)
