"""What people do at the desk: coming in for a customer or as individuals, by every way, and going on to another one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

from core.platform.sign_in_checks import SignInWay
from core.platform.sign_in_questions import SignInQuestion
from core.sign_in.rules import Rule
from tests.application import Answer
from tests.tenants import connecting, desk_rows, explaining, serving, standing
from tests.tenants.acting import reset
from tests.tenants.customers import ALONE, Choice, Coming, Customer, Facts, V
from tests.tenants.desk import Browser, Desk, KeptCode
from tests.tenants.desk_rows import facts_of
from tests.tenants.giving import picked
from tests.tenants.model import Held, Person, Violation, Way
from tests.tenants.neighbourhood import A, Neighbourhood
from tests.tenants.taking import Story, step
from tests.world.authorization import address_of, led_back
from tests.world.relying_party import BASE_URL, REDIRECT_URI, RelyingParty
from tests.world.visitor import Visitor, forms_of

Chosen = TypeVar("Chosen", str, str | None)
SERVING, SELLING = Story.SERVING, Story.SELLING
ALLOW, DENY = "/auth/authorize/allow", "/auth/authorize/deny"
INDIVIDUALS = ("others", "all", "none")
CLOSED = frozenset({"customer_closed", "no_customer"})
HOPS_MAX = 8


@step(SERVING, SELLING, Story.SWITCHING, Story.READING)
async def comes_by_password(hood: Neighbourhood, address: str, of: str, pick: int, whole: bool) -> None:
    """The owner of an address signs in to the desk as a program does, after a new password where theirs is refused."""
    person = hood.model.owner_of(address)
    assert person is not None
    wanted = await _wanted(hood, of, pick, whole=whole)
    refused = await by_password(hood, person, address, wanted)
    if refused and refused not in CLOSED and await reset(hood, person, address):
        await by_password(hood, person, address, wanted)


@step(SERVING)
async def vendor_narrows_individuals(hood: Neighbourhood, address: str, pick: int) -> None:
    """The owner of an address comes as an individual while everybody may, and then the vendor says who may."""
    person, desk = hood.model.owner_of(address), await desk_rows.opened(hood)
    assert person is not None
    desk_rows.set_individuals(hood, desk, "all")
    await by_password(hood, person, address, Wanted(ALONE, 0))
    desk_rows.set_individuals(hood, desk, INDIVIDUALS[pick])


@step(SERVING)
async def attacker_comes_by_password(hood: Neighbourhood, address: str, of: str, pick: int) -> None:
    """Try the attacker's password for any address at the desk."""
    await by_password(hood, hood.eve, address, await _wanted(hood, of, pick, whole=True))


async def by_password(hood: Neighbourhood, person: Person, address: str, wanted: Wanted) -> str:
    """Sign in to the desk by JSON, and choose where that is asked; return why it was refused, if it was."""
    desk, user_id = await desk_rows.opened(hood), hood.user_id(address)
    if user_id is None:
        return "unknown_account"
    named = wanted.named
    choice = desk.comes(facts_of(hood, desk, user_id), Coming(named))
    question = SignInQuestion(email=address, service_slug=desk.party.service_slug, way=SignInWay.PASSWORD)
    predicted = await explaining.predict(hood, question, V)
    body = {"email": address, "password": person.password, "org_slug": desk.slug, "service_slug": "desk"}
    answer = await hood.send("POST", "/api/auth/login", body | _customer(named), by=person)
    desk.attempted.add(address)
    is_asked = answer.status == 409 and "customer_token" in answer.json
    is_let_in = is_asked or answer.status == 200
    reasons = explaining.reasons_since(predicted.lines)
    # The explanation is asked about a sign-in that names no customer.
    refusal = predicted.walk.refusal
    if named is None or (refusal is not None and refusal.rule is not Rule.CUSTOMER and not is_let_in):
        predicted.compare(hood, is_signed_in=is_let_in)
    if is_let_in:
        _require(choice, is_asked=is_asked, answer=answer, who=address)
    if reasons & CLOSED and not choice.is_refused:
        raise Violation("denied", f"{address} was refused at the desk, and was to come {choice}")
    if is_asked:
        answer, choice = await _choose(hood, desk, person, answer, wanted)
    held = hood.hold(person, answer)
    if held is not None:
        await standing.admit(hood, desk, held, choice, None, is_by_code=False)
    return next(iter(reasons), "")


