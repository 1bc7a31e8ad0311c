"""Bearer tokens in every form, and the refusal of each invalid one."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Unauthorized
from core.sessions.signing_keys import KeyPair
from core.sessions.tokens import TokenKind
from entrypoints.installation import Installation
from entrypoints.web.serving.admission.admitting import bearer_value
from entrypoints.web.serving.admission.credentials import declared_policy, public, signed_in
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes
from tests.clock import SettableClock
from tests.web.probe import Answer, CountedKeyRefresh, active_key, ask, make_installation, serving, with_keys

SESSION = "0191d3c1-0000-7000-8000-000000000002"
LIFETIME = timedelta(minutes=15)

routes = Routes("profile", "Routes of this test.")


@routes.get("/profile")
@signed_in
async def profile(call: Call) -> dict[str, Any]:
    """Return the caller."""
    return {"sub": call.claims["sub"]}


@pytest.fixture
def clock() -> SettableClock:
    """A clock that the test controls."""
    return SettableClock()


@pytest.fixture
def installation(clock: SettableClock, key_pairs: tuple[KeyPair, KeyPair]) -> Installation:
    """An installation that signs with the first key pair."""
    return with_keys(make_installation(clock=clock), [active_key(key_pairs[0])])


def token(
    installation: Installation, kind: TokenKind = TokenKind.ACCESS, claims: Mapping[str, Any] | None = None
) -> str:
    claims = claims or {"sub": "me", "aud": installation.settings.base_url, "sid": SESSION}
    return installation.tokens.sign(claims, kind=kind, lifetime=LIFETIME, now=installation.clock())


async def get_profile(installation: Installation, authorization: str | None) -> Answer:
    headers = {} if authorization is None else {"Authorization": authorization}
    return await ask(serving(routes, installation=installation), "GET", "/profile", headers=headers)


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "bEaReR"])
async def test_the_scheme_of_an_access_token_is_case_insensitive(installation: Installation, scheme: str) -> None:
    answer = await get_profile(installation, f"{scheme} {token(installation)}")

    assert (answer.status, answer.json) == (200, {"sub": "me"})


async def test_two_authorization_headers_are_refused(installation: Installation) -> None:
    headers = [(b"authorization", f"Bearer {token(installation)}".encode())] * 2

    answer = await ask(serving(routes, installation=installation), "GET", "/profile", more_headers=headers)

    assert (answer.status, answer.json["error_code"]) == (400, "BAD_REQUEST")
    assert "Send one" in answer.json["error"]


@pytest.mark.parametrize("template", ["  Bearer {}", "Bearer   {}", "Bearer {}  "])
async def test_spaces_around_a_token_are_ignored(installation: Installation, template: str) -> None:
    answer = await get_profile(installation, template.format(token(installation)))

    assert answer.status == 200


async def test_a_missing_or_different_scheme_is_unauthorized(
    installation: Installation, subtests: pytest.Subtests
) -> None:
    for authorization in (
        None,
        "",
        " ",
        "Bearer",
        "Bearer ",
        "Basic dXNlcjpwYXNzd29yZA==",
        "Digest username=x",
        "Token abc",
        "Bearerabc",
        "Bearer=abc",
        "Bear er abc",
        "abc",
        "a.b.c",
    ):
        with subtests.test(authorization=authorization):
            answer = await get_profile(installation, authorization)

            assert (answer.status, answer.code) == (401, "UNAUTHORIZED")
            assert answer.headers["WWW-Authenticate"] == "Bearer"


async def test_a_bearer_value_that_is_not_our_jwt_is_a_jwt_error(
    installation: Installation, subtests: pytest.Subtests
) -> None:
    for value in (
        "abc",
        "a.b.c",
        "a b c",
        "..",
        "null",
        "eyJhbGciOiJub25lIn0.eyJzdWIiOiJtZSJ9.",
        "sk_abcdef_0123456789",
        "ü.ü.ü",
        "\x01",
        "%00",
        "x" * 20_000,
    ):
        with subtests.test(value=value):
            answer = await get_profile(installation, f"Bearer {value}")

            assert (answer.status, answer.code) == (401, "JWT_ERROR")
            assert answer.headers["WWW-Authenticate"] == 'Bearer error="invalid_token"'


async def test_an_expired_token_is_refused_as_expired(installation: Installation, clock: SettableClock) -> None:
    expired = token(installation)
    clock.advance(LIFETIME)

    answer = await get_profile(installation, f"Bearer {expired}")

    assert (answer.status, answer.code) == (401, "TOKEN_EXPIRED")


async def test_a_token_of_another_kind_is_refused(installation: Installation) -> None:
    answer = await get_profile(installation, f"Bearer {token(installation, TokenKind.PRE_AUTH)}")

    assert (answer.status, answer.code) == (401, "JWT_ERROR")


async def test_an_altered_token_is_refused(installation: Installation) -> None:
    head, claims, signature = token(installation).split(".")
    other = token(
        installation, claims={"sub": "another user", "aud": installation.settings.base_url, "sid": SESSION}
    ).split(".")[1]

    answers = [
        await get_profile(installation, f"Bearer {head}.{other}.{signature}"),
        await get_profile(installation, f"Bearer {head}.{claims}."),
    ]

    assert [answer.code for answer in answers] == ["JWT_ERROR"] * 2


async def test_a_token_in_a_query_string_is_ignored(installation: Installation) -> None:
    application = serving(routes, installation=installation)

    answer = await ask(application, "GET", f"/profile?access_token={token(installation)}&token={token(installation)}")

    assert answer.code == "UNAUTHORIZED"


async def test_a_token_of_an_unknown_key_is_accepted_after_a_refresh_of_the_keys(
    installation: Installation, key_pairs: tuple[KeyPair, KeyPair]
) -> None:
    old, new = map(active_key, key_pairs)
    elsewhere = with_keys(installation, [new])
    here = with_keys(installation, [old], stored=[new])

    answer = await get_profile(here, f"Bearer {token(elsewhere)}")

    assert answer.status == 200
    assert refresh_of(here).calls == 1


async def test_a_token_of_a_key_that_does_not_exist_refreshes_the_keys_once(
    installation: Installation, key_pairs: tuple[KeyPair, KeyPair]
) -> None:
    old, new = map(active_key, key_pairs)
    here = with_keys(installation, [old])

    answer = await get_profile(here, f"Bearer {token(with_keys(installation, [new]))}")

    assert (answer.status, answer.code) == (401, "JWT_ERROR")
    assert refresh_of(here).calls == 1


async def test_a_token_that_is_invalid_in_another_way_does_not_refresh_the_keys(installation: Installation) -> None:
    await get_profile(installation, "Bearer a.b.c")
    await get_profile(installation, f"Bearer {token(installation)}x")
    await get_profile(installation, f"Bearer {token(installation)}")

    assert refresh_of(installation).calls == 0


def refresh_of(installation: Installation) -> CountedKeyRefresh:
    assert isinstance(installation.key_refresh, CountedKeyRefresh)
    return installation.key_refresh


async def test_a_public_route_ignores_credentials(installation: Installation) -> None:
    public_routes = Routes("open", "A route of this test.")

    @public_routes.get("/open")
    @public
    async def read(call: Call) -> dict[str, Any]:
        """Return the claims of the caller."""
        return dict(call.claims)

    application = serving(public_routes, installation=installation)

    answers = [
        await ask(application, "GET", "/open", headers={"Authorization": value}) for value in ("Bearer x", "Basic y")
    ]

    assert [(answer.status, answer.json) for answer in answers] == [(200, {})] * 2


@given(st.text())
def test_any_header_has_a_bearer_value_or_is_refused(authorization: str) -> None:
    try:
        value = bearer_value(authorization)
    except Unauthorized:
        return

    assert value
    assert authorization.strip().lower().startswith("bearer ")


def test_a_second_declaration_of_who_may_call_is_refused() -> None:
    async def handler(call: Call) -> None:
        """Do nothing."""

    signed_in(handler)

    with pytest.raises(AssertionError, match="has two declarations"):
        public(handler)


def test_a_policy_has_a_short_label() -> None:
    async def handler(call: Call) -> None:
        """Do nothing."""

    who = declared_policy(signed_in(handler))

    assert who is not None
    assert who.label == "user"
