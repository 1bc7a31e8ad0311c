"""Single logout that a service provider asks for: by both bindings, and with all participants.

What begins here is in `test_sign_out.py`.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.pages.saml.logout_steps import index_of, is_signed_in, redirected_to, relay_state_of, send, statuses
from tests.pages.saml.peers import MEMBER
from tests.service_provider import NAMESPACES, key_pair, posted_form
from tests.world.saml import SamlService, SamlWorld
from tests.world.team import Team
from tests.world.visitor import Visitor


class TestFromServiceProvider:
    """A service provider asks for a logout."""

    async def test_the_session_ends_and_the_request_is_answered(self, browser: Visitor, signed: SamlService) -> None:
        index = index_of(await signed.signed_in(browser, key=signed.sp.key))
        request = signed.sp.logout_request(MEMBER, index, ID="_logout")

        answer = await send(browser, signed, request, is_signed=True, relay_state="r&s")

        response = redirected_to(answer, signed.sp.slo_url, "SAMLResponse")
        assert (response.get("InResponseTo"), statuses(response)) == ("_logout", ["Success"])
        assert relay_state_of(answer) == "r&s"
        assert not await is_signed_in(browser)
        assert signed.world.rows("SELECT id FROM sessions WHERE revoked_at IS NULL") == []
        [(_, email, _)] = signed.world.events("user.logout")
        assert email == MEMBER

    async def test_a_posted_request_is_answered_by_a_form_where_that_is_configured(
        self, browser: Visitor, saml: SamlWorld, team: Team
    ) -> None:
        service = await saml.service(team.organization_id, "acme", slo_binding="post")
        index = index_of(await service.signed_in(browser))

        posted = await service.post(browser, "slo", service.sp.logout_request(MEMBER, index, ID="_l"), relay_state="r")
        form = posted_form((await browser.open(posted.headers["Location"])).text)

        assert (form.action, form.fields["RelayState"]) == (service.sp.slo_url, "r")
        assert (form.texts("@InResponseTo"), form.statuses) == (["_l"], ["Success"])
        assert not await is_signed_in(browser)

    async def test_a_signed_request_ends_the_session_of_another_browser(
        self, browser: Visitor, signed: SamlService
    ) -> None:
        index = index_of(await signed.signed_in(browser, key=signed.sp.key))
        stranger = Visitor(browser.client)

        await send(stranger, signed, signed.sp.logout_request(MEMBER, index), is_signed=True)

        assert not await is_signed_in(browser)

    async def test_an_unsigned_request_ends_only_the_session_of_the_browser_that_brings_it(
        self, browser: Visitor, saml_shop: SamlService
    ) -> None:
        index = index_of(await saml_shop.signed_in(browser))
        stranger = Visitor(browser.client)

        refused = await send(stranger, saml_shop, saml_shop.sp.logout_request(MEMBER, index))
        answered = redirected_to(refused, saml_shop.sp.slo_url, "SAMLResponse")
        was_signed_in = await is_signed_in(browser)
        await send(browser, saml_shop, saml_shop.sp.logout_request(MEMBER, index))

        assert statuses(answered) == ["Requester", "RequestDenied"]
        assert (was_signed_in, await is_signed_in(browser)) == (True, False)

    async def test_a_request_for_what_is_unknown_ends_nothing_and_says_so(
        self, browser: Visitor, signed: SamlService, subtests: pytest.Subtests
    ) -> None:
        await signed.signed_in(browser, key=signed.sp.key)

        for case, name, indexes in (
            ("another user", "owner@example.com", []),
            ("unknown index", MEMBER, ["00000000-0000-7000-8000-000000000000"]),
            ("no index of ours", MEMBER, ["x"]),
        ):
            with subtests.test(case):
                answer = await send(browser, signed, signed.sp.logout_request(name, *indexes), is_signed=True)

                response = redirected_to(answer, signed.sp.slo_url, "SAMLResponse")
                assert statuses(response) == ["Requester", "UnknownPrincipal"]
                assert await is_signed_in(browser)

    @pytest.mark.long
    async def test_without_an_index_all_sessions_of_the_user_end(self, browser: Visitor, signed: SamlService) -> None:
        other = Visitor(browser.client)
        await other.sign_in(MEMBER)
        for one in (browser, other):
            await signed.signed_in(one, key=signed.sp.key)

        await send(browser, signed, signed.sp.logout_request(MEMBER), is_signed=True)

        assert [await is_signed_in(one) for one in (browser, other)] == [False, False]

    async def test_a_session_that_has_ended_is_a_success(self, browser: Visitor, signed: SamlService) -> None:
        index = index_of(await signed.signed_in(browser, key=signed.sp.key))
        await send(browser, signed, signed.sp.logout_request(MEMBER, index), is_signed=True)

        again = await send(browser, signed, signed.sp.logout_request(MEMBER, index), is_signed=True)

        assert statuses(redirected_to(again, signed.sp.slo_url, "SAMLResponse")) == ["Success"]

    async def test_an_index_of_another_service_is_unknown(
        self, browser: Visitor, signed: SamlService, blog: SamlService
    ) -> None:
        index = index_of(await blog.signed_in(browser))

        answer = await send(browser, signed, signed.sp.logout_request(MEMBER, index), is_signed=True)

        assert statuses(redirected_to(answer, signed.sp.slo_url, "SAMLResponse"))[1] == "UnknownPrincipal"
        assert await is_signed_in(browser)

    async def test_without_a_logout_address_the_browser_is_told(
        self, browser: Visitor, saml: SamlWorld, team: Team
    ) -> None:
        service = await saml.service(team.organization_id, "acme", slo_url=None)
        index = index_of(await service.signed_in(browser))

        answer = await send(browser, service, service.sp.logout_request(MEMBER, index))

        assert (answer.status, answer.headers["Location"]) == (303, "/app/sign-out")
        assert "You are signed out" in (await browser.open("/app/sign-out")).text

    async def test_a_request_that_is_not_for_us_or_too_old_is_refused(
        self, browser: Visitor, saml_shop: SamlService, subtests: pytest.Subtests
    ) -> None:
        index = index_of(await saml_shop.signed_in(browser))

        for case, change in (
            ("destination", {"Destination": "https://id.example/slo"}),
            ("stale", {"IssueInstant": "2020-01-01T00:00:00Z"}),
            ("expired", {"NotOnOrAfter": "2020-01-01T00:00:00Z"}),
            ("version", {"Version": "1.1"}),
        ):
            with subtests.test(case):
                answer = await send(browser, saml_shop, saml_shop.sp.logout_request(MEMBER, index, **change))

                assert answer.status == 400
                assert await is_signed_in(browser)

    @pytest.mark.parametrize(
        "hide",
        [
            lambda message: f'<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]>{message}',
            lambda message: message.replace("<saml:NameID", "<!-- --><saml:NameID"),
            lambda message: message.replace(MEMBER, "member@example.com<!-- -->.evil.example"),
            lambda message: message.replace("shop.acme.example/metadata<", "evil.example/metadata<"),
            lambda message: message.replace("LogoutRequest", "ManageNameIDRequest"),
            lambda _message: "<a/>",
        ],
        ids=["entity", "comment", "comment in the name", "issuer", "kind", "other"],
    )
    @pytest.mark.long
    async def test_a_hostile_request_is_a_page_and_ends_nothing(
        self, browser: Visitor, saml_shop: SamlService, hide: Callable[[str], str]
    ) -> None:
        message = hide(saml_shop.sp.logout_request(MEMBER, index_of(await saml_shop.signed_in(browser))))

        answers = [await send(browser, saml_shop, message), await saml_shop.post(browser, "slo", message)]

        assert [one.status for one in answers] == [400, 400]
        assert ["Go back to the application" in one.text for one in answers] == [True, True]
        assert await is_signed_in(browser)

    async def test_unsigned_and_wrongly_signed_requests_are_refused_where_signatures_are_required(
        self, browser: Visitor, signed: SamlService
    ) -> None:
        index = index_of(await signed.signed_in(browser, key=signed.sp.key))
        request = signed.sp.logout_request(MEMBER, index)

        unsigned = await send(browser, signed, request)
        wrong = await browser.send("GET", f"{signed.path}/slo?{signed.sp.query(request, key=key_pair('mallory'))}")
        posted = await signed.post(browser, "slo", signed.sp.signed(request, key=key_pair("mallory")))

        assert [one.status for one in (unsigned, wrong, posted)] == [400, 400, 400]
        assert await is_signed_in(browser)

    async def test_a_request_is_taken_once(self, browser: Visitor, saml_shop: SamlService) -> None:
        request = saml_shop.sp.logout_request(MEMBER, index_of(await saml_shop.signed_in(browser)))

        answers = [await send(browser, saml_shop, request) for _ in range(2)]

        assert [one.status for one in answers] == [303, 400]


class TestParticipants:
    """The other service providers of the session."""

    async def test_each_is_told_before_the_first_is_answered(
        self, browser: Visitor, saml_shop: SamlService, blog: SamlService
    ) -> None:
        index = index_of(await saml_shop.signed_in(browser))
        blog_index = index_of(await blog.signed_in(browser))

        first = await send(browser, saml_shop, saml_shop.sp.logout_request(MEMBER, index, ID="_l"), relay_state="r")
        told = redirected_to(first, blog.sp.slo_url, "SAMLRequest")
        assert told.xpath("//samlp:SessionIndex/text()", namespaces=NAMESPACES) == [blog_index]
        assert told.xpath("//saml:NameID/text()", namespaces=NAMESPACES) == [MEMBER]
        assert not await is_signed_in(browser)
        response = blog.sp.logout_response(told.get("ID"))
        last = await send(browser, blog, response, name="SAMLResponse", relay_state=relay_state_of(first))

        answered = redirected_to(last, saml_shop.sp.slo_url, "SAMLResponse")
        assert (answered.get("InResponseTo"), statuses(answered)) == ("_l", ["Success"])
        assert relay_state_of(last) == "r"

    async def test_a_posted_answer_continues_too(
        self, browser: Visitor, saml_shop: SamlService, saml: SamlWorld, team: Team
    ) -> None:
        blog = await saml.service(team.organization_id, "acme", "blog", slo_binding="post")
        index = index_of(await saml_shop.signed_in(browser))
        await blog.signed_in(browser)

        page = await send(browser, saml_shop, saml_shop.sp.logout_request(MEMBER, index))
        form = posted_form(page.text)
        assert form.action == blog.sp.slo_url
        response = blog.sp.logout_response(form.root.get("ID"))
        relay_state = form.fields["RelayState"]
        posted = await blog.post(browser, "slo", response, name="SAMLResponse", relay_state=relay_state)
        last = await browser.send("GET", posted.headers["Location"])

        assert statuses(redirected_to(last, saml_shop.sp.slo_url, "SAMLResponse")) == ["Success"]

    async def test_one_that_cannot_end_its_session_makes_the_logout_partial(
        self, browser: Visitor, saml_shop: SamlService, blog: SamlService
    ) -> None:
        index = index_of(await saml_shop.signed_in(browser))
        await blog.signed_in(browser)
        first = await send(browser, saml_shop, saml_shop.sp.logout_request(MEMBER, index))
        told = redirected_to(first, blog.sp.slo_url, "SAMLRequest")

        response = blog.sp.logout_response(told.get("ID"), status="Responder")
        last = await send(browser, blog, response, name="SAMLResponse", relay_state=relay_state_of(first))

        answered = redirected_to(last, saml_shop.sp.slo_url, "SAMLResponse")
        assert statuses(answered) == ["Success", "PartialLogout"]

    @pytest.mark.parametrize(
        "change",
        ["UPDATE saml_configurations SET slo_url = NULL", "UPDATE saml_configurations SET enabled = false"],
        ids=["no address", "disabled"],
    )
    async def test_one_that_cannot_be_told_makes_the_logout_partial(
        self, browser: Visitor, saml_shop: SamlService, blog: SamlService, change: str
    ) -> None:
        index = index_of(await saml_shop.signed_in(browser))
        await blog.signed_in(browser)
        blog.world.rows(f"{change} WHERE service_id = %s RETURNING service_id", blog.service_id)

        answer = await send(browser, saml_shop, saml_shop.sp.logout_request(MEMBER, index))

        answered = redirected_to(answer, saml_shop.sp.slo_url, "SAMLResponse")
        assert statuses(answered) == ["Success", "PartialLogout"]

    async def test_an_answer_that_none_awaits_is_refused(
        self, browser: Visitor, saml_shop: SamlService, blog: SamlService
    ) -> None:
        index = index_of(await saml_shop.signed_in(browser))
        await blog.signed_in(browser)
        first = await send(browser, saml_shop, saml_shop.sp.logout_request(MEMBER, index))
        told, state = redirected_to(first, blog.sp.slo_url, "SAMLRequest"), relay_state_of(first)

        other_request = await send(
            browser, blog, blog.sp.logout_response("_other"), name="SAMLResponse", relay_state=state
        )
        other_service = await send(
            browser, saml_shop, saml_shop.sp.logout_response(told.get("ID")), name="SAMLResponse", relay_state=state
        )
        no_state = await send(browser, blog, blog.sp.logout_response(told.get("ID")), name="SAMLResponse")
        other_browser = await send(
            Visitor(browser.client),
            blog,
            blog.sp.logout_response(told.get("ID")),
            name="SAMLResponse",
            relay_state=state,
        )

        answers = (other_request, other_service, no_state, other_browser)
        assert [one.status for one in answers] == [400] * 4

    @pytest.mark.long
    async def test_a_browser_that_is_lost_can_ask_again_where_it_goes(
        self, browser: Visitor, saml_shop: SamlService, blog: SamlService
    ) -> None:
        index = index_of(await saml_shop.signed_in(browser))
        await blog.signed_in(browser)
        posted = await saml_shop.post(browser, "slo", saml_shop.sp.logout_request(MEMBER, index))

        answers = [await browser.send("GET", posted.headers["Location"]) for _ in range(2)]

        assert [redirected_to(one, blog.sp.slo_url, "SAMLRequest") is not None for one in answers] == [True, True]