async def _choose(
    hood: Neighbourhood, desk: Desk, person: Person, asked: Answer, wanted: Wanted
) -> tuple[Answer, Choice]:
    """Answer for which customer a sign-in is, after trying others that were not offered."""
    hood.explained.add(standing.ASKED)
    offered = {one["id"]: one["slug"] for one in asked.json["customers"]}
    token = {"customer_token": asked.json["customer_token"]}
    for strange in [one for one in desk.customers if one.id not in offered][-2:]:
        answer = await hood.send("POST", "/api/auth/customer", {**token, "customer": strange.id}, by=person)
        # One that does not count where it is not named may be named here as well.
        if answer.status == 200:
            return answer, Choice(strange)
    choices = [*sorted(offered), *([None] if asked.json["individual"] else [])]
    chosen: str | None = wanted.choose(choices)
    answer = await hood.send("POST", "/api/auth/customer", {**token, "customer": chosen}, by=person)
    if answer.status != 200:
        raise Violation("denied", f"{person.name} was asked for whom they come, and refused: {answer.text}")
    spent = await hood.send("POST", "/api/auth/customer", {**token, "customer": choices[0]}, by=person)
    if spent.status == 200:
        raise Violation("twice", f"{person.name} has used one answer for two sign-ins")
    return answer, _chosen(desk, chosen)


@step(SERVING, SELLING)
async def comes_in_browser(hood: Neighbourhood, address: str, of: str, pick: int, whole: bool) -> None:
    """The owner of an address signs in to the desk in a browser, after a new password where theirs is refused."""
    person, desk = hood.model.owner_of(address), await desk_rows.opened(hood)
    assert person is not None
    wanted = await _wanted(hood, of, pick, whole=whole)
    browser = Browser(person, address, Visitor(hood.world.client, address=person.network), None)
    await _go(hood, desk, browser, wanted)
    if not browser.visitor.has_session and await reset(hood, person, address):
        await _go(hood, desk, replace(browser, visitor=replace(browser.visitor, cookies={})), wanted)


@step(SERVING, SELLING)
async def comes_by_connection(hood: Neighbourhood, of: str, address: str, pick: int, whole: bool) -> None:
    """The owner of an address signs in by the connection of a customer or of the vendor, and goes on to the desk.

    Some belong to both customers, and go on for each of them.
    """
    person, desk = hood.model.owner_of(address), await desk_rows.opened(hood)
    assert person is not None
    # Most have an address at one of the two; the vendor signs in its members.
    at = V if pick == 2 else next((name for name in hood.organizations if hood.is_at(name, address)), V)
    if pick:
        await serving.joins_customers(hood, address, 0)
    if at == V:
        await serving.vendor_adds_member(hood, address, whole)
    if at == A and hood.is_redirected:
        return
    browser = await _connected(hood, desk, person, at, address, Way.PERSON, await _wanted(hood, of, 0, whole=whole))
    if browser is not None and pick:
        for one in desk.customers[-2:]:
            await _go(hood, desk, browser, Wanted(one.id, 0))


@step(SERVING)
async def employer_comes(hood: Neighbourhood, address: str, of: str, pick: int, whole: bool) -> None:
    """The provider of A asserts a person, and goes on to the desk; the attacker does while it leads to hers."""
    desk = await desk_rows.opened(hood)
    for one in hood.addresses:
        if hood.is_at(A, one) and hood.model.owner_of(one) is hood.model.owner_of(address):
            person, way = (hood.eve, Way.REDIRECTED) if hood.is_redirected else (hood.employer, Way.CONNECTION)
            await _connected(hood, desk, person, A, one, way, await _wanted(hood, of, pick, whole=whole))


@step(SERVING)
async def returns_in_browser(hood: Neighbourhood, of: str, pick: int, whole: bool) -> None:
    """Go to the desk for each customer in a browser that is signed in, silently or not."""
    desk = await desk_rows.opened(hood)
    browser = picked(desk.browsers, pick)
    if browser is None:
        return
    if not whole:
        await _go(hood, desk, browser, await _wanted(hood, of, pick, whole=True))
        return
    for named in (None, *_names(desk)):
        await _go(hood, desk, browser, Wanted(named, pick), prompt="none")


@step(SERVING)
async def redeems_code(hood: Neighbourhood) -> None:
    """A client redeems a code that it has got before."""
    desk = await desk_rows.opened(hood)
    while desk.codes:
        kept = desk.codes.pop()
        await _redeem(hood, desk, kept)


