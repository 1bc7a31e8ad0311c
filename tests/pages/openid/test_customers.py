"""A service with customers: the user says for which one, on the way of an authorization request."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID

import pytest

from tests.application import Answer
from tests.shown_text import shows
from tests.world.authorization import address_of, led_back
from tests.world.builder import EMAIL, PASSWORD, Service
from tests.world.relying_party import RelyingParty, insert_relying_party
from tests.world.signing_in import claims_of
from tests.world.visitor import Visitor, forms_of, without_tokens
from tests.world.world import World

ALLOW = "/auth/authorize/allow"
NO_LONGER = (
    "You cannot use this application for this customer any more. Sign in again, or ask an administrator of your"
    " organization."
)


@pytest.fixture
def shop(world: World) -> RelyingParty:
    """A service of a vendor, which has customers, and a user."""
    world.user(EMAIL)
    party = insert_relying_party(world, slug="vendor")
    world.serve_customers(_service(party), "editor", "viewer")
    return party


def _service(party: RelyingParty) -> Service:
    return Service(id=party.service_id, client_id=party.client_id)


def _customer(world: World, party: RelyingParty, slug: str, *, is_member: bool = True, **settings: Any) -> UUID:
    """Make an organization a customer, and the user its member; return the id of the record."""
    organization_id = world.organization(slug)
    if is_member:
        world.member(organization_id, world.user_id(EMAIL), is_confirmed=settings.pop("is_confirmed", True))
    return world.customer(_service(party), organization_id, **settings)


async def _open(visitor: Visitor, address: str) -> Answer:
    """Open an address in a browser that is signed in, and stop where it would leave for the service."""
    answer = await visitor.send("GET", address)
    while answer.status == 303 and answer.headers["Location"].startswith("/"):
        answer = await visitor.send("GET", answer.headers["Location"])
    return answer


async def _come(visitor: Visitor, party: RelyingParty, customer_id: UUID | str | None = None) -> dict[str, Any]:
    """Sign in to the service, choose a customer where the user is asked, and return the claims of its tokens."""
    page = await (_open(visitor, address_of(party)) if visitor.has_session else visitor.sign_in(path=address_of(party)))
    if page.status == 200 and any(form.action == ALLOW for form in forms_of(page)):
        chosen = {} if customer_id is None else {"customer": str(customer_id)}
        page = await visitor.submit(page, ALLOW, chosen)
    return await _claims(party, page)


async def _claims(party: RelyingParty, page: Answer) -> dict[str, Any]:
    tokens = (await party.redeem(led_back(page)["code"])).json
    access, identity = claims_of(tokens["access_token"]), claims_of(tokens["id_token"])
    assert {name: access[name] for name in identity if name.startswith(("customer", "service_roles"))} == {
        name: value for name, value in identity.items() if name.startswith(("customer", "service_roles"))
    }
    return {**access, "refresh_token": tokens["refresh_token"], "token": tokens["access_token"]}


async def test_tokens_say_for_which_customer_their_user_comes(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    customer_id = _customer(world, shop, "globex", external_id="crm-7")
    world.assign(customer_id, "everyone", "viewer")
    world.assign(customer_id, "role:member", "editor", "viewer")

    page = await visitor.sign_in(path=address_of(shop))
    claims = await _claims(shop, await visitor.submit(page, ALLOW))

    assert "Globex" in page.text
    assert "Vendor" in page.text
    assert {name: value for name, value in claims.items() if name.startswith("customer")} == {
        "customer": "globex",
        "customer_id": str(customer_id),
        "customer_name": "Globex",
        "customer_role": "member",
        "customer_external_id": "crm-7",
    }
    assert claims["service_roles"] == ["editor", "viewer"]
    assert (claims["org"], claims["service"]) == ("vendor", "shop")
    assert "role" not in claims


async def test_the_first_use_is_asked_once_and_only_in_person(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    _customer(world, shop, "globex")
    await visitor.sign_in()
    silent = led_back(await visitor.send("GET", address_of(shop, prompt="none")))

    question = await _open(visitor, address_of(shop))
    first = await visitor.submit(question, ALLOW)
    again = await visitor.send("GET", address_of(shop))

    assert silent["error"] == "consent_required"
    assert "code" in led_back(first)
    assert "code" in led_back(again)
    assert "code" in led_back(await visitor.send("GET", address_of(shop, prompt="none")))


async def test_a_user_of_several_customers_chooses_and_may_name_one(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    globex, initech = _customer(world, shop, "globex"), _customer(world, shop, "initech")

    first = await _come(visitor, shop, initech)
    silent = led_back(await visitor.send("GET", address_of(shop, prompt="none")))
    chooser = await _open(visitor, address_of(shop))
    by_slug = await _open(visitor, address_of(shop, customer="globex"))
    second = await _claims(shop, await visitor.submit(by_slug, ALLOW))
    third = await _claims(shop, await _open(visitor, address_of(shop, customer=str(initech))))

    assert (first["customer_id"], second["customer_id"]) == (str(initech), str(globex))
    assert third["customer"] == "initech"
    assert silent["error"] == "interaction_required"
    # The last choice stands first.
    assert [form.fields["customer"] for form in forms_of(chooser) if form.action == ALLOW] == [
        str(initech),
        str(globex),
    ]
    assert not shows(by_slug.text, "Initech")


@pytest.mark.parametrize("named", ["nowhere", "initech", "paused", "0191d3c1-0000-7000-8000-00000000000f"])
async def test_what_is_not_open_is_alike(shop: RelyingParty, visitor: Visitor, world: World, named: str) -> None:
    _customer(world, shop, "globex")
    _customer(world, shop, "initech", is_member=False)
    _customer(world, shop, "paused", paused_by=["vendor"])

    page = await visitor.sign_in(path=address_of(shop, customer=named))
    back = led_back(await visitor.submit(page, "/auth/authorize/deny"))

    assert "You cannot use this application for that customer" in page.text
    assert back["error"] == "access_denied"


async def test_an_unconfirmed_membership_decides_nothing_and_is_confirmed_by_the_answer(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    customer_id = _customer(world, shop, "globex", is_confirmed=False)
    await visitor.sign_in()
    silent = led_back(await visitor.send("GET", address_of(shop, prompt="none")))

    chooser = await _open(visitor, address_of(shop))
    claims = await _claims(shop, await visitor.submit(chooser, ALLOW, customer=str(customer_id)))

    assert silent["error"] == "interaction_required"
    assert "Globex has added you" in chooser.text
    assert claims["customer"] == "globex"
    assert world.value("SELECT confirmed_at IS NOT NULL FROM memberships")


async def test_people_of_no_customer_come_as_individuals_unless_the_service_excludes_them(
    shop: RelyingParty, visitor: Visitor
) -> None:
    claims = await _come(visitor, shop)
    shop.set(individuals="none")
    refused = await _open(visitor, address_of(shop))
    silent = led_back(await visitor.send("GET", address_of(shop, prompt="none")))

    assert "customer" not in claims
    assert "for people of the organizations that use it" in refused.text
    assert silent["error"] == "access_denied"


async def test_a_refused_request_is_recorded_for_the_customer_that_it_names(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    customer_id = _customer(world, shop, "globex", access="assigned")
    await visitor.sign_in()

    for named in ("globex", str(customer_id), "nowhere"):
        assert (
            "You cannot use this application for that customer"
            in (await _open(visitor, address_of(shop, customer=named))).text
        )

    rows = world.rows("SELECT reason, customer_id FROM login_events WHERE NOT success ORDER BY id")
    assert rows == [("customer_closed", customer_id)] * 2 + [("customer_closed", None)]


async def test_people_of_a_customer_are_no_individuals(shop: RelyingParty, visitor: Visitor, world: World) -> None:
    before = await _come(visitor, shop)
    customer_id = _customer(world, shop, "globex", access="assigned")

    refused = await _open(visitor, address_of(shop))
    token = (await shop.token("refresh_token", refresh_token=before["refresh_token"])).json
    who = await world.client.get("/api/user", token=before["token"])

    assert "for people of the organizations that use it" in refused.text
    assert token["error"] == "invalid_grant"
    assert who.status == 403

    world.assign(customer_id, f"user:{world.user_id(EMAIL)}")
    assert (await _come(visitor, shop))["customer"] == "globex"


async def test_a_customer_token_has_no_power_of_the_vendor_and_shows_nothing_beyond(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    world.connection.execute("UPDATE users SET is_platform_owner = true")
    world.member(shop.organization_id, world.user_id(EMAIL), "owner")
    customer_id = _customer(world, shop, "globex")

    claims = await _come(visitor, shop)
    token = claims["token"]
    who = (await world.client.get("/api/user", token=token)).json
    mine = await world.client.get("/api/organizations", token=token)
    introspected = (await shop.post("/auth/introspect", {"token": token})).json
    about = (await world.client.get("/auth/userinfo", token=token)).json

    assert claims["customer"] == "globex"
    assert not {"role", "is_platform_owner", "is_platform_support"} & set(claims)
    assert (who["role"], who["permissions"], who["is_platform_owner"]) == (None, [], False)
    assert (who["customer"], who["customer_id"], who["service_roles"]) == ("globex", str(customer_id), [])
    assert mine.status == 403 or mine.json == []
    assert (introspected["customer"], about["customer"]) == ("globex", "globex")
    assert (await world.client.get("/api/organizations/vendor", token=token)).status == 403


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE service_customers SET vendor_paused_at = now()",
        "UPDATE service_customers SET customer_paused_at = now()",
        "DELETE FROM service_customers",
        "UPDATE organizations SET status = 'suspended' WHERE slug = 'globex'",
        "UPDATE memberships SET suspended_at = now()",
        "DELETE FROM memberships",
        "UPDATE service_customers SET access = 'assigned'",
    ],
)
async def test_whatever_closes_the_context_ends_access_with_the_row_that_changes(
    shop: RelyingParty, visitor: Visitor, world: World, change: str
) -> None:
    _customer(world, shop, "globex")
    claims = await _come(visitor, shop)
    code = led_back(await _open(visitor, address_of(shop)))["code"]

    world.connection.execute(change.encode())

    refused = await world.client.get("/api/user", token=claims["token"])
    refreshed = (await shop.token("refresh_token", refresh_token=claims["refresh_token"])).json
    assert (refused.status, refused.json["error"]) == (403, NO_LONGER)
    assert (refreshed["error"], refreshed["error_description"]) == ("invalid_grant", NO_LONGER)
    assert (await shop.post("/auth/introspect", {"token": claims["token"]})).json == {"active": False}
    assert (await shop.redeem(code)).json["error"] == "invalid_grant"


async def test_an_empty_customer_comes_as_oneself_and_select_account_asks_again(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    shop.set(individuals="all")
    customer_id = _customer(world, shop, "globex")
    await _come(visitor, shop)

    chooser = await _open(visitor, address_of(shop, prompt="select_account"))
    address = address_of(shop) + "&customer="
    alone = await _claims(shop, await visitor.submit(await _open(visitor, address), ALLOW))
    # A person who has come as an individual is asked from then on.
    asked = await _open(visitor, address_of(shop))

    assert "customer" not in alone
    for page in (chooser, asked):
        assert [form.fields["customer"] for form in forms_of(page) if form.action == ALLOW] == [str(customer_id), ""]


async def test_select_account_shows_the_chooser_also_where_one_customer_is_open(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    customer_id = _customer(world, shop, "globex")
    await _come(visitor, shop, customer_id)
    assert "code" in led_back(await _open(visitor, address_of(shop, prompt="none")))

    chooser = await _open(visitor, address_of(shop, prompt="select_account"))

    assert [form.fields["customer"] for form in forms_of(chooser) if form.action == ALLOW] == [str(customer_id)]
    claims = await _claims(shop, await visitor.submit(chooser, ALLOW))
    assert claims["customer_id"] == str(customer_id)


async def test_a_membership_that_is_no_longer_confirmed_is_asked_for_again(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    customer_id = _customer(world, shop, "globex")
    await _come(visitor, shop, customer_id)
    # As after another person's proof of the address: what was given to the address waits for them.
    world.connection.execute(b"UPDATE memberships SET confirmed_at = NULL")

    silent = led_back(await visitor.send("GET", address_of(shop, prompt="none", customer="globex")))
    question = await _open(visitor, address_of(shop, customer="globex"))

    assert silent["error"] == "consent_required"
    assert any(form.action == ALLOW for form in forms_of(question))
    assert world.value("SELECT confirmed_at IS NULL FROM memberships")


async def test_the_account_says_for_which_customer_each_session_and_sign_in_is(
    world: World, shop: RelyingParty, visitor: Visitor
) -> None:
    globex = _customer(world, shop, "globex")
    world.connection.execute("UPDATE organizations SET name = '<b>Globex</b>' WHERE slug = 'globex'")
    await _come(visitor, shop)

    sessions, sign_ins = [await visitor.open(f"/app/account/{page}") for page in ("sessions", "sign-ins")]
    link = re.findall(r'href="(/app/account/sign-ins/[0-9a-f-]{36})"', sign_ins.text)[0]
    one = await visitor.open(link)
    world.connection.execute("DELETE FROM service_customers WHERE id = %s", (globex,))
    later = await visitor.open("/app/account/sign-ins")

    assert "For the organization &lt;b&gt;Globex&lt;/b&gt;" in sessions.text
    assert "For the organization &lt;b&gt;Globex&lt;/b&gt;" in sign_ins.text
    assert "&lt;b&gt;Globex" in one.text
    assert not shows(later.text, "Globex")


async def test_what_is_not_open_is_alike_to_the_byte(shop: RelyingParty, visitor: Visitor, world: World) -> None:
    _customer(world, shop, "globex")
    named = ["nowhere", "0191d3c1-0000-7000-8000-00000000000f"]
    closed: dict[str, dict[str, Any]] = {"initech": {"is_member": False}, "paused": {"paused_by": ["vendor"]}}
    for slug, settings in closed.items():
        named += [slug, str(_customer(world, shop, slug, **settings))]
    await visitor.sign_in()

    signed_in = [await _open(visitor, address_of(shop, customer=one)) for one in named]
    silent = [await _open(visitor, address_of(shop, customer=one, prompt="none")) for one in named]

    assert {one.status for one in signed_in} == {200}
    pages = {re.sub(r'value="[^"]+"|[0-9a-f]{32}', "", without_tokens(one.text)) for one in signed_in}
    assert len(pages) == 1
    assert len({one.headers["Location"] for one in silent}) == 1
    for answers in (signed_in, silent):
        assert len({frozenset(name for name, _ in one.headers.items()) for one in answers}) == 1


async def test_a_service_does_not_read_that_a_membership_is_deactivated(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    shop.set(individuals="none")
    _customer(world, shop, "globex")
    await visitor.sign_in()
    world.connection.execute(b"UPDATE memberships SET suspended_at = now()")
    told = await _open(visitor, address_of(shop, customer="globex"))
    named, alone = [
        [led_back(await visitor.send("GET", address_of(shop, prompt="none", **one))) for one in wanted]
        for wanted in ([{"customer": "globex"}, {"customer": "nowhere"}], [{}])
    ]
    world.connection.execute(b"DELETE FROM memberships")
    of_none = led_back(await visitor.send("GET", address_of(shop, prompt="none")))

    assert "is deactivated" in told.text
    assert named[0] == named[1]
    assert alone == [of_none]


async def test_who_waited_for_a_customer_of_a_service_that_has_none_any_more_is_asked_as_everyone(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    _customer(world, shop, "globex")
    world.member(shop.organization_id, world.user_id(EMAIL), is_confirmed=False)
    page = await _open(visitor, address_of(shop, customer="globex"))
    world.connection.execute(b"DELETE FROM service_customers")
    shop.set(customers="none", individuals="all")

    methods = await visitor.submit(page, "/app/sign-in", email=EMAIL)
    asked = await visitor.submit(methods, "/app/sign-in/password", password=PASSWORD)
    back = led_back(await visitor.submit(asked, ALLOW))

    assert shows(asked.text, "has added you as a member.")
    assert "code" in back
