"""Who gets an assertion, and that no assertion crosses services or tenants."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.clock import SettableClock
from tests.service_provider import forms_of, posted_form
from tests.world.directory import insert_directory
from tests.world.saml import SamlService, SamlWorld
from tests.world.team import Team
from tests.world.visitor import Visitor


class TestAccess:
    async def denied(self, browser: Visitor, service: SamlService) -> str:
        """Return the page of a refused user, after checking what the service provider gets."""
        page = await browser.open(service.sso(relay_state="r"))
        assert page.status == 403, page.text
        form = posted_form(page.text)
        assert (form.action, form.fields["RelayState"]) == (service.sp.acs_url, "r")
        assert form.statuses == ["Responder", "RequestDenied"]
        assert form.texts("//saml:Assertion/@ID") == []
        assert "submit()" not in page.text
        return page.text

    async def test_a_stranger_reads_whom_to_ask(self, visitor: Visitor, saml_shop: SamlService) -> None:
        saml_shop.world.user("stranger@example.com")
        await visitor.sign_in("stranger@example.com")

        text = await self.denied(visitor, saml_shop)

        assert "Ask an administrator of Acme" in text or "Ask an administrator of acme" in text
        assert saml_shop.world.rows("SELECT user_id FROM service_users") == []
        assert saml_shop.world.rows("SELECT id FROM sessions WHERE provider = 'saml'") == []

    async def test_an_end_user_whom_a_key_has_linked_gets_one(self, visitor: Visitor, saml_shop: SamlService) -> None:
        user_id = saml_shop.world.user("stranger@example.com")
        saml_shop.world.link(saml_shop.organization_id, saml_shop.service_id, user_id)
        await saml_shop.world.sign_in("stranger@example.com", org_slug="acme", service_slug="shop")
        await visitor.sign_in("stranger@example.com")

        assert (await saml_shop.signed_in(visitor)).statuses == ["Success"]

    async def test_a_link_that_a_sign_in_made_admits_nobody(self, visitor: Visitor, saml_shop: SamlService) -> None:
        saml_shop.world.user("stranger@example.com")
        await saml_shop.world.sign_in("stranger@example.com", org_slug="acme", service_slug="shop")
        await visitor.sign_in("stranger@example.com")

        await self.denied(visitor, saml_shop)

    async def test_a_former_member_whose_account_the_organization_made_is_a_stranger(
        self, visitor: Visitor, saml_shop: SamlService, team: Team
    ) -> None:
        user_id = team.add("leaver", "member")
        saml_shop.world.rows(
            "UPDATE users SET created_by_organization_id = %s WHERE id = %s RETURNING id",
            saml_shop.organization_id,
            user_id,
        )
        await visitor.sign_in(saml_shop.world.value("SELECT email FROM users WHERE id = %s", user_id))
        assert (await saml_shop.signed_in(visitor)).statuses == ["Success"]

        assert (await team.request("owner", "POST", f"/members/{user_id}")).status == 200

        assert saml_shop.world.rows("SELECT FROM sessions WHERE provider = 'saml' AND revoked_at IS NULL") == []
        await self.denied(visitor, saml_shop)

    async def test_an_open_application_of_a_closed_service_is_closed(
        self, visitor: Visitor, saml: SamlWorld, team: Team
    ) -> None:
        service = await saml.service(team.organization_id, "acme", members_only=False)
        team.world.connection.execute(b"UPDATE services SET access = 'members'")
        team.world.user("stranger@example.com")
        await visitor.sign_in("stranger@example.com")

        text = await self.denied(visitor, service)

        assert "Ask an administrator of" in text
        assert team.world.rows("SELECT user_id FROM service_users") == []

    async def test_members_whom_no_assignment_fits_are_refused(
        self, visitor: Visitor, saml_shop: SamlService, team: Team
    ) -> None:
        team.add("mia", "member")
        saml_shop.world.connection.execute(b"UPDATE services SET access = 'assigned'")
        await visitor.sign_in("mia@example.com")

        await self.denied(visitor, saml_shop)
        [trouble] = (await team.request("owner", "GET", "/services/shop/problems")).json["problems"]
        answer = await team.request(
            "owner", "PATCH", "/services/shop", body={"assignments": [{"subject": "role:member", "roles": []}]}
        )

        assert answer.status == 200, answer.text
        assert (trouble["kind"], trouble["details"]["registered"]) == ("access", ["assigned"])
        assert (await saml_shop.signed_in(visitor)).statuses == ["Success"]

    async def test_who_was_added_confirms_it_by_agreeing(
        self, visitor: Visitor, saml_shop: SamlService, team: Team
    ) -> None:
        user_id = team.user("una")
        saml_shop.world.member(team.organization_id, user_id, is_confirmed=False)
        saml_shop.world.connection.execute(b"UPDATE services SET access = 'members'")
        await visitor.sign_in("una@example.com")

        page = await visitor.open(saml_shop.sso(relay_state="r"))
        [agreement, _] = forms_of(page.text)
        agreed = await visitor.submit(page, agreement.action)

        assert "has added you as a member." in page.text
        assert posted_form(agreed.text).statuses == ["Success"]
        confirmed = "SELECT confirmed_at IS NOT NULL FROM memberships WHERE user_id = %s"
        assert saml_shop.world.value(confirmed, user_id)

    @pytest.mark.parametrize("access", ["everyone", "members"])
    async def test_an_agreement_whose_page_has_not_said_it_confirms_nothing(
        self, visitor: Visitor, saml: SamlWorld, team: Team, access: str
    ) -> None:
        service = await saml.service(team.organization_id, "acme", members_only=False)
        user_id = team.world.user("una@example.com")
        await visitor.sign_in("una@example.com")
        page = await visitor.open(service.sso(relay_state="r"))
        service.world.member(team.organization_id, user_id, is_confirmed=False)
        service.world.connection.execute(b"UPDATE services SET access = %s", (access,))

        [agreement, _] = forms_of(page.text)
        agreed = await visitor.submit(page, agreement.action)

        confirmed = "SELECT confirmed_at IS NOT NULL FROM memberships WHERE user_id = %s"
        assert "has added you" not in page.text
        assert not service.world.value(confirmed, user_id)
        assert "has added you as a member." in agreed.text
        again = await visitor.submit(agreed, agreement.action)
        assert posted_form(again.text).statuses == ["Success"]
        assert service.world.value(confirmed, user_id)

    async def test_who_was_added_to_an_open_service_is_asked_also_after_signing_in_on_the_way(
        self, visitor: Visitor, saml: SamlWorld, team: Team
    ) -> None:
        service = await saml.service(team.organization_id, "acme", members_only=False)
        user_id = team.user("una")
        service.world.member(team.organization_id, user_id, is_confirmed=False)

        page = await visitor.sign_in("una@example.com", path=service.sso())
        passive = await service.signed_in(visitor, service.sp.authn_request(IsPassive="true"))
        agreed = await visitor.submit(page, f"{service.path}/authenticate")

        assert "has added you as a member." in page.text
        assert passive.statuses == ["Responder", "NoPassive"]
        assert posted_form(agreed.text).statuses == ["Success"]
        assert service.world.value("SELECT confirmed_at IS NOT NULL FROM memberships WHERE user_id = %s", user_id)
        assert (await service.signed_in(visitor)).statuses == ["Success"]

    async def test_who_has_to_prove_the_address_does_so_before_the_question(
        self, visitor: Visitor, saml_shop: SamlService, team: Team
    ) -> None:
        user_id = team.user("una")
        saml_shop.world.member(team.organization_id, user_id, is_confirmed=False)
        await visitor.sign_in("una@example.com")
        changed = b"UPDATE users SET changed_by_service_at = now() WHERE id = %s"
        saml_shop.world.connection.execute(changed, (user_id,))

        refused = await visitor.open(saml_shop.sso())
        saml_shop.world.connection.execute(changed.replace(b"now()", b"NULL"), (user_id,))
        asked = await visitor.open(saml_shop.sso())

        assert refused.status == 403
        assert "confirm first that it is yours" in refused.text
        assert "has added you" not in refused.text
        assert "has added you as a member." in asked.text

    async def test_who_uses_an_open_service_and_was_added_is_asked_where_that_is_possible(
        self, visitor: Visitor, saml: SamlWorld, team: Team
    ) -> None:
        service = await saml.service(team.organization_id, "acme", members_only=False)
        user_id = team.user("una")
        await visitor.sign_in("una@example.com", path=service.sso())
        service.world.member(team.organization_id, user_id, is_confirmed=False)
        confirmed = "SELECT confirmed_at IS NOT NULL FROM memberships WHERE user_id = %s"

        passive = await service.signed_in(visitor, service.sp.authn_request(IsPassive="true"))
        assert not service.world.value(confirmed, user_id)
        page = await visitor.open(service.sso())
        agreed = await visitor.submit(page, f"{service.path}/authenticate")

        assert passive.statuses == ["Success"]
        assert "has added you as a member." in page.text
        assert posted_form(agreed.text).statuses == ["Success"]
        assert service.world.value(confirmed, user_id)

    async def test_a_link_of_another_site_says_who_has_added_its_user(
        self, visitor: Visitor, saml_shop: SamlService, team: Team
    ) -> None:
        user_id = team.user("una")
        saml_shop.world.member(team.organization_id, user_id, is_confirmed=False)
        await visitor.sign_in("una@example.com")

        page = await visitor.send("GET", "/api/organizations/acme/services/shop/saml/login")
        await visitor.submit(page, f"{saml_shop.path}/authenticate")

        assert "has added you as a member." in page.text
        assert saml_shop.world.value("SELECT confirmed_at IS NOT NULL FROM memberships WHERE user_id = %s", user_id)

    async def test_a_user_of_another_service_is_a_stranger(
        self, visitor: Visitor, saml_shop: SamlService, saml: SamlWorld
    ) -> None:
        await saml.service(saml_shop.organization_id, "acme", "blog")
        saml_shop.world.user("stranger@example.com")
        await saml_shop.world.sign_in("stranger@example.com", org_slug="acme", service_slug="blog")
        await visitor.sign_in("stranger@example.com")

        await self.denied(visitor, saml_shop)

    async def test_with_an_open_service_a_stranger_agrees_first(
        self, visitor: Visitor, saml: SamlWorld, team: Team, clock: SettableClock
    ) -> None:
        service = await saml.service(team.organization_id, "acme", members_only=False, attribute_mapping={"email": "m"})
        team.world.user("stranger@example.com")
        await visitor.sign_in("stranger@example.com")
        clock.now += timedelta(minutes=1)

        page = await visitor.open(service.sso(relay_state="r"))
        assert "Shop of acme" in page.text
        assert "your email address" in page.text
        assert team.world.rows("SELECT user_id FROM service_users") == []
        answered = await visitor.submit(page, f"{service.path}/authenticate")

        form = posted_form(answered.text)
        assert (form.statuses, form.fields["RelayState"]) == (["Success"], "r")
        assert len(team.world.rows("SELECT user_id FROM service_users")) == 1
        assert (await service.signed_in(visitor)).statuses == ["Success"]

    async def test_signing_in_for_the_service_is_agreement(self, visitor: Visitor, saml: SamlWorld, team: Team) -> None:
        service = await saml.service(team.organization_id, "acme", members_only=False)
        team.world.user("stranger@example.com")

        page = await visitor.sign_in("stranger@example.com", path=service.sso())

        assert posted_form(page.text).statuses == ["Success"]

    async def test_a_passive_request_of_a_stranger_is_not_answered(
        self, visitor: Visitor, saml: SamlWorld, team: Team, clock: SettableClock
    ) -> None:
        service = await saml.service(team.organization_id, "acme", members_only=False)
        team.world.user("stranger@example.com")
        await visitor.sign_in("stranger@example.com")
        clock.now += timedelta(minutes=1)

        form = await service.signed_in(visitor, service.sp.authn_request(IsPassive="true"))

        assert form.statuses == ["Responder", "NoPassive"]

    async def test_a_passive_request_of_a_user_without_access_is_answered_without_a_page(
        self, visitor: Visitor, saml_shop: SamlService
    ) -> None:
        saml_shop.world.user("stranger@example.com")
        await visitor.sign_in("stranger@example.com")

        form = await saml_shop.signed_in(visitor, saml_shop.sp.authn_request(IsPassive="true"))

        assert form.statuses == ["Responder", "RequestDenied"]

    async def test_a_member_without_the_required_second_factor_reads_what_to_do(
        self, browser: Visitor, saml_shop: SamlService
    ) -> None:
        saml_shop.world.connection.execute("UPDATE organizations SET mfa_required = true")

        denied = await self.denied(browser, saml_shop)

        assert "requires a second factor" in denied
        assert 'href="/app/account/second-factor"' in denied

    async def test_an_end_user_needs_no_second_factor(self, visitor: Visitor, saml_shop: SamlService) -> None:
        saml_shop.world.connection.execute("UPDATE organizations SET mfa_required = true")
        user_id = saml_shop.world.user("stranger@example.com")
        saml_shop.world.link(saml_shop.organization_id, saml_shop.service_id, user_id)
        await saml_shop.world.sign_in("stranger@example.com", org_slug="acme", service_slug="shop")
        await visitor.sign_in("stranger@example.com")

        assert (await saml_shop.signed_in(visitor)).statuses == ["Success"]

    async def test_a_member_whom_the_directory_has_deactivated_has_no_access_also_as_an_end_user(
        self, browser: Visitor, saml_shop: SamlService, team: Team
    ) -> None:
        directory = insert_directory(team)
        member = str(team.ids["member"])
        await saml_shop.signed_in(browser)

        await directory.patch(member, {"op": "replace", "path": "active", "value": False})
        live = team.world.rows("SELECT id FROM sessions WHERE provider = 'saml' AND revoked_at IS NULL")
        text = await self.denied(browser, saml_shop)
        await directory.patch(member, {"op": "replace", "path": "active", "value": True})

        assert live == []
        assert "Your membership in this organization is deactivated" in text
        assert (await saml_shop.signed_in(browser)).statuses == ["Success"]

    async def test_a_refusal_is_explained_in_the_language_of_the_browser(
        self, browser: Visitor, saml_shop: SamlService, saml: SamlWorld
    ) -> None:
        other = await saml.service(saml_shop.world.organization("globex"), "globex")
        browser.headers["Accept-Language"] = "de"

        denied = await browser.open(other.sso())
        refused = await browser.open(f"{saml_shop.path}/sso")

        assert "Ihr Konto kann Shop of globex nicht verwenden" in denied.text
        assert "Die Anwendung hat eine Nachricht gesendet" in refused.text

    async def test_an_address_that_is_no_longer_proved_is_refused(
        self, browser: Visitor, saml_shop: SamlService
    ) -> None:
        saml_shop.world.connection.execute("UPDATE users SET email_verified_at = NULL")

        answer = await browser.send("GET", saml_shop.sso())

        assert (answer.status, forms_of(answer.text)) == (401, [])

    async def test_a_deactivated_user_is_signed_out(self, browser: Visitor, saml_shop: SamlService) -> None:
        saml_shop.world.connection.execute("UPDATE users SET deactivated_at = now()")

        answer = await browser.send("GET", saml_shop.sso())

        assert (answer.status, "authenticate" in answer.headers["Location"]) == (303, True)


class TestTenants:
    """Two tenants and two services, whose sign-ins do not mix."""

    async def test_a_session_at_one_service_says_nothing_about_another(
        self, browser: Visitor, saml_shop: SamlService, saml: SamlWorld
    ) -> None:
        globex = saml_shop.world.organization("globex")
        other = await saml.service(globex, "globex")
        await saml_shop.signed_in(browser)

        page = await browser.open(other.sso())

        assert (page.status, posted_form(page.text).action) == (403, other.sp.acs_url)

    async def test_a_request_of_one_service_is_refused_at_another(
        self, browser: Visitor, saml_shop: SamlService, saml: SamlWorld
    ) -> None:
        blog = await saml.service(saml_shop.organization_id, "acme", "blog")
        query = saml_shop.sp.query(saml_shop.sp.authn_request(Destination=f"{blog.sp.idp}/sso"))

        answer = await browser.send("GET", f"{blog.path}/sso?{query}")

        assert answer.status == 400
        assert forms_of(answer.text) == []

    async def test_a_state_of_one_service_is_unknown_at_another(
        self, browser: Visitor, saml_shop: SamlService, saml: SamlWorld
    ) -> None:
        blog = await saml.service(saml_shop.organization_id, "acme", "blog")
        posted = await saml_shop.post(browser, "sso", saml_shop.sp.authn_request())

        for page in ("sso", "authenticate"):
            state = posted.headers["Location"].partition("?")[2]
            assert (await browser.open(f"{blog.path}/{page}?{state}")).status == 400

    async def test_an_organization_that_is_not_active_answers_nothing(
        self, browser: Visitor, saml_shop: SamlService
    ) -> None:
        posted = await saml_shop.post(browser, "sso", saml_shop.sp.authn_request())
        saml_shop.world.connection.execute("UPDATE organizations SET status = 'suspended'")

        answers = [await browser.open(address) for address in (saml_shop.sso(), posted.headers["Location"])]

        assert [one.status for one in answers] == [403, 403]
        assert [forms_of(one.text) for one in answers] == [[], []]