@step(SERVING)
async def switches(hood: Neighbourhood, pick: int) -> None:
    """Select each organization, and refresh for each customer, with a token of the desk."""
    desk = await desk_rows.opened(hood)
    held: Held | None = picked([one for one in desk.sessions if not one.is_dead], pick)
    if held is None:
        return
    for slug in (desk.slug, *hood.model.organizations):
        path = f"/api/organizations/{slug}"
        for method, rest in (("GET", ""), ("POST", "/select")):
            answer = await hood.send(method, path + rest, {} if rest else None, token=held.access_token, by=held.person)
            if answer.status == 200 and held.customer_id:
                raise Violation("confined", f"{held}, which opened {path}{rest}")
    if desk.sessions[held].is_by_code:
        for named in _names(desk):
            answer = await desk.party.token("refresh_token", refresh_token=held.refresh_token, customer=named)
            if answer.status == 200:
                held.access_token, held.refresh_token = answer.json["access_token"], answer.json["refresh_token"]
    desk.sessions[held].judged = "to be judged anew"


async def _connected(
    hood: Neighbourhood, desk: Desk, person: Person, of: str, address: str, way: Way, wanted: Wanted
) -> Browser | None:
    """Go to the desk in a browser that has signed in by a connection, and return it; None when that was refused."""
    connection_id = desk.connection_id if of == V else hood.organizations[of].connection_id
    # The vendor has no mail domain: its provider says of each address that it is verified.
    claims = {**connecting.claims_of_address(address), **({"email_verified": True} if of == V else {})}
    visitor = await connecting.entered(
        hood,
        person,
        connection_id,
        claims,
        password=person.password if way is Way.PERSON else None,
        at_work=way is not Way.REDIRECTED,
    )
    if visitor is None or not visitor.has_session:
        return None
    rows = hood.world.rows(
        "SELECT user_id::text FROM identities WHERE connection_id = %s AND subject = %s", connection_id, claims["sub"]
    )
    if not rows:
        return None
    user_id: str = rows[0][0]
    if of == A and hood.joins_as and way is not Way.REDIRECTED:
        connecting.joined(hood, user_id, address)
    if way is Way.PERSON and of != V:
        hood.model.unlinked.discard((hood.organizations[of].slug, user_id))
    browser = Browser(person, hood.address_of(user_id) or address, visitor, of, way)
    await _go(hood, desk, browser, wanted)
    return browser


@dataclass(frozen=True)
class Wanted:
    """What a sign-in names, None for nobody, and which of the customers that are offered is chosen."""

    named: str | None
    pick: int

    def choose(self, offered: list[Chosen]) -> Chosen:
        """Return one of the customers that are offered."""
        return offered[self.pick % len(offered)]


@dataclass
class BrowserWay:
    """What a browser meets on the way to a service."""

    # What the forms of the chooser had, None while it was not shown.
    offered: frozenset[str] | None = None
    chosen: str | None = None
    # Whether a page has said which organization has added the person.
    is_told_of_membership: bool = False
    is_closed: bool = False
    error: str = ""
    code: str = ""


async def _go(
    hood: Neighbourhood,
    desk: Desk,
    browser: Browser,
    wanted: Wanted,
    *,
    prompt: str = "",
) -> None:
    """Go to the desk in a browser, and judge what it met on the way against the rules, and what it got."""
    user_id = desk_rows.user_in(hood, browser.visitor) or hood.user_id(browser.address)
    if user_id is None:
        return
    facts = facts_of(hood, desk, user_id)
    choice = desk.comes(facts, Coming(wanted.named, browser.limits, on_page=True))
    desk.attempted.add(hood.address_of(user_id) or browser.address)
    met = await walk(desk.party, browser, wanted, prompt)
    if not browser.visitor.has_session:
        return
    if browser not in desk.browsers:
        desk.browsers = [*desk.browsers, browser][-desk_rows.BROWSERS_KEPT_MAX :]
    who = f"{browser.person.name} at {browser.address}"
    _require_asked(who, met, choice, facts)
    if met.offered is not None:
        hood.explained.add(standing.ASKED)
        choice = _chosen(desk, met.chosen)
    if not met.code:
        return
    kept = KeptCode(browser, user_id, met.code, choice.customer.id if choice.customer is not None else ALONE)
    if wanted.pick == 1 and not prompt and browser.way is Way.PERSON:
        desk.codes.append(kept)
        return
    await _redeem(hood, desk, kept)


