"""Each cause of a failed test sign-in has a word of its own, and a sentence that says what to do next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from html import unescape
from itertools import cycle
from typing import Any

from core.sign_in.upstream.provider_problems import ProviderProblem
from entrypoints.pages.sign_in.upstream.provider_problems import SENTENCES, TO_MEMBERS
from tests.clock import SettableClock
from tests.encryption import Encryption
from tests.identity_provider import Asked, IdentityProvider, asked
from tests.openid_provider import OpenIdProvider
from tests.service_provider import key_pair, sign
from tests.world.openid_acme import Acme
from tests.world.saml_connection import SamlAcme, saml_acme
from tests.world.visitor import Visitor
from tests.world.world import World

UPSTREAM = "/app/setup/parts/upstream"
HOUR = timedelta(hours=1)
TRANSIENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
RESPONDER = "urn:oasis:names:tc:SAML:2.0:status:Responder"
DENIED = "urn:oasis:names:tc:SAML:2.0:status:RequestDenied"


@dataclass
class Mistake:
    """What an OpenID provider does wrong: how it is set, with which parameters it answers, and which word that gets."""

    word: ProviderProblem
    provider: dict[str, Any] = field(default_factory=dict[str, Any])
    answer: dict[str, str] = field(default_factory=dict[str, str])


BY_OPENID = (
    Mistake(ProviderProblem.DECLINED, answer={"error": "access_denied", "code": ""}),
    Mistake(ProviderProblem.ERROR_AT_PROVIDER, answer={"error": "server_error", "code": ""}),
    Mistake(ProviderProblem.CODE_REFUSED, answer={"code": "unknown"}),
    Mistake(ProviderProblem.WRONG_SECRET, {"client_secret": "another"}),
    Mistake(ProviderProblem.WRONG_REDIRECT, {"token_error": "redirect_uri_mismatch"}),
    Mistake(ProviderProblem.UNKNOWN_CLIENT, {"token_error": "unauthorized_client"}),
    Mistake(
        ProviderProblem.SECRET_ENDED,
        {"token_error": "invalid_client", "token_details": {"error_codes": [7_000_222]}},
    ),
    Mistake(ProviderProblem.TOKEN_ENDPOINT, {"token_error": "temporarily_unavailable"}),
    Mistake(ProviderProblem.NO_TOKEN, {"tokens": {"id_token": None}}),
    Mistake(ProviderProblem.SIGNATURE, {"forged": "ey.ey.ey"}),
    Mistake(ProviderProblem.CLOCKS, {"claims": {"exp": 1}}),
    Mistake(ProviderProblem.CLOCKS, {"claims": {"iat": 32_000_000_000}}),
    Mistake(ProviderProblem.FOR_ANOTHER, {"claims": {"aud": "another"}}),
    Mistake(ProviderProblem.OF_ANOTHER, {"claims": {"iss": "https://other.example"}}),
    Mistake(ProviderProblem.OF_ANOTHER, answer={"iss": "https://other.example"}),
    Mistake(ProviderProblem.OTHER_SIGN_IN, {"claims": {"nonce": "another"}}),
    Mistake(ProviderProblem.NO_ID, {"claims": {"sub": 7}}),
    Mistake(ProviderProblem.USER_UNKNOWN, {"claims": {"email": None}, "user": {"sub": "another"}}),
    Mistake(ProviderProblem.USER_UNKNOWN, {"claims": {"email": None}, "user": ["none"]}),
    Mistake(ProviderProblem.OTHER_ISSUER, {"document": {"issuer": "https://other.example"}}),
    Mistake(ProviderProblem.NO_ENDPOINT, {"document": {"token_endpoint": None}}),
)


def test_each_problem_has_sentences_and_no_two_have_one() -> None:
    for sentences in (SENTENCES, TO_MEMBERS):
        assert set(sentences) == set(ProviderProblem)
        assert len(set(sentences.values())) == len(sentences)


async def test_what_an_openid_provider_does_wrong_is_told_to_the_holder_of_a_link_and_to_members(
    acme: Acme, provider: OpenIdProvider
) -> None:
    usual = vars(OpenIdProvider())

    for mistake, (browser, page) in zip(BY_OPENID, cycle(await browsers(acme.world, acme)), strict=False):
        for name in ("claims", "user", "tokens", "document", "client_secret", "token_error", "token_details", "forged"):
            setattr(provider, name, mistake.provider.get(name, usual[name]))
        shown = await browser.submit(await browser.open(page), f"{page}/trial", is_followed=False)
        if "document" in mistake.provider:
            shown = await browser.open(shown.headers["Location"].partition("#")[0])
        else:
            address = unescape(shown.headers["Refresh"].partition("url=")[2])
            shown = await browser.open(provider.sign_in(address, **mistake.answer))

        assert_told(acme.world, mistake.word, unescape(shown.text))


async def test_what_an_identity_provider_of_saml_does_wrong_is_told_to_the_holder_of_a_link_and_to_members(
    world: World, visitor: Visitor, clock: SettableClock
) -> None:
    acme = await saml_acme(world, visitor, IdentityProvider(now=clock))
    idp = acme.idp

    def with_session_until(request: Asked) -> str:
        signed_in = idp.assertion(request)
        ended = f'<saml:AuthnStatement SessionNotOnOrAfter="{idp.time(-HOUR)}"'
        return idp.response(request, sign(signed_in.replace("<saml:AuthnStatement", ended), idp.key))

    def encrypted(request: Asked) -> str:
        assertion = sign(idp.assertion(request), idp.key)
        return idp.response(request, Encryption().element(assertion, key_pair("theirs").certificate_pem))

    answers: list[tuple[ProviderProblem, Callable[[Asked], str]]] = [
        (ProviderProblem.UNREADABLE, lambda _: "nonsense"),
        (ProviderProblem.UNREADABLE, lambda request: idp.answer(request, statement="")),
        (ProviderProblem.UNSIGNED, lambda request: idp.response(request, idp.assertion(request))),
        (ProviderProblem.SIGNATURE, replace(idp, key=key_pair("theirs")).answer),
        (ProviderProblem.UNDECIPHERED, encrypted),
        (ProviderProblem.DECLINED, lambda request: idp.response(request, "", status=DENIED)),
        (ProviderProblem.ERROR_AT_PROVIDER, lambda request: idp.response(request, "", status=RESPONDER)),
        (ProviderProblem.CLOCKS, lambda request: idp.answer(request, not_on_or_after=idp.time(-HOUR))),
        (ProviderProblem.CLOCKS, lambda request: idp.answer(request, confirmed_until=idp.time(-HOUR))),
        (ProviderProblem.FOR_ANOTHER, lambda request: idp.answer(request, audience="https://other.example")),
        (ProviderProblem.FOR_ANOTHER, lambda request: idp.answer(request, recipient="https://other.example")),
        (ProviderProblem.OF_ANOTHER, replace(idp, entity_id="https://other.example").answer),
        (ProviderProblem.OTHER_SIGN_IN, lambda request: idp.answer(request, in_response_to="_another")),
        (ProviderProblem.SESSION_OVER, with_session_until),
        (ProviderProblem.TRANSIENT_ID, replace(idp, name_format=TRANSIENT).answer),
    ]
    for (word, answer), (browser, page) in zip(answers, cycle(await browsers(world, acme)), strict=False):
        begun = await browser.submit(await browser.open(page), f"{page}/trial", is_followed=False)
        request = asked(unescape(begun.headers["Refresh"].partition("url=")[2]))
        posted = await acme.post(answer(request), request.relay_state)
        shown = await browser.open(posted.headers["Location"])

        assert_told(world, word, unescape(shown.text))


async def browsers(world: World, acme: Acme | SamlAcme) -> tuple[tuple[Visitor, str], tuple[Visitor, str]]:
    """Return the browsers of the holder of a setup link and of the owner, each with its page of the connection."""
    holder, owner = Visitor(world.client), Visitor(world.client)
    link = await acme.owner.post("/api/organizations/acme/setup-links", {"parts": ["upstream"]})
    path = link.json["url"].removeprefix("http://localhost:8000")
    await holder.submit(await holder.open(path), path)
    await owner.sign_in("owner@acme.example", path="/app/account")
    console = f"/app/organizations/acme/sign-in/connections/{acme.connection_id}"
    return (holder, f"{UPSTREAM}/{acme.connection_id}"), (owner, console)


def assert_told(world: World, word: ProviderProblem, page: str) -> None:
    """Check that the last test has brought a problem, and that its page says what to do about that one alone."""
    assert world.value("SELECT problem FROM trial_sign_ins WHERE concluded_at IS NOT NULL") == word
    told = page.partition("The test sign-in failed.")[2].partition("What the provider sent")[0]
    assert SENTENCES[word] in told, word
    assert [one for one, sentence in SENTENCES.items() if sentence in told] == [word]
