"""A service with customers: for which of them its users get assertions."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
import trio

from core.saml.messages import NameIdFormat
from tests.application import Answer
from tests.service_provider import PostedForm, posted_form
from tests.shown_text import shows
from tests.waiting import waiting_for_a_lock
from tests.world.builder import EMAIL, PASSWORD, Service
from tests.world.openid_connection import enforce
from tests.world.saml import SamlService, SamlWorld
from tests.world.team import Team
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World, assert_refused

MAPPING = {
    "email": "mail",
    "id": "uid",
    "role": "role",
    "groups": "groups",
    "customer.id": "tenant",
    "customer.slug": "slug",
    "customer.name": "company",
    "customer.role": "title",
    "customer.external_id": "crm",
    "customer.service_roles": "roles",
}
LOGIN = "/api/organizations/acme/services/shop/saml/login"
SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture
async def shop(saml: SamlWorld, team: Team, world: World) -> SamlService:
    """A service of a vendor, which has customers, and a user who is nothing to the vendor."""
    world.user(EMAIL)
    made = await saml.service(
        team.organization_id, "acme", attribute_mapping=MAPPING, name_id_format=NameIdFormat.PERSISTENT
    )
    world.serve_customers(_service(made), "editor", "viewer")
    return made


def _service(shop: SamlService) -> Service:
    return Service(id=shop.service_id, client_id=shop.service_id)


def _customer(world: World, shop: SamlService, slug: str, *, is_member: bool = True, **settings: Any) -> UUID:
    """Make an organization a customer, and the user its member; return the id of the record."""
    organization_id = world.organization(slug)
    if is_member:
        world.member(organization_id, world.user_id(EMAIL), is_confirmed=settings.pop("is_confirmed", True))
    return world.customer(_service(shop), organization_id, **settings)


def _at(shop: SamlService, customer: UUID | str, message: str | None = None) -> str:
    """Return the address of a request that names a customer."""
    query = shop.sp.query(message or shop.sp.authn_request())
    return f"{shop.path}/sso?customer={customer}&{query}"


def _choice_path(shop: SamlService) -> str:
    return f"{shop.path}/authenticate/customer"


def _offered(shop: SamlService, page: Answer) -> list[str]:
    """Return the customers among which a page asks to choose, in their order; an empty text is for none."""
    return [form.fields["customer"] for form in forms_of(page) if form.action == _choice_path(shop)]


async def _chosen(visitor: Visitor, shop: SamlService, page: Answer, customer: UUID | str) -> PostedForm:
    """Choose a customer on the page that asks, and return the answer to the service provider."""
    assert str(customer) in _offered(shop, page), page.text
    answered = await visitor.submit(page, _choice_path(shop), {"customer": str(customer)})
    return posted_form(answered.text)


def _attributes(form: PostedForm) -> dict[str, list[str]]:
    """Return the values of each attribute."""
    return {
        name: form.texts(f"//saml:Attribute[@Name='{name}']/saml:AttributeValue/text()")
        for name in form.texts("//saml:Attribute/@Name")
    }


def _name(form: PostedForm) -> str:
    [name] = form.texts("//saml:NameID/text()")
    return name


def _customer_of(form: PostedForm) -> list[str]:
    return _attributes(form).get("tenant", [])


async def _denied(visitor: Visitor, address: str) -> str:
    """Return the page of a refused user, after checking what the service provider gets."""
    page = await visitor.open(address)
    assert page.status == 403, page.text
    form = posted_form(page.text)
    assert form.statuses == ["Responder", "RequestDenied"]
    assert form.texts("//saml:Assertion/@ID") == []
    return page.text


class TestBegunByTheServiceProvider:
    """The ways that begin with a request of the service provider."""

    async def test_an_assertion_says_for_which_customer_its_user_comes(
        self, shop: SamlService, visitor: Visitor, world: World
    ) -> None:
        customer_id = _customer(world, shop, "globex", external_id="crm-7")
        world.assign(customer_id, "everyone", "viewer")
        world.assign(customer_id, "role:member", "editor", "viewer")

        page = await visitor.sign_in(path=shop.sso(relay_state="r"))
        form = await _chosen(visitor, shop, page, customer_id)

        assert "Globex" in page.text
        assert "your roles in the application" in page.text
        assert "your role in the organization" not in page.text
        assert (form.fields["RelayState"], form.statuses) == ("r", ["Success"])
        assert _attributes(form) == {
            "mail": [EMAIL],
            "uid": [str(world.user_id(EMAIL))],
            "tenant": [str(customer_id)],
            "slug": ["globex"],
            "company": ["Globex"],
            "title": ["member"],
            "crm": ["crm-7"],
            "roles": ["editor", "viewer"],
        }

    async def test_the_session_of_the_service_provider_acts_for_the_customer(
        self, shop: SamlService, visitor: Visitor, world: World
    ) -> None:
        customer_id = _customer(world, shop, "globex")
        form = await _chosen(visitor, shop, await visitor.sign_in(path=shop.sso()), customer_id)
        [index] = form.texts("//saml:AuthnStatement/@SessionIndex")

        [found] = world.rows("SELECT customer_id, service_id FROM sessions WHERE id = %s", index)
        assert found == (customer_id, shop.service_id)
        assert world.rows("SELECT FROM service_users") == []
        assert world.rows("SELECT customer_id FROM customer_users") == [(customer_id,)]

    async def test_the_first_use_is_asked_once_and_only_in_person(
        self, shop: SamlService, visitor: Visitor, world: World
    ) -> None:
        customer_id = _customer(world, shop, "globex")
        await visitor.sign_in()
        passive = shop.sp.authn_request(IsPassive="true")
        silent = await shop.signed_in(visitor, passive)

        first = await _chosen(visitor, shop, await visitor.open(shop.sso()), customer_id)
        again = await shop.signed_in(visitor)
        silent_again = await shop.signed_in(visitor, shop.sp.authn_request(IsPassive="true"))

        assert silent.statuses == ["Responder", "NoPassive"]
        assert [one.statuses for one in (first, again, silent_again)] == [["Success"]] * 3

    async def test_a_posted_request_keeps_the_customer_of_its_address(
        self, shop: SamlService, visitor: Visitor, world: World
    ) -> None:
        _customer(world, shop, "globex")
        initech = _customer(world, shop, "initech")
        await visitor.sign_in()

        message = shop.sp.authn_request(Destination=f"{shop.sp.idp}/sso?customer=initech")
        posted = await shop.post(visitor, "sso?customer=initech", message)
        page = await visitor.open(posted.headers["Location"])

        assert _offered(shop, page) == [str(initech)]
        assert _customer_of(await _chosen(visitor, shop, page, initech)) == [str(initech)]

    async def test_a_user_of_several_customers_chooses_and_a_request_may_name_one(
        self, shop: SamlService, visitor: Visitor, world: World
    ) -> None:
        globex, initech = _customer(world, shop, "globex"), _customer(world, shop, "initech")
        first = await _chosen(visitor, shop, await visitor.sign_in(path=shop.sso()), initech)

        chooser = await visitor.open(shop.sso())
        by_slug = await visitor.open(_at(shop, "globex"))
        second = await _chosen(visitor, shop, by_slug, globex)
        third = posted_form((await visitor.open(_at(shop, initech))).text)
        silent = await shop.signed_in(visitor, shop.sp.authn_request(IsPassive="true"))

        assert [_customer_of(one) for one in (first, second, third)] == [[str(initech)], [str(globex)], [str(initech)]]
        # The last choice stands first, and only people who would get an assertion may come as themselves.
        assert _offered(shop, chooser) == [str(initech), str(globex)]
        assert not shows(by_slug.text, "Initech")
        assert silent.statuses == ["Responder", "NoPassive"]

    async def test_the_customer_is_kept_through_the_sign_in(
        self, shop: SamlService, visitor: Visitor, world: World
    ) -> None:
        _customer(world, shop, "globex")
        initech = _customer(world, shop, "initech")

        page = await visitor.sign_in(path=_at(shop, "initech"))

        assert _offered(shop, page) == [str(initech)]

    @pytest.mark.parametrize("named", ["nowhere", "initech", "paused", "0191d3c1-0000-7000-8000-00000000000f"])
    async def test_what_is_not_open_is_alike(
        self, shop: SamlService, visitor: Visitor, world: World, named: str
    ) -> None:
        _customer(world, shop, "globex")
        _customer(world, shop, "initech", is_member=False)
        _customer(world, shop, "paused", paused_by=["vendor"])
        await visitor.sign_in()

        text = await _denied(visitor, _at(shop, named))
        silent = posted_form((await visitor.open(_at(shop, named, shop.sp.authn_request(IsPassive="true")))).text)

        assert "You cannot use this application for that customer" in text
        assert "Ask an administrator of your organization for access" in text
        assert silent.statuses == ["Responder", "RequestDenied"]
        assert world.rows("SELECT FROM sessions WHERE provider = 'saml'") == []

    async def test_before_authentication_the_page_is_the_same_for_every_slug(
        self, shop: SamlService, visitor: Visitor, world: World
    ) -> None:
        _customer(world, shop, "globex")
        _customer(world, shop, "paused", paused_by=["customer"])
        pages = [await Visitor(visitor.client).open(_at(shop, named)) for named in ("globex", "paused", "nowhere", "")]

        assert [page.status for page in pages] == [200] * 4
        assert not any(shows(page.text, word) for page in pages for word in ("Globex", "Paused", "customer"))
        assert len({len(page.text) for page in pages}) == 1

    async def test_an_unconfirmed_membership_is_confirmed_by_the_answer(
        self, shop: SamlService, visitor: Visitor, world: World
    ) -> None:
        customer_id = _customer(world, shop, "globex", is_confirmed=False)
        await visitor.sign_in()
        silent = await shop.signed_in(visitor, shop.sp.authn_request(IsPassive="true"))

        page = await visitor.open(shop.sso())
        form = await _chosen(visitor, shop, page, customer_id)

        assert silent.statuses == ["Responder", "NoPassive"]
        assert "Globex has added you" in page.text
        assert _customer_of(form) == [str(customer_id)]
        assert world.value("SELECT confirmed_at IS NOT NULL FROM memberships WHERE user_id = %s", world.user_id(EMAIL))

    async def test_a_signed_request_may_not_be_moved_to_another_customer(
        self, saml: SamlWorld, team: Team, visitor: Visitor, world: World
    ) -> None:
        shop = await saml.service(team.organization_id, "acme")
        world.serve_customers(_service(shop))
        for_globex = f"{shop.sp.idp}/sso?customer=globex"

        moved = await visitor.open(_at(shop, "initech", shop.sp.authn_request(Destination=for_globex)))
        bare = await visitor.open(shop.sso(shop.sp.authn_request(Destination=for_globex)))
        right = await visitor.open(_at(shop, "globex", shop.sp.authn_request(Destination=for_globex)))

        assert [page.status for page in (moved, bare, right)] == [400, 400, 200]
        assert "Its Destination is another address" in moved.text

    async def test_a_service_without_customers_ignores_the_parameter(
        self, saml: SamlWorld, team: Team, visitor: Visitor
    ) -> None:
        service = await saml.service(team.organization_id, "acme", attribute_mapping=MAPPING)
        await visitor.sign_in("member@example.com")

        form = posted_form((await visitor.open(_at(service, "globex"))).text)

        assert team.ids
        assert set(_attributes(form)) == {"mail", "uid", "role", "groups"}


class TestIndividuals:
    """A person without a customer is judged as at a service without customers."""

    async def test_with_members_only_an_individual_has_to_be_a_member_of_the_vendor(
        self, shop: SamlService, visitor: Visitor, world: World, team: Team
    ) -> None:
        await visitor.sign_in()
        refused = await _denied(visitor, shop.sso())
        world.member(team.organization_id, world.user_id(EMAIL))

        form = await shop.signed_in(visitor)

        assert "Your account cannot use Shop of acme" in refused
        assert _attributes(form) == {
            "mail": [EMAIL],
            "uid": [str(world.user_id(EMAIL))],
            "role": ["member"],
            "groups": ["member"],
        }

    async def test_people_of_no_customer_agree_first_where_everybody_may_come(
        self, shop: SamlService, visitor: Visitor, world: World
    ) -> None:
        world.connection.execute("UPDATE saml_configurations SET members_only = false")
        await visitor.sign_in()

        page = await visitor.open(shop.sso())
        form = posted_form((await visitor.submit(page, f"{shop.path}/authenticate")).text)

        assert not shows(page.text, "customer")
        assert form.statuses == ["Success"]
        assert _customer_of(form) == []

    @pytest.mark.parametrize(("policy", "may_create"), [("listed", False), ("any", True)])
    async def test_a_service_for_customers_alone_says_whom_to_ask(
        self, shop: SamlService, visitor: Visitor, world: World, policy: str, may_create: bool
    ) -> None:
        world.serve_customers(_service(shop), policy=policy, individuals="none")
        world.connection.execute("UPDATE saml_configurations SET members_only = false")
        await visitor.sign_in()

        text = await _denied(visitor, shop.sso())

        assert "for people of the organizations that use it" in text
        assert ("/app/organizations/new" in text) is may_create

    async def test_a_member_of_the_vendor_chooses_between_a_customer_and_themselves(
        self, shop: SamlService, visitor: Visitor, world: World, team: Team
    ) -> None:
        world.member(team.organization_id, world.user_id(EMAIL), "admin")
        globex = _customer(world, shop, "globex")
        initech = _customer(world, shop, "initech")
        await visitor.sign_in()

        page = await visitor.open(shop.sso())
        for_globex = await _chosen(visitor, shop, page, globex)
        alone = await _chosen(visitor, shop, await visitor.open(shop.sso()), "")
        named = posted_form((await visitor.open(_at(shop, ""))).text)

        assert _offered(shop, page) == [str(globex), str(initech), ""]
        # In the context of a customer, no role and no groups of the vendor.
        assert not {"role", "groups"} & set(_attributes(for_globex))
        assert [_attributes(one)["role"] for one in (alone, named)] == [["admin"], ["admin"]]
        assert [_customer_of(one) for one in (alone, named)] == [[], []]


class TestNames:
    """A person has one persistent name for each service and customer."""

    async def test_a_persistent_name_differs_between_customers_and_is_stable(
        self, shop: SamlService, visitor: Visitor, world: World, team: Team
    ) -> None:
        globex, initech = _customer(world, shop, "globex"), _customer(world, shop, "initech")
        world.member(team.organization_id, world.user_id(EMAIL))
        await visitor.sign_in()

        first = [
            _name(await _chosen(visitor, shop, await visitor.open(_at(shop, one)), one)) for one in (globex, initech)
        ]
        second = [_name(posted_form((await visitor.open(_at(shop, one))).text)) for one in (globex, initech)]
        alone = _name(posted_form((await visitor.open(_at(shop, ""))).text))
        world.connection.execute("UPDATE services SET customers = 'none'")
        without = _name(await shop.signed_in(visitor))

        assert first == second
        assert len({*first, alone}) == 3
        assert without == alone

    async def test_a_request_for_the_name_at_another_customer_is_refused(
        self, shop: SamlService, visitor: Visitor, world: World
    ) -> None:
        globex, initech = _customer(world, shop, "globex"), _customer(world, shop, "initech")
        await visitor.sign_in()
        name = _name(await _chosen(visitor, shop, await visitor.open(_at(shop, globex)), globex))
        subject = f'<saml:Subject><saml:NameID Format="{NameIdFormat.PERSISTENT}">{name}</saml:NameID></saml:Subject>'

        right = await visitor.open(_at(shop, globex, shop.sp.authn_request(inside=subject)))
        page = await visitor.open(_at(shop, initech, shop.sp.authn_request(inside=subject)))
        wrong = await _chosen(visitor, shop, page, initech)

        assert posted_form(right.text).statuses == ["Success"]
        assert wrong.statuses == ["Requester", "UnknownPrincipal"]


class TestSessions:
    """A browser session that may not go there, and what ends the session of a service provider."""

    async def test_a_session_by_a_connection_of_the_vendor_is_asked_to_sign_in_for_the_customer(
        self, shop: SamlService, visitor: Visitor, world: World
    ) -> None:
        customer_id = _customer(world, shop, "globex")
        await visitor.sign_in()
        _confine(world, shop.organization_id)

        silent = posted_form((await visitor.open(_at(shop, "globex", shop.sp.authn_request(IsPassive="true")))).text)
        asked = await visitor.open(_at(shop, "globex"))
        methods = await visitor.submit(asked, "/app/sign-in", email=EMAIL)
        page = await visitor.submit(methods, "/app/sign-in/password", password=PASSWORD)

        assert silent.statuses == ["Responder", "NoPassive"]
        assert not shows(asked.text, "Globex")
        assert _customer_of(await _chosen(visitor, shop, page, customer_id)) == [str(customer_id)]

    async def test_a_session_by_a_connection_of_the_customer_goes_there_and_nowhere_else(
        self, shop: SamlService, visitor: Visitor, world: World
    ) -> None:
        globex = _customer(world, shop, "globex")
        _customer(world, shop, "initech")
        await visitor.sign_in()
        _confine(world, world.value("SELECT organization_id FROM service_customers WHERE id = %s", globex))

        asked = await visitor.open(shop.sso())
        form = await _chosen(visitor, shop, asked, globex)
        elsewhere = await visitor.open(_at(shop, "initech"))

        assert _offered(shop, asked) == [str(globex)]
        assert _customer_of(form) == [str(globex)]
        assert "/app/sign-in" in {one.action for one in forms_of(elsewhere)}

    async def test_an_own_session_of_each_customer_ends_with_the_browser_and_by_its_index(
        self, shop: SamlService, visitor: Visitor, world: World
    ) -> None:
        globex, initech = _customer(world, shop, "globex"), _customer(world, shop, "initech")
        await visitor.sign_in()
        forms = [await _chosen(visitor, shop, await visitor.open(_at(shop, one)), one) for one in (globex, initech)]
        again = posted_form((await visitor.open(_at(shop, globex))).text)
        live = "SELECT customer_id FROM sessions WHERE provider = 'saml' AND revoked_at IS NULL ORDER BY customer_id"
        both = world.rows(live)

        [index] = again.texts("//saml:AuthnStatement/@SessionIndex")
        request = shop.sp.logout_request(_name(again), index, name_format=NameIdFormat.PERSISTENT)
        await visitor.send("GET", f"{shop.path}/slo?{shop.sp.query(request)}")

        assert [one.statuses for one in forms] == [["Success"]] * 2
        assert both == [(globex,), (initech,)]
        assert (globex,) not in world.rows(live)

    @pytest.mark.parametrize(
        ("change", "text"),
        [
            ("UPDATE service_customers SET customer_paused_at = now()", "You cannot use this application for that"),
            ("UPDATE memberships SET suspended_at = now()", "is deactivated"),
            ("UPDATE service_customers SET access = 'assigned'", "You cannot use this application for that"),
        ],
    )
    async def test_what_closes_the_customer_refuses_the_next_assertion(
        self, shop: SamlService, visitor: Visitor, world: World, change: str, text: str
    ) -> None:
        customer_id = _customer(world, shop, "globex")
        await visitor.sign_in()
        await _chosen(visitor, shop, await visitor.open(_at(shop, "globex")), customer_id)

        world.connection.execute(change.encode())

        assert text in await _denied(visitor, _at(shop, "globex"))
        recorded = world.rows("SELECT customer_id FROM login_events WHERE reason = 'customer_closed'")
        assert recorded == [(customer_id,)]

    async def test_an_answer_to_a_customer_that_was_closed_meanwhile_is_refused(
        self, shop: SamlService, visitor: Visitor, world: World
    ) -> None:
        customer_id = _customer(world, shop, "globex")
        page = await visitor.sign_in(path=shop.sso())
        world.connection.execute("UPDATE service_customers SET vendor_paused_at = now()")

        form = await _chosen(visitor, shop, page, customer_id)

        assert form.statuses == ["Responder", "RequestDenied"]

    async def test_a_customer_that_is_closed_while_its_session_begins_gets_no_assertion(
        self, shop: SamlService, visitor: Visitor, world: World
    ) -> None:
        customer_id = _customer(world, shop, "globex")
        page = await visitor.sign_in(path=shop.sso())
        answers: list[Answer] = []

        async def choose() -> None:
            answers.append(await visitor.submit(page, _choice_path(shop), {"customer": str(customer_id)}))

        async with trio.open_nursery() as nursery:
            with world.connection.transaction():
                world.connection.execute("UPDATE service_customers SET vendor_paused_at = now()")
                nursery.start_soon(choose)
                await waiting_for_a_lock(world.connection)

        assert [answer.status for answer in answers] == [401]
        assert world.rows("SELECT FROM sessions WHERE provider = 'saml'") == []

    async def test_a_customer_that_requires_its_connection_leads_there(
        self, shop: SamlService, visitor: Visitor, world: World
    ) -> None:
        before = (await world.sign_in(EMAIL)).access_token
        await enforce(world, "globex", "example.com")
        globex = world.value("SELECT id FROM organizations WHERE slug = 'globex'")
        world.member(globex, world.user_id(EMAIL))
        customer_id = world.customer(_service(shop), globex)

        page = await visitor.sign_in(path=shop.sso())
        sent = await visitor.submit(page, _choice_path(shop), {"customer": str(customer_id)}, is_followed=False)
        by_token = await world.client.get(f"{LOGIN}?customer=globex", token=before)

        assert sent.headers["Location"].startswith("/auth/upstream?")
        assert_refused(by_token, 403, "SSO_REQUIRED")

    async def test_the_form_of_another_site_chooses_nothing(
        self, shop: SamlService, visitor: Visitor, world: World
    ) -> None:
        customer_id = _customer(world, shop, "globex")
        await visitor.sign_in(path=shop.sso())

        forged = await visitor.post(_choice_path(shop), {"saml_state": "", "customer": str(customer_id)})

        assert forged.status == 403
        assert world.rows("SELECT FROM sessions WHERE provider = 'saml'") == []


class TestBegunHere:
    """The way that begins at Gatehouse: GET …/saml/login."""

    async def test_a_program_names_the_customer(self, shop: SamlService, world: World) -> None:
        globex, initech = _customer(world, shop, "globex"), _customer(world, shop, "initech")
        token = (await world.sign_in(EMAIL)).access_token

        unnamed = await world.client.get(LOGIN, token=token)
        named = await world.client.get(f"{LOGIN}?customer=initech&RelayState=r", token=token)
        by_id = await world.client.get(f"{LOGIN}?customer={globex}", token=token)
        unknown = await world.client.get(f"{LOGIN}?customer=nowhere", token=token)

        assert_refused(unnamed, 403, "FORBIDDEN")
        assert (posted_form(named.text).fields["RelayState"], _customer_of(posted_form(named.text))) == (
            "r",
            [str(initech)],
        )
        assert _customer_of(posted_form(by_id.text)) == [str(globex)]
        assert posted_form(unknown.text).statuses == ["Responder", "RequestDenied"]

    async def test_the_token_of_a_service_opens_no_customer(self, shop: SamlService, world: World, team: Team) -> None:
        _customer(world, shop, "globex")
        world.service(team.organization_id, "blog")
        token = (await world.sign_in(EMAIL, org_slug="acme", service_slug="blog")).access_token

        assert_refused(await world.client.get(f"{LOGIN}?customer=globex", token=token), 403, "FORBIDDEN")

    async def test_a_limited_token_goes_nowhere_else(self, shop: SamlService, world: World) -> None:
        _customer(world, shop, "globex")
        token = (await world.sign_in(EMAIL)).access_token
        _confine(world, shop.organization_id)

        assert_refused(await world.client.get(f"{LOGIN}?customer=globex", token=token), 403, "FORBIDDEN")

    async def test_a_browser_is_asked_once(self, shop: SamlService, visitor: Visitor, world: World) -> None:
        customer_id = _customer(world, shop, "globex")
        await visitor.sign_in()

        page = await visitor.send("GET", f"{LOGIN}?RelayState=r", headers=SAME_ORIGIN)
        form = await _chosen(visitor, shop, page, customer_id)
        again = await visitor.send("GET", LOGIN, headers=SAME_ORIGIN)

        assert (form.fields["RelayState"], form.texts("//@InResponseTo")) == ("r", [])
        assert _customer_of(form) == [str(customer_id)]
        assert _customer_of(posted_form(again.text)) == [str(customer_id)]

    async def test_a_browser_that_another_site_has_sent_is_asked_first(
        self, shop: SamlService, visitor: Visitor, world: World
    ) -> None:
        globex = _customer(world, shop, "globex")
        _customer(world, shop, "initech")
        await visitor.sign_in()
        await _chosen(visitor, shop, await visitor.open(_at(shop, globex)), globex)
        before = world.rows("SELECT id FROM sessions")

        asked = await visitor.send("GET", f"{LOGIN}?customer=globex&RelayState=r")
        unchanged = world.rows("SELECT id FROM sessions") == before
        form = posted_form((await visitor.submit(asked, f"{shop.path}/authenticate")).text)

        assert unchanged
        assert (form.fields["RelayState"], _customer_of(form)) == ("r", [str(globex)])

    async def test_a_browser_whose_session_does_not_go_there_signs_in_and_comes_back(
        self, shop: SamlService, visitor: Visitor, world: World
    ) -> None:
        customer_id = _customer(world, shop, "globex")
        _customer(world, shop, "initech")
        await visitor.sign_in()
        _confine(world, shop.organization_id)

        asked = await visitor.send("GET", f"{LOGIN}?customer=globex", headers=SAME_ORIGIN)
        page = await visitor.open(asked.headers["Location"])
        methods = await visitor.submit(page, "/app/sign-in", email=EMAIL)
        back = await visitor.submit(methods, "/app/sign-in/password", password=PASSWORD)
        question = await visitor.submit(back, f"{shop.path}/authenticate")

        assert _offered(shop, question) == [str(customer_id)]


def _confine(world: World, organization_id: UUID) -> None:
    """Limit the sessions of the user to an organization, as one by its connection is."""
    world.connection.execute(
        "UPDATE sessions SET confined_to = %s WHERE user_id = %s", (organization_id, world.user_id(EMAIL))
    )


async def test_who_comes_alone_reads_that_the_vendor_has_added_them(
    shop: SamlService, visitor: Visitor, team: Team, world: World
) -> None:
    _customer(world, shop, "globex")
    _customer(world, shop, "initech")
    world.member(team.organization_id, world.user_id(EMAIL), is_confirmed=False)
    world.connection.execute(b"UPDATE services SET access = 'members', individuals = 'all'")
    await visitor.sign_in()
    confirmed = "SELECT confirmed_at IS NOT NULL FROM memberships WHERE organization_id = %s AND user_id = %s"
    here = (team.organization_id, world.user_id(EMAIL))

    page = await visitor.open(shop.sso())
    action = f"{shop.path}/authenticate/customer"
    forged = await visitor.submit(page, action, {"customer": "", "joins": ""})
    assert not world.value(confirmed, *here)
    done = await visitor.submit(forged, f"{shop.path}/authenticate")

    assert shows(page.text, "has added you as a member.")
    assert shows(forged.text, "has added you as a member.")
    assert shows(done.text, "Who do you use it for?")
    assert posted_form((await visitor.submit(page, action, {"customer": ""})).text).statuses == ["Success"]
    assert world.value(confirmed, *here)


@pytest.mark.parametrize("access", ["everyone", "members"])
async def test_a_program_confirms_no_membership(shop: SamlService, team: Team, world: World, access: str) -> None:
    world.member(team.organization_id, world.user_id(EMAIL), is_confirmed=False)
    world.connection.execute(b"UPDATE services SET access = %s, individuals = 'all'", (access,))
    tokens = await world.sign_in(EMAIL)

    answer = await world.client.get(LOGIN, token=tokens.access_token)

    if access == "everyone":
        assert posted_form(answer.text).statuses == ["Success"]
    else:
        assert_refused(answer, 403, "FORBIDDEN")
    assert world.value("SELECT confirmed_at IS NULL FROM memberships WHERE user_id = %s", world.user_id(EMAIL))
    assert shop.path
