"""Who may call: bearer tokens in all their shapes, and which refusal each of them meets (decisions 1.10, 2.1)."""

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
from entrypoints.web.calls import Call
from entrypoints.web.credentials import bearer_value, declared_policy, public, signed_in
from entrypoints.web.routes import Routes
from tests.clock import SettableClock
from tests.web.probe import Answer, CountedKeyRefresh, active_key, ask, make_house, serving, with_keys

SESSION = "0191d3c1-0000-7000-8000-000000000002"
LIFETIME = timedelta(minutes=15)

routes = Routes("profile", "Routes of this test.")


@routes.get("/profile")
@signed_in
async def profile(call: Call) -> dict[str, Any]:
    """Tell who called."""
    return {"sub": call.claims["sub"]}


@pytest.fixture
def clock() -> SettableClock:
    """A clock that the test moves."""
    return SettableClock()


@pytest.fixture
def installation(clock: SettableClock, key_pairs: tuple[KeyPair, KeyPair]) -> Installation:
    """A house that signs with the first pair."""
    return with_keys(make_house(clock=clock), [active_key(key_pairs[0])])


def token(
    installation: Installation, kind: TokenKind = TokenKind.ACCESS, claims: Mapping[str, Any] | None = None
) -> str:
    claims = claims or {"sub": "me", "aud": installation.settings.base_url, "sid": SESSION}
    return installation.tokens.sign(claims, kind=kind, lifetime=LIFETIME, now=installation.clock())


async def asked(installation: Installation, authorization: str | None) -> Answer:
    headers = {} if authorization is None else {"Authorization": authorization}
    return await ask(serving(routes, installation=installation), "GET", "/profile", headers=headers)


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "bEaReR"])
async def test_an_access_token_is_taken_however_the_scheme_is_written(installation: Installation, scheme: str) -> None:
    answer = await asked(installation, f"{scheme} {token(installation)}")

    assert (answer.status, answer.json) == (200, {"sub": "me"})


@pytest.mark.parametrize("template", ["  Bearer {}", "Bearer   {}", "Bearer {}  "])
async def test_blanks_around_a_token_are_overlooked(installation: Installation, template: str) -> None:
    answer = await asked(installation, template.format(token(installation)))

    assert answer.status == 200


@pytest.mark.parametrize(
    "authorization",
    [
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
    ],
)
async def test_a_missing_or_foreign_scheme_is_unauthorized(
    installation: Installation, authorization: str | None
) -> None:
    answer = await asked(installation, authorization)

    assert (answer.status, answer.code) == (401, "UNAUTHORIZED")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "value",
    [
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
    ],
)
async def test_a_bearer_value_that_is_no_jwt_of_ours_is_a_jwt_error(installation: Installation, value: str) -> None:
    answer = await asked(installation, f"Bearer {value}")

    assert (answer.status, answer.code) == (401, "JWT_ERROR")
    assert answer.headers["WWW-Authenticate"] == 'Bearer error="invalid_token"'


async def test_an_expired_token_says_so(installation: Installation, clock: SettableClock) -> None:
    expired = token(installation)
    clock.advance(LIFETIME)

    answer = await asked(installation, f"Bearer {expired}")

    assert (answer.status, answer.code) == (401, "TOKEN_EXPIRED")


async def test_a_token_of_another_kind_is_refused(installation: Installation) -> None:
    answer = await asked(installation, f"Bearer {token(installation, TokenKind.PRE_AUTH)}")

    assert (answer.status, answer.code) == (401, "JWT_ERROR")


async def test_a_token_that_was_altered_is_refused(installation: Installation) -> None:
    head, claims, signature = token(installation).split(".")
    other = token(
        installation, claims={"sub": "somebody else", "aud": installation.settings.base_url, "sid": SESSION}
    ).split(".")[1]

    answers = [
        await asked(installation, f"Bearer {head}.{other}.{signature}"),
        await asked(installation, f"Bearer {head}.{claims}."),
    ]

    assert [answer.code for answer in answers] == ["JWT_ERROR"] * 2


async def test_a_token_in_a_query_string_is_no_credential(installation: Installation) -> None:
    application = serving(routes, installation=installation)

    answer = await ask(application, "GET", f"/profile?access_token={token(installation)}&token={token(installation)}")

    assert answer.code == "UNAUTHORIZED"


async def test_of_several_credentials_the_first_is_looked_at(installation: Installation) -> None:
    headers = [(b"authorization", b"Basic x"), (b"authorization", f"Bearer {token(installation)}".encode())]

    answer = await ask(serving(routes, installation=installation), "GET", "/profile", more_headers=headers)

    assert answer.code == "UNAUTHORIZED"


async def test_a_token_of_a_key_that_was_just_rotated_in_is_worth_a_second_look(
    installation: Installation, key_pairs: tuple[KeyPair, KeyPair]
) -> None:
    old, young = map(active_key, key_pairs)
    elsewhere = with_keys(installation, [young])
    here = with_keys(installation, [old], stored=[young])

    answer = await asked(here, f"Bearer {token(elsewhere)}")

    assert answer.status == 200
    assert refresh_of(here).asked == 1


async def test_a_token_of_a_key_that_nobody_has_is_looked_for_once(
    installation: Installation, key_pairs: tuple[KeyPair, KeyPair]
) -> None:
    old, young = map(active_key, key_pairs)
    here = with_keys(installation, [old])

    answer = await asked(here, f"Bearer {token(with_keys(installation, [young]))}")

    assert (answer.status, answer.code) == (401, "JWT_ERROR")
    assert refresh_of(here).asked == 1


async def test_nothing_is_looked_up_for_a_token_that_is_wrong_in_any_other_way(installation: Installation) -> None:
    await asked(installation, "Bearer a.b.c")
    await asked(installation, f"Bearer {token(installation)}x")
    await asked(installation, f"Bearer {token(installation)}")

    assert refresh_of(installation).asked == 0


def refresh_of(installation: Installation) -> CountedKeyRefresh:
    assert isinstance(installation.key_refresh, CountedKeyRefresh)
    return installation.key_refresh


async def test_a_public_route_does_not_look_at_credentials(installation: Installation) -> None:
    open_to_all = Routes("open", "A route of this test.")

    @open_to_all.get("/open")
    @public
    async def read(call: Call) -> dict[str, Any]:
        """Tell what is known of the caller."""
        return dict(call.claims)

    application = serving(open_to_all, installation=installation)

    answers = [
        await ask(application, "GET", "/open", headers={"Authorization": value}) for value in ("Bearer x", "Basic y")
    ]

    assert [(answer.status, answer.json) for answer in answers] == [(200, {})] * 2


@given(st.text())
def test_any_header_has_a_value_or_is_nobody_s(authorization: str) -> None:
    try:
        value = bearer_value(authorization)
    except Unauthorized:
        return

    assert value
    assert authorization.strip().lower().startswith("bearer ")


def test_nobody_declares_twice_who_may_call() -> None:
    async def handler(call: Call) -> None:
        """Do nothing."""

    signed_in(handler)

    with pytest.raises(AssertionError, match="has two declarations"):
        public(handler)


def test_a_policy_reads_as_a_few_words() -> None:
    async def handler(call: Call) -> None:
        """Do nothing."""

    who = declared_policy(signed_in(handler))

    assert who is not None
    assert who.label == "user"
