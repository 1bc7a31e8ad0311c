"""Hostile requests: each is answered with a page or a status, never with a 500 and never at a foreign address."""

from __future__ import annotations

import base64
import zlib
from functools import partial
from urllib.parse import quote

import pytest

from tests.application import Answer
from tests.concurrency import at_once, statuses_of
from tests.service_provider import RSA_SHA1, forms_of, key_pair, posted_form, redirected
from tests.world.saml import SamlService
from tests.world.visitor import FORM, Visitor


def assert_page(answer: Answer) -> None:
    """Assert that the answer is a plain page that says what to do, and posts nothing anywhere."""
    assert answer.status == 400, answer.text
    assert answer.headers["Content-Type"].startswith("text/html")
    assert forms_of(answer.text) == []
    assert "Go back to the application" in answer.text


async def by_both_bindings(browser: Visitor, service: SamlService, message: str) -> list[Answer]:
    return [
        await browser.send("GET", f"{service.path}/sso?SAMLRequest={quote(redirected(message), safe='')}"),
        await service.post(browser, "sso", message),
    ]


async def test_xml_that_no_message_needs_is_refused(
    browser: Visitor, saml_shop: SamlService, subtests: pytest.Subtests
) -> None:
    for case, hide in (
        ("entity", lambda message: f'<!DOCTYPE a [<!ENTITY e "x">]>{message}'),
        ("external DTD", lambda message: f'<!DOCTYPE a SYSTEM "http://127.0.0.1:9/a.dtd">{message}'),
        ("parameter entity", lambda message: f'<!DOCTYPE a [<!ENTITY % e SYSTEM "file:///etc/passwd"> %e;]>{message}'),
        (
            "laughs",
            lambda message: (
                '<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;">]>'
                + message.replace("https://shop.acme.example/metadata<", "&c;<")
            ),
        ),
        ("comment", lambda message: message.replace("metadata</saml:Issuer>", "<!-- -->metadata</saml:Issuer>")),
        ("deep", lambda message: message.replace("</saml:Issuer>", "</saml:Issuer>" + "<a>" * 50 + "</a>" * 50)),
        ("many", lambda message: message.replace("</saml:Issuer>", "</saml:Issuer>" + "<a/>" * 6000)),
        ("other", lambda _message: "<a/>"),
        ("empty", lambda _message: ""),
    ):
        with subtests.test(case):
            for answer in await by_both_bindings(browser, saml_shop, hide(saml_shop.sp.authn_request())):
                assert_page(answer)


@pytest.mark.long
async def test_a_deflate_bomb_is_refused(browser: Visitor, saml_shop: SamlService) -> None:
    compressor = zlib.compressobj(wbits=-15)
    bomb = base64.b64encode(compressor.compress(b"<a>" + b"x" * 5_000_000) + compressor.flush()).decode()

    assert_page(await browser.send("GET", f"{saml_shop.path}/sso?SAMLRequest={quote(bomb, safe='')}"))


@pytest.mark.long
async def test_a_body_beyond_the_limit_is_refused(browser: Visitor, saml_shop: SamlService) -> None:
    answer = await browser.send(
        "POST", f"{saml_shop.path}/sso", data=b"SAMLRequest=" + b"A" * 2**18, headers={"Content-Type": FORM}
    )

    assert answer.status == 413


async def test_a_query_that_makes_no_sense_is_refused(
    browser: Visitor, saml_shop: SamlService, subtests: pytest.Subtests
) -> None:
    for case, query in (
        ("empty", ""),
        ("no value", "SAMLRequest="),
        ("no base64", "SAMLRequest=%%%"),
        ("NUL", "SAMLRequest=%00"),
        ("response", "SAMLResponse=a"),
        ("unknown state", "saml_state=x"),
        ("long state", f"saml_state={'x' * 5000}"),
        ("long relay state", "SAMLRequest=" + quote(redirected("<a/>")) + "&RelayState=" + "r" * 2001),
    ):
        with subtests.test(case):
            answer = await browser.send("GET", f"{saml_shop.path}/sso?{query}")

            assert answer.status == 400
            assert forms_of(answer.text) == []


async def test_a_request_that_is_not_for_us_or_not_now_is_refused(
    browser: Visitor, saml_shop: SamlService, subtests: pytest.Subtests
) -> None:
    for case, change in (
        ("destination", {"Destination": "https://id.example/saml/acme/shop/sso"}),
        ("foreign ACS", {"AssertionConsumerServiceURL": "https://evil.example/acs"}),
        ("path", {"AssertionConsumerServiceURL": "https://shop.acme.example/acs/../evil"}),
        ("case", {"AssertionConsumerServiceURL": "HTTPS://SHOP.ACME.EXAMPLE/acs"}),
        ("stale", {"IssueInstant": "2020-01-01T00:00:00Z"}),
        ("early", {"IssueInstant": "2099-01-01T00:00:00Z"}),
        ("version", {"Version": "1.1"}),
        ("header", {"ID": "a\r\nSet-Cookie: a=b"}),
    ):
        with subtests.test(case):
            for answer in await by_both_bindings(browser, saml_shop, saml_shop.sp.authn_request(**change)):
                assert_page(answer)


async def test_a_request_of_another_issuer_is_refused(browser: Visitor, saml_shop: SamlService) -> None:
    message = saml_shop.sp.authn_request().replace(saml_shop.sp.entity_id, "https://evil.example/metadata")

    for answer in await by_both_bindings(browser, saml_shop, message):
        assert_page(answer)


