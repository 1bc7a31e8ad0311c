"""What people do at the application by SAML of the desk: each assertion is about one person for one customer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from core.saml.configuration import CUSTOMER_FIELDS, SamlConfiguration
from core.saml.messages import NameIdFormat
from tests.application import Answer
from tests.service_provider import PostedForm, ServiceProvider, key_pair
from tests.service_provider import forms_of as carried_by
from tests.tenants import claiming, desk_rows
from tests.tenants.acting import reset
from tests.tenants.customers import ALONE, Choice, Coming, Customer, Facts
from tests.tenants.desk import Browser, Desk
from tests.tenants.desk_rows import facts_of
from tests.tenants.giving import picked
from tests.tenants.model import Violation
from tests.tenants.neighbourhood import Neighbourhood
from tests.tenants.taking import Story, step
from tests.world.relying_party import BASE_URL, RelyingParty
from tests.world.saml import SamlService, insert_saml
from tests.world.visitor import Visitor, forms_of

SELLING: Final = Story.SELLING
ASSERTED: Final = "came for a customer by SAML"
REFUSED: Final = "an assertion was refused"
HOPS_MAX: Final = 10
# What a page says to a person whom the organization has added.
JOINS: Final = "this confirms that you belong to it"
# Each field is the name of its attribute.
MAPPING: Final = {name: name for name in ("email", "id", "role", "groups", "name", *CUSTOMER_FIELDS)}


@step(SELLING)
async def comes_by_saml(hood: Neighbourhood, address: str, of: str, pick: int, whole: bool) -> None:
    """The owner of an address signs in to the application by SAML, after a new password where theirs is refused."""
    person = hood.model.owner_of(address)
    assert person is not None
    desk, saml = await _opened(hood)
    named = _named(hood, desk, of, pick) if whole else None
    browser = Browser(person, address, Visitor(hood.world.client, address=person.network), None)
    await _go(hood, desk, saml, browser, named, pick)
    if not browser.visitor.has_session and await reset(hood, person, address):
        browser = replace(browser, visitor=replace(browser.visitor, cookies={}))
        await _go(hood, desk, saml, browser, named, pick)
    if browser.visitor.has_session and browser not in desk.browsers:
        desk.browsers = [*desk.browsers, browser][-desk_rows.BROWSERS_KEPT_MAX :]


@step(SELLING)
async def returns_by_saml(hood: Neighbourhood, of: str, pick: int, whole: bool) -> None:
    """Go to the application by SAML in a browser that is signed in, silently for each customer, or not."""
    desk, saml = await _opened(hood)
    browser = picked(desk.browsers, pick)
    if browser is None:
        return
    if not whole:
        await _go(hood, desk, saml, browser, _named(hood, desk, of, pick), pick)
        return
    for named in (None, ALONE, *(one.id for one in desk.customers[-3:])):
        await _go(hood, desk, saml, browser, named, pick, is_passive=True)


@dataclass
class Met:
    """What a browser meets on the way: the question, what it chose there, and what the application gets."""

    offered: frozenset[str] | None = None
    chosen: str | None = None
    # Whether a page has said which organization has added the person.
    is_told_of_membership: bool = False
    form: PostedForm | None = None


async def _go(
    hood: Neighbourhood,
    desk: Desk,
    saml: SamlService,
    browser: Browser,
    named: str | None,
    pick: int,
    *,
    is_passive: bool = False,
) -> None:
    """Go to the application in a browser, and judge what it met on the way, and what the application is told."""
    user_id = desk_rows.user_in(hood, browser.visitor) or hood.user_id(browser.address)
    if user_id is None:
        return
    facts = facts_of(hood, desk, user_id)
    choice = desk.comes(facts, Coming(named, browser.limits, on_page=True))
    desk.attempted.add(hood.address_of(user_id) or browser.address)
    met = await walk(saml, browser, named, pick, is_passive=is_passive)
    who = f"{browser.person.name} at {browser.address}"
    is_new = choice.customer is not None and choice.customer.id not in facts.visited
    question = frozenset({choice.customer.id}) if choice.customer is not None and is_new else choice.offered
    if met.offered is not None and met.offered != question:
        raise Violation("customer", f"{who} was asked to choose among {sorted(met.offered)}, and was to come {choice}")
    if met.form is None:
        return
    if met.form.statuses != ["Success"]:
        hood.explained.add(REFUSED)
        if met.form.statuses[-1] == "RequestDenied" and not choice.is_refused:
            raise Violation("denied", f"{who} was refused by SAML, and was to come {choice}")
        return
    if met.offered is None and (question or choice.is_refused):
        raise Violation("asserted", f"{who} was asserted without a question, and was to come {choice}")
    if met.offered is not None:
        found = next((one for one in desk.customers if one.id == met.chosen), None)
        choice = Choice(found, is_alone=found is None)
    _judge_assertion(hood, desk, user_id, facts, choice.customer, met.form)


def _judge_assertion(
    hood: Neighbourhood, desk: Desk, user_id: str, facts: Facts, customer: Customer | None, form: PostedForm
) -> None:
    """Raise `Violation` when an assertion is about another one, or says more than of this person for this customer."""
    said = {
        name: form.texts(f"//saml:Attribute[@Name='{name}']/saml:AttributeValue/text()")
        for name in form.texts("//saml:Attribute/@Name")
    }
    expected = dict[str, Any]()
    if customer is not None:
        hood.explained.add(ASSERTED)
        rights = desk.rights(facts, customer.id)
        if rights is None:
            raise Violation("asserted", f"{user_id} was asserted for {customer.slug}, which is not open to them")
        expected = {
            "customer.id": [customer.id],
            "customer.slug": [customer.slug],
            "customer.role": [rights.customer_role],
            "customer.service_roles": list(rights.service_roles),
        }
    for name in {*CUSTOMER_FIELDS, "role"} - {"customer.name", "customer.external_id"}:
        if said.get(name, []) != expected.get(name, []) and (customer is not None or name != "role"):
            raise Violation("asserted", f"{user_id} was asserted with {said}, which should be {expected}")
    if (said["id"], said["email"]) != ([user_id], [hood.address_of(user_id)]):
        raise Violation("asserted", f"another one than {user_id} was asserted: {said}")
    at = customer.id if customer is not None else ALONE
    claiming.judge(
        hood, desk, user_id, facts, customer_id=at, rights=desk.rights(facts, at), claims=said, source="an assertion"
    )
    if any(one.organization_id in str(form.xml) for one in desk.customers):
        raise Violation("told", f"an assertion of {user_id} has the id of a customer's organization")
    [name_id] = form.texts("//saml:NameID/text()")
    about = (user_id, customer.id if customer is not None else ALONE)
    known = {one for one, whose in desk.names_by_saml.items() if whose == about}
    if desk.names_by_saml.setdefault(name_id, about) != about or not known <= {name_id}:
        raise Violation("named", f"{about} is {name_id} by SAML, as is {desk.names_by_saml[name_id]}, or was {known}")
    [index] = form.texts("//saml:AuthnStatement/@SessionIndex")
    rows = hood.world.rows("SELECT coalesce(customer_id::text, '') FROM sessions WHERE id = %s", index)
    if rows != [(about[1],)]:
        raise Violation("asserted", f"the session of {about} is for {rows}")


async def walk(saml: SamlService, browser: Browser, named: str | None, pick: int, *, is_passive: bool) -> Met:
    """Go on as far as a browser comes by itself, by the password of its person, and by the answer that they choose."""
    visitor, met = browser.visitor, Met()
    query = saml.sp.query(saml.sp.authn_request(**({"IsPassive": "true"} if is_passive else {})))
    customer = "" if named is None else f"customer={named}&"
    agreement, choice = f"{saml.path}/authenticate", f"{saml.path}/authenticate/customer"
    page: Answer = await visitor.send("GET", f"{saml.path}/sso?{customer}{query}")
    for _ in range(HOPS_MAX):
        target = page.headers.get("Location") or page.headers.get("Refresh", "").partition("; url=")[2]
        forms = forms_of(page) if page.status == 200 else []
        actions = {form.action for form in forms}
        carried = [one for one in carried_by(page.text) if "SAMLResponse" in one.fields]
        if carried:
            return replace(met, form=carried[0])
        if page.status == 303 and target.removeprefix(BASE_URL).startswith("/"):
            page = await visitor.send("GET", target.removeprefix(BASE_URL))
        elif choice in actions:
            offered = [form.fields["customer"] for form in forms if form.action == choice]
            met = replace(met, offered=frozenset(offered), chosen=offered[pick % len(offered)])
            page = await visitor.submit(page, choice, {"customer": met.chosen or ALONE}, is_followed=False)
        elif agreement in actions:
            met = replace(met, is_told_of_membership=JOINS in page.text)
            page = await visitor.submit(page, agreement, is_followed=False)
        elif not visitor.has_session and "/app/sign-in/password" in actions:
            filled = {"password": browser.person.password}
            page = await visitor.submit(page, "/app/sign-in/password", filled, is_followed=False)
        elif not visitor.has_session and "/app/sign-in" in actions and browser.limits is None:
            page = await visitor.submit(page, "/app/sign-in", {"email": browser.address}, is_followed=False)
        else:
            return met
    return met


async def _opened(hood: Neighbourhood) -> tuple[Desk, SamlService]:
    """Return the desk with its application by SAML, which the first step that uses it sets up."""
    desk = await desk_rows.opened(hood)
    if desk.saml is not None:
        return desk, desk.saml
    desk.saml = await insert_application(hood, desk.party)
    return desk, desk.saml


async def insert_application(hood: Neighbourhood, party: RelyingParty) -> SamlService:
    """Let a service have an application by SAML, which leaves to the service who may come in."""
    path = f"/saml/{party.slug}/{party.service_slug}"
    host = f"https://{party.service_slug}.{party.slug}.example"
    sp = ServiceProvider(
        now=hood.world.clock,
        idp=f"{BASE_URL}{path}",
        entity_id=f"{host}/metadata",
        acs_url=f"{host}/acs",
        slo_url=f"{host}/slo",
        key=key_pair(f"sp of the {party.service_slug}"),
    )
    key = key_pair(f"idp of the {party.service_slug}")
    configuration = SamlConfiguration(
        organization_id=party.organization_id,
        service_id=party.service_id,
        attribute_mapping=MAPPING,
        name_id_format=NameIdFormat.PERSISTENT,
        members_only=False,
        **sp.configuration,
    )
    await hood.world.installation.database.transact(insert_saml, configuration, key)
    return SamlService(hood.world, party.organization_id, party.service_id, path, sp, key)


def _named(hood: Neighbourhood, desk: Desk, of: str, pick: int) -> str:
    """Return what a request names: the latest record of an organization, its slug, or none."""
    records = [one.id for one in desk.customers if one.of == of]
    return (records[-1], hood.organizations[of].slug, ALONE)[pick]