def _require_asked(who: str, met: BrowserWay, choice: Choice, facts: Facts) -> None:
    """Raise `Violation` when a browser met another question than the rules say, or none, or came in without right."""
    if met.is_closed and not choice.is_refused:
        raise Violation("denied", f"{who} was refused at the desk, and was to come {choice}")
    is_new = choice.customer is not None and choice.customer.id not in facts.visited
    question = frozenset({choice.customer.id}) if choice.customer is not None and is_new else choice.offered
    if met.offered is not None and met.offered != question:
        raise Violation("customer", f"{who} was asked to choose among {sorted(met.offered)}, and was to come {choice}")
    if met.code and met.offered is None and (question or choice.is_refused):
        raise Violation("customer", f"{who} got a code without a question, and was to come {choice}")


async def walk(
    party: RelyingParty,
    browser: Browser,
    wanted: Wanted,
    prompt: str = "",
) -> BrowserWay:
    """Go on as far as a browser comes by itself, by the password of its person, and by the answer that they choose."""
    visitor, met = browser.visitor, BrowserWay()
    address = address_of(party, prompt=prompt) + ("" if wanted.named is None else f"&customer={wanted.named}")
    page = await visitor.send("GET", address)
    for _ in range(HOPS_MAX):
        target = page.headers.get("Location") or page.headers.get("Refresh", "").partition("; url=")[2]
        forms = [form for form in forms_of(page) if page.status == 200]
        actions = {form.action for form in forms}
        if target.startswith(REDIRECT_URI):
            back = led_back(page)
            return replace(met, code=back.get("code", ""), error=back.get("error", ""))
        if page.status == 303 and target.removeprefix(BASE_URL).startswith("/"):
            page = await visitor.send("GET", target.removeprefix(BASE_URL))
        elif ALLOW in actions:
            if any("joins" in form.fields for form in forms):
                met = replace(met, is_told_of_membership=True)
            offered = [form.fields["customer"] for form in forms if "customer" in form.fields]
            answers = dict[str, str]()
            if offered:
                met = replace(met, offered=frozenset(offered), chosen=wanted.choose(offered))
                answers = {"customer": met.chosen or ALONE}
            page = await visitor.submit(page, ALLOW, answers, is_followed=False)
        elif not visitor.has_session and "/app/sign-in/password" in actions:
            page = await visitor.submit(
                page, "/app/sign-in/password", {"password": browser.person.password}, is_followed=False
            )
        elif not visitor.has_session and "/app/sign-in" in actions and browser.limits is None:
            page = await visitor.submit(page, "/app/sign-in", {"email": browser.address}, is_followed=False)
        else:
            return replace(met, is_closed=DENY in actions)
    return met


async def _redeem(hood: Neighbourhood, desk: Desk, kept: KeptCode) -> None:
    """Redeem a code, which opens nothing when it has closed since."""
    browser, facts = kept.browser, facts_of(hood, desk, kept.user_id)
    answer = await desk.party.redeem(kept.code)
    held = hood.hold(browser.person, answer, browser.way)
    if held is None:
        return
    if desk.rights(facts, kept.customer_id) is None:
        raise Violation("outlived a customer", f"{held}, by a code of before, and it is not open to them any more")
    choice = _chosen(desk, kept.customer_id)
    await standing.admit(hood, desk, held, choice, browser.limits, is_by_code=True)


def _require(choice: Choice, *, is_asked: bool, answer: Answer, who: str) -> None:
    """Raise `Violation` when a sign-in was let in otherwise than the rules say."""
    if is_asked:
        offered = {one["id"] for one in answer.json["customers"]} | ({ALONE} if answer.json["individual"] else set())
        if offered != choice.offered:
            raise Violation("customer", f"{who} was asked to choose among {sorted(offered)}, and was to come {choice}")
    elif choice.offered or choice.is_refused:
        raise Violation("customer", f"{who} was let in, and was to come {choice}")


def _chosen(desk: Desk, chosen: str | None) -> Choice:
    found: Customer | None = next((one for one in desk.customers if one.id == chosen), None)
    return Choice(found, is_alone=found is None)


def _names(desk: Desk) -> list[str]:
    """Return what a request may name: the latest records by id, and nobody."""
    return [*(one.id for one in desk.customers[-3:]), ALONE]


async def _wanted(hood: Neighbourhood, of: str, pick: int, *, whole: bool) -> Wanted:
    """Return what a sign-in names, often nobody: the latest record of an organization, its slug, or none."""
    desk = await desk_rows.opened(hood)
    records = [one.id for one in desk.customers if one.of == of]
    names = (records[-1], hood.organizations[of].slug, ALONE)
    return Wanted(names[pick] if whole else None, pick)


def _customer(named: str | None) -> dict[str, str]:
    return {} if named is None else {"customer": named}