async def test_a_request_is_taken_once_by_whatever_binding(browser: Visitor, saml_shop: SamlService) -> None:
    message = saml_shop.sp.authn_request()
    first = await saml_shop.signed_in(browser, message)

    for answer in await by_both_bindings(browser, saml_shop, message):
        assert_page(answer)
    assert first.statuses == ["Success"]


@pytest.mark.long
async def test_of_the_same_request_at_once_one_is_taken(browser: Visitor, saml_shop: SamlService) -> None:
    address = saml_shop.sso()

    answers = await at_once(*[partial(browser.send, "GET", address)] * 4)

    assert statuses_of(answers) == [200, 400, 400, 400]
    assert len(saml_shop.world.rows("SELECT id FROM sessions WHERE provider = 'saml'")) == 1
    assert saml_shop.world.rows("SELECT answered_at IS NOT NULL AS is_answered FROM saml_requests") == [(True,)]


@pytest.mark.long
async def test_a_state_is_answered_once_also_when_two_tabs_open_it_at_once(
    browser: Visitor, saml_shop: SamlService
) -> None:
    posted = await saml_shop.post(browser, "sso", saml_shop.sp.authn_request())

    answers = await at_once(*[partial(browser.send, "GET", posted.headers["Location"])] * 4)

    assert statuses_of(answers) == [200, 400, 400, 400]
    assert len(saml_shop.world.rows("SELECT id FROM sessions WHERE provider = 'saml' AND revoked_at IS NULL")) == 1


class TestSignatures:
    """Where the certificate of the service provider is configured."""

    async def test_requests_signed_by_either_binding_are_answered(self, browser: Visitor, signed: SamlService) -> None:
        by_redirect = await signed.signed_in(browser, key=signed.sp.key, relay_state="a b")
        posted = await signed.post(browser, "sso", signed.sp.signed(signed.sp.authn_request()))
        by_post = posted_form((await browser.open(posted.headers["Location"])).text)

        assert [by_redirect.statuses, by_post.statuses] == [["Success"], ["Success"]]

    async def test_unsigned_requests_are_refused(self, browser: Visitor, signed: SamlService) -> None:
        for answer in await by_both_bindings(browser, signed, signed.sp.authn_request()):
            assert_page(answer)

    async def test_requests_of_another_key_are_refused(self, browser: Visitor, signed: SamlService) -> None:
        mallory = key_pair("mallory")

        assert_page(await browser.send("GET", signed.sso(key=mallory)))
        assert_page(await signed.post(browser, "sso", signed.sp.signed(signed.sp.authn_request(), key=mallory)))

    async def test_tampered_requests_are_refused(self, browser: Visitor, signed: SamlService) -> None:
        message = signed.sp.signed(signed.sp.authn_request(ForceAuthn="true"))
        query = signed.sp.query(signed.sp.authn_request(), key=signed.sp.key, relay_state="a")

        assert_page(await signed.post(browser, "sso", message.replace('ForceAuthn="true"', 'ForceAuthn="false"')))
        assert_page(await browser.send("GET", f"{signed.path}/sso?{query.replace('RelayState=a', 'RelayState=b')}"))

    async def test_a_downgrade_to_sha_1_is_refused(self, browser: Visitor, signed: SamlService) -> None:
        query = signed.sp.query(signed.sp.authn_request(), key=signed.sp.key, algorithm=RSA_SHA1)

        assert_page(await browser.send("GET", f"{signed.path}/sso?{query}"))

    async def test_a_wrapped_signature_is_refused(self, browser: Visitor, signed: SamlService) -> None:
        original = signed.sp.signed(signed.sp.authn_request())
        wrapped = signed.sp.authn_request(inside=f"<samlp:Extensions>{original}</samlp:Extensions>")

        assert_page(await signed.post(browser, "sso", wrapped))

    async def test_a_signed_request_without_a_destination_is_refused(
        self, browser: Visitor, signed: SamlService
    ) -> None:
        assert_page(await browser.send("GET", signed.sso(signed.sp.authn_request(Destination=None), key=signed.sp.key)))


class TestRelayState:
    """The relay state, which may be any text."""

    async def test_it_comes_back_unchanged_and_changes_nothing(
        self, browser: Visitor, saml_shop: SamlService, subtests: pytest.Subtests
    ) -> None:
        for relay_state in (
            '"><script>alert(1)</script>',
            "javascript:alert(1)",
            "a\r\nSet-Cookie: a=b",
            "é ☃ &amp;",
            "",
        ):
            with subtests.test(relay_state=relay_state):
                page = await browser.send("GET", saml_shop.sso(relay_state=relay_state))

                assert posted_form(page.text).fields["RelayState"].replace("\r\n", "\n") == relay_state.replace(
                    "\r\n", "\n"
                )
                assert page.text.count("<script") == 2
                assert "a=b" not in str(page.headers.get("Set-Cookie", ""))

    async def test_it_goes_back_with_a_logout_too(self, browser: Visitor, saml_shop: SamlService) -> None:
        index = (await saml_shop.signed_in(browser)).texts("//@SessionIndex")[0]
        request = saml_shop.sp.logout_request("member@example.com", index)

        relay_state = "a%0d%0aX: y\r\nZ: 1"
        query = saml_shop.sp.query(request, relay_state=relay_state)

        answer = await browser.send("GET", f"{saml_shop.path}/slo?{query}")

        assert "\r" not in answer.headers["Location"]
        assert f"RelayState={quote(relay_state, safe='')}" in answer.headers["Location"]
