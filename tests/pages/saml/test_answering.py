"""Single sign-on: requests of service providers, and the answers to them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from core.saml.message_checks import MFA_CONTEXT, PASSWORD_CONTEXT
from core.saml.messages import NameIdFormat
from tests.clock import SettableClock
from tests.service_provider import is_signed, posted_form
from tests.shown_text import shows
from tests.world.builder import PASSWORD
from tests.world.directory import insert_directory
from tests.world.saml import SamlService, SamlWorld
from tests.world.team import Team
from tests.world.visitor import Visitor

ASSERTION = "/samlp:Response/saml:Assertion"


class TestSignedIn:
    """A browser that is signed in to Gatehouse."""

    async def test_a_request_by_redirect_is_answered_at_once(self, browser: Visitor, saml_shop: SamlService) -> None:
        request = saml_shop.sp.authn_request(ID="_the-request")

        page = await browser.open(saml_shop.sso(request, relay_state="back to here"))

        form = posted_form(page.text)
        assert (form.action, form.fields["RelayState"]) == (saml_shop.sp.acs_url, "back to here")
        assert form.statuses == ["Success"]
        assert form.texts("@InResponseTo") == ["_the-request"]
        assert form.texts(f"{ASSERTION}/saml:Subject/saml:NameID/text()") == ["member@example.com"]
        assert form.texts(f"{ASSERTION}//saml:Audience/text()") == [saml_shop.sp.entity_id]
        assert form.texts(f"{ASSERTION}//saml:Attribute/@Name") == ["email", "id"]
        assert is_signed(form.root, saml_shop.key.certificate_pem)
        assert is_signed(form.root.find("saml:Assertion", form.root.nsmap), saml_shop.key.certificate_pem)

    async def test_a_posted_request_is_answered_after_a_redirect_that_brings_the_cookies(
        self, browser: Visitor, saml_shop: SamlService
    ) -> None:
        posted = await saml_shop.post(browser, "sso", saml_shop.sp.authn_request(ID="_posted"), relay_state="r")
        assert posted.status == 303

        form = posted_form((await browser.open(posted.headers["Location"])).text)

        assert (form.texts("@InResponseTo"), form.fields["RelayState"]) == (["_posted"], "r")

    async def test_the_page_runs_only_its_own_script_and_names_only_its_origin(
        self, browser: Visitor, saml_shop: SamlService
    ) -> None:
        page = await browser.open(saml_shop.sso())

        policy = page.headers["Content-Security-Policy"]
        assert "script-src 'self';" in policy
        assert not shows(policy, "unsafe")
        assert page.headers["Referrer-Policy"] == "strict-origin"
        assert page.headers["Cache-Control"] == "no-store"
        assert "<button" in page.text

    async def test_the_service_provider_has_a_session_of_its_own(
        self, browser: Visitor, saml_shop: SamlService, team: Team
    ) -> None:
        form = await saml_shop.signed_in(browser)

        [index] = form.texts("//saml:AuthnStatement/@SessionIndex")
        [(provider, service_id, has_parent)] = saml_shop.world.rows(
            "SELECT provider, service_id, parent_id IS NOT NULL FROM sessions WHERE id = %s", index
        )
        assert (provider, service_id, has_parent) == ("saml", saml_shop.service_id, True)
        events = saml_shop.world.events("user.login.success")
        [data] = [data for _, _, data in events if data["provider"] == "saml"]
        assert data["service_id"] == str(saml_shop.service_id)
        recorded = saml_shop.world.rows(
            "SELECT success, service_id, user_id FROM login_events WHERE provider = 'saml' AND organization_id = %s",
            saml_shop.organization_id,
        )
        assert recorded == [(True, saml_shop.service_id, team.ids["member"])]
        assert team.ids["member"] in [row[0] for row in saml_shop.world.rows("SELECT user_id FROM service_users")]

    @pytest.mark.long
    async def test_a_second_sign_in_replaces_the_session_of_the_first(
        self, browser: Visitor, saml_shop: SamlService
    ) -> None:
        for _ in range(3):
            await saml_shop.signed_in(browser)

        live = saml_shop.world.rows("SELECT id FROM sessions WHERE provider = 'saml' AND revoked_at IS NULL")
        assert len(live) == 1

    @pytest.mark.parametrize("name_format", [NameIdFormat.PERSISTENT, NameIdFormat.TRANSIENT])
    async def test_a_name_is_stable_for_one_service_or_fresh_each_time(
        self, browser: Visitor, saml: SamlWorld, team: Team, name_format: NameIdFormat
    ) -> None:
        shop = await saml.service(team.organization_id, "acme", name_id_format=name_format)
        blog = await saml.service(team.organization_id, "acme", "blog", name_id_format=name_format)

        names = [(await service.signed_in(browser)).texts("//saml:NameID/text()")[0] for service in (shop, shop, blog)]

        assert (names[0] == names[1]) is (name_format is NameIdFormat.PERSISTENT)
        assert names[0] != names[2]
        assert not shows(" ".join(names), "member")

    @pytest.mark.parametrize("name_format", NameIdFormat)
    @pytest.mark.long
    async def test_the_format_of_a_name_is_the_configured_one_and_always_stated(
        self, browser: Visitor, saml: SamlWorld, team: Team, name_format: NameIdFormat
    ) -> None:
        service = await saml.service(team.organization_id, "acme", name_id_format=name_format)

        form = await service.signed_in(browser)

        assert form.texts("//saml:NameID/@Format") == [name_format]
        has_address = name_format in {NameIdFormat.EMAIL_ADDRESS, NameIdFormat.UNSPECIFIED}
        assert (form.texts("//saml:NameID/text()") == ["member@example.com"]) is has_address

    @pytest.mark.long
    async def test_after_a_change_of_the_certificate_the_new_one_signs(
        self, browser: Visitor, saml_shop: SamlService, team: Team
    ) -> None:
        created = await team.request("owner", "POST", "/services/shop/saml/certificate")

        form = await saml_shop.signed_in(browser)

        assert is_signed(form.root, created.json["public_key"])
        assert not is_signed(form.root, saml_shop.key.certificate_pem)

    async def test_attributes_are_mapped(self, browser: Visitor, saml: SamlWorld, team: Team) -> None:
        mapping = {"email": "mail", "id": "uid", "role": "r", "groups": "g", "name": "n"}
        service = await saml.service(team.organization_id, "acme", attribute_mapping=mapping)

        form = await service.signed_in(browser)

        values = [(name, form.texts(f"//saml:Attribute[@Name='{name}']/saml:AttributeValue/text()")) for name in "rgn"]
        assert set(form.texts("//saml:Attribute/@Name")) == {"mail", "uid", "r", "g", "n"}
        # The user has no name, and none is made of the address.
        assert values == [("r", ["member"]), ("g", ["member"]), ("n", [])]
        assert form.texts("//saml:Attribute[@Name='uid']/saml:AttributeValue/text()") == [str(team.ids["member"])]
        assert form.texts("//saml:Attribute[@Name='mail']/saml:AttributeValue/text()") == ["member@example.com"]

        team.world.connection.execute("UPDATE users SET name = 'Memo' WHERE id = %s", (team.ids["member"],))
        named = await service.signed_in(browser)
        assert named.texts("//saml:Attribute[@Name='n']/saml:AttributeValue/text()") == ["Memo"]

    async def test_a_member_has_the_name_that_the_directory_gave(
        self, browser: Visitor, saml: SamlWorld, team: Team
    ) -> None:
        service = await saml.service(team.organization_id, "acme", attribute_mapping={"name": "n"})
        name = {"op": "replace", "value": {"name": {"givenName": "Mary", "familyName": "<O'Neil>\x01 & Sons"}}}
        changed = await insert_directory(team).patch(str(team.ids["member"]), name)

        form = await service.signed_in(browser)

        assert changed.status == 200, changed.text
        assert form.texts("//saml:AttributeValue/text()") == ["Mary <O'Neil> & Sons"]

    async def test_groups_are_named_to_a_service_that_learns_of_them(
        self, browser: Visitor, saml: SamlWorld, team: Team
    ) -> None:
        service = await saml.service(team.organization_id, "acme", attribute_mapping={"groups": "memberOf"})
        directory = insert_directory(team, groups="directory")
        for name in ("Sales", "Audit"):
            await directory.create_group(name, "member")
        await directory.create_group("Interns", "admin")
        await team.request("owner", "PATCH", "/services/shop", body={"group_claims": ["all"]})

        form = await service.signed_in(browser)

        assert form.texts("//saml:Attribute/@Name") == ["memberOf"]
        assert form.texts("//saml:AttributeValue/text()") == ["Audit", "Sales"]


class TestSignedOut:
    """A browser that is not signed in."""

    async def test_the_user_signs_in_and_the_request_is_answered(
        self, visitor: Visitor, saml_shop: SamlService
    ) -> None:
        first = await visitor.send("GET", saml_shop.sso(relay_state="r"))
        assert first.status == 303
        assert first.headers["Location"].startswith(f"{saml_shop.path}/authenticate?saml_state=")

        asked = await visitor.open(first.headers["Location"])
        assert "Shop of acme" in asked.text
        methods = await visitor.submit(asked, "/app/sign-in", email="member@example.com")
        page = await visitor.submit(methods, "/app/sign-in/password", password=PASSWORD)

        form = posted_form(page.text)
        assert (form.action, form.fields["RelayState"], form.statuses) == (saml_shop.sp.acs_url, "r", ["Success"])

    async def test_another_browser_cannot_use_the_state(
        self, browser: Visitor, saml_shop: SamlService, visitor: Visitor
    ) -> None:
        stranger = Visitor(visitor.client)
        state = (await stranger.send("GET", saml_shop.sso())).headers["Location"]

        assert (await browser.open(state)).status == 400

    async def test_a_state_is_answered_once(self, browser: Visitor, saml_shop: SamlService) -> None:
        posted = await saml_shop.post(browser, "sso", saml_shop.sp.authn_request())
        first = await browser.open(posted.headers["Location"])
        second = await browser.open(posted.headers["Location"])

        assert (first.status, second.status) == (200, 400)

    async def test_a_state_expires(self, browser: Visitor, saml_shop: SamlService, clock: SettableClock) -> None:
        posted = await saml_shop.post(browser, "sso", saml_shop.sp.authn_request())
        clock.now += timedelta(minutes=15)

        assert (await browser.open(posted.headers["Location"])).status == 400


class TestWishes:
    """What a request asks for."""

    async def test_a_fresh_authentication_is_asked_for(
        self, browser: Visitor, saml_shop: SamlService, clock: SettableClock
    ) -> None:
        clock.now += timedelta(minutes=1)
        first = await browser.send("GET", saml_shop.sso(saml_shop.sp.authn_request(ForceAuthn="true")))
        asked = await browser.open(first.headers["Location"])
        assert "password" in asked.text

        page = await browser.submit(asked, "/app/sign-in-again", password=PASSWORD)

        form = posted_form(page.text)
        assert form.texts("//saml:AuthnStatement/@AuthnInstant") == [saml_shop.sp.time()]

    async def test_without_a_fresh_authentication_the_answer_has_the_time_of_the_last(
        self, browser: Visitor, saml_shop: SamlService, clock: SettableClock
    ) -> None:
        clock.now += timedelta(minutes=1)

        form = await saml_shop.signed_in(browser)

        assert form.texts("//saml:AuthnStatement/@AuthnInstant") == [saml_shop.sp.time(-timedelta(minutes=1))]

    @pytest.mark.parametrize("force", ["false", "true"])
    async def test_a_passive_request_is_not_followed_by_a_page(
        self, visitor: Visitor, saml_shop: SamlService, browser: Visitor, clock: SettableClock, force: str
    ) -> None:
        clock.now += timedelta(minutes=1)
        one = browser if force == "true" else Visitor(visitor.client)

        page = await one.open(saml_shop.sso(saml_shop.sp.authn_request(IsPassive="true", ForceAuthn=force)))

        form = posted_form(page.text)
        assert form.statuses == ["Responder", "NoPassive"]
        assert form.texts("//saml:Assertion/@ID") == []
        assert is_signed(form.root, saml_shop.key.certificate_pem)

    async def test_a_passive_request_is_answered_when_nothing_is_to_be_asked(
        self, browser: Visitor, saml_shop: SamlService
    ) -> None:
        form = await saml_shop.signed_in(browser, saml_shop.sp.authn_request(IsPassive="true"))

        assert form.statuses == ["Success"]

    @pytest.mark.parametrize(
        ("attributes", "inside", "statuses"),
        [
            ({"ProtocolBinding": "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Artifact"}, "", "UnsupportedBinding"),
            ({}, f'<samlp:NameIDPolicy Format="{NameIdFormat.TRANSIENT}"/>', "InvalidNameIDPolicy"),
            ({}, '<samlp:NameIDPolicy SPNameQualifier="https://other.example"/>', "InvalidNameIDPolicy"),
            ({}, "<saml:Subject><saml:NameID>eve@example.com</saml:NameID></saml:Subject>", "UnknownPrincipal"),
        ],
        ids=["binding", "format", "qualifier", "subject"],
    )
    async def test_what_is_not_offered_is_answered_with_a_status(
        self, browser: Visitor, saml_shop: SamlService, attributes: dict[str, str], inside: str, statuses: str
    ) -> None:
        form = await saml_shop.signed_in(browser, saml_shop.sp.authn_request(inside=inside, **attributes))

        assert form.statuses == ["Requester", statuses]
        assert form.texts("//saml:Assertion/@ID") == []

    @pytest.mark.parametrize(
        "inside",
        [
            f'<samlp:NameIDPolicy Format="{NameIdFormat.EMAIL_ADDRESS}" AllowCreate="true"/>',
            f'<samlp:NameIDPolicy Format="{NameIdFormat.UNSPECIFIED}"/>',
            "<saml:Subject><saml:NameID>member@example.com</saml:NameID></saml:Subject>",
        ],
        ids=["the same format", "any format", "the same user"],
    )
    async def test_what_is_configured_may_be_asked_for(
        self, browser: Visitor, saml_shop: SamlService, inside: str
    ) -> None:
        assert (await saml_shop.signed_in(browser, saml_shop.sp.authn_request(inside=inside))).statuses == ["Success"]

    @pytest.mark.parametrize(
        ("requested", "comparison", "answered"),
        [
            ([], "exact", PASSWORD_CONTEXT),
            ([PASSWORD_CONTEXT], "exact", PASSWORD_CONTEXT),
            (["urn:other", PASSWORD_CONTEXT], "minimum", PASSWORD_CONTEXT),
            (["urn:other"], "exact", None),
            ([MFA_CONTEXT], "exact", None),
            ([PASSWORD_CONTEXT], "better", None),
        ],
    )
    async def test_the_authentication_context_is_one_of_the_requested(
        self, browser: Visitor, saml_shop: SamlService, requested: list[str], comparison: str, answered: str | None
    ) -> None:
        classes = "".join(f"<saml:AuthnContextClassRef>{one}</saml:AuthnContextClassRef>" for one in requested)
        context = f'<samlp:RequestedAuthnContext Comparison="{comparison}">{classes}</samlp:RequestedAuthnContext>'
        inside = context if requested else ""

        form = await saml_shop.signed_in(browser, saml_shop.sp.authn_request(inside=inside))

        assert form.texts("//saml:AuthnContextClassRef/text()") == ([answered] if answered else [])
        assert form.statuses == (["Success"] if answered else ["Requester", "NoAuthnContext"])
