"""Back-channel logout: the OpenID provider of a connection ends the sessions that it began."""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import jwt
import pytest

from core.rate_limits import RateLimit
from core.sign_in.upstream.revocation import backchannel_logout
from core.sign_in.upstream.revocation.backchannel_logout import EVENT, LogoutToken, LogoutTokenRefused
from tests.application import Answer, Client, serving_with_rate_limits
from tests.concurrency import at_once, statuses_of
from tests.openid_provider import CLIENT_ID, KEY, OTHER_KEY, OpenIdProvider, public_key, running_openid_provider
from tests.world.openid_acme import Acme, openid_acme
from tests.world.visitor import FORM, Visitor
from tests.world.world import World

ADA = "ada@acme.example"
HEADER = {"typ": "logout+jwt", "kid": "1"}
LIVE = """
    SELECT   p.session_index
    FROM     provider_sessions p
    JOIN     sessions s ON s.id = p.session_id
    WHERE    s.revoked_at IS NULL
    ORDER BY p.session_index
"""


@pytest.fixture
def provider() -> Generator[OpenIdProvider]:
    """The identity provider of Acme."""
    with running_openid_provider() as running:
        yield running


@pytest.fixture
async def acme(world: World, visitor: Visitor, provider: OpenIdProvider) -> Acme:
    """Acme, with its connection and its domain."""
    return await openid_acme(world, visitor, provider)


def path_of(acme: Acme) -> str:
    """Return the path to which the provider posts."""
    return f"/auth/upstream/{acme.connection_id}/backchannel-logout"


def claims_of(acme: Acme, **changed: Any) -> dict[str, Any]:
    """Return the claims of a token for Ada; those that are None are left out."""
    now = int(acme.world.clock().timestamp())
    claims = {
        "iss": acme.provider.url,
        "aud": CLIENT_ID,
        "iat": now,
        "exp": now + 120,
        "jti": f"token-{len(changed)}",
        "events": {EVENT: {}},
        "sub": "employee-1",
        **changed,
    }
    return {name: value for name, value in claims.items() if value is not None}


async def send(acme: Acme, token: str, client: Client | None = None, path: str = "") -> Answer:
    """Post a token as the provider does."""
    return await (client or acme.world.client).request(
        "POST",
        path or path_of(acme),
        data=urlencode({"logout_token": token}).encode(),
        headers={"Content-Type": FORM},
    )


async def log_out(acme: Acme, **changed: Any) -> Answer:
    """Post a token of the provider with these claims."""
    return await send(acme, jwt.encode(claims_of(acme, **changed), KEY, "RS256", headers=HEADER))


async def begin(acme: Acme, session_id: str | None) -> None:
    """Sign in with a session that the provider names, in a browser of its own."""
    acme.provider.claims = {"sid": session_id}
    acme.visitor.cookies.clear()
    await acme.sign_in()


async def test_a_session_a_user_or_both_are_named(acme: Acme, world: World) -> None:
    for session_id in ("s-1", "s-2", "s-3", "s-4"):
        await begin(acme, session_id)

    one = await log_out(acme, jti="a", sub=None, sid="s-1")
    assert (one.status, one.text, one.headers["Cache-Control"]) == (204, "", "no-store")
    assert world.rows(LIVE) == [("s-2",), ("s-3",), ("s-4",)]
    await log_out(acme, jti="b", sid="s-2")
    assert world.rows(LIVE) == [("s-3",), ("s-4",)]
    # Of another user there is no such session.
    assert (await log_out(acme, jti="c", sub="employee-2", sid="s-3")).status == 204
    assert world.rows(LIVE) == [("s-3",), ("s-4",)]
    await log_out(acme, jti="d")
    assert world.rows(LIVE) == []


async def test_it_ends_what_began_by_the_connection_and_nothing_else(acme: Acme, world: World) -> None:
    world.member(acme.organization_id, world.user(ADA))
    acme.link(ADA)
    await begin(acme, "s-1")
    other = await world.sign_in(ADA, org_slug="acme")

    assert (await log_out(acme, sid="s-1")).status == 204

    assert acme.live_sessions == 0
    assert (await world.client.get("/api/user", token=other.access_token)).status == 200
    assert len(world.events("user.logout")) == 1
    # What has ended ends once.
    assert (await log_out(acme, jti="later", sid="s-1")).status == 204
    assert len(world.events("user.logout")) == 1


@pytest.mark.parametrize("named", [{}, {"sub": None, "sid": "s-1"}])
async def test_sessions_that_have_ended_since_hide_none_that_lives(
    acme: Acme, world: World, named: dict[str, Any]
) -> None:
    await begin(acme, "s-1")
    world.connection.execute(
        """
        WITH made AS (
            INSERT INTO sessions
            SELECT (jsonb_populate_record(s, jsonb_build_object(
                       'id', 'ffffffff-ffff-4fff-8fff-' || lpad(n::text, 12, '0'),
                       'refresh_hash', '\\x' || md5(n::text),
                       'revoked_at', now()))).*
            FROM   sessions s, generate_series(1, 100) n
            WHERE  s.connection_id IS NOT NULL
            RETURNING id)
        INSERT INTO provider_sessions (session_id, organization_id, connection_id, name_id, session_index)
        SELECT made.id, p.organization_id, p.connection_id, p.name_id, p.session_index
        FROM   made, provider_sessions p
        """
    )
    assert world.rows(LIVE) == [("s-1",)]

    assert (await log_out(acme, **named)).status == 204

    assert world.rows(LIVE) == []


async def test_a_user_is_named_by_the_provider_s_own_id_where_another_one_is_mapped(acme: Acme, world: World) -> None:
    await acme.change(attribute_mapping={"id": "oid"})
    acme.provider.claims = {"oid": "7", "sid": "s-1"}
    await acme.sign_in()
    assert world.rows(LIVE) == [("s-1",)]

    assert (await log_out(acme)).status == 204

    assert world.rows(LIVE) == []


async def test_a_token_is_taken_once(acme: Acme, world: World) -> None:
    await begin(acme, "s-1")
    token = jwt.encode(claims_of(acme, jti="once"), KEY, "RS256", headers=HEADER)

    answers = await at_once(*[partial(send, acme, token)] * 4)

    assert statuses_of(answers) == [204, 400, 400, 400]
    assert world.rows(LIVE) == []


async def test_any_other_token_ends_nothing(acme: Acme, world: World) -> None:
    await begin(acme, "s-1")
    elsewhere = world.organization("globex")
    id_token = {**claims_of(acme, events=None), "nonce": "n"}
    tokens = {
        "an id token": jwt.encode(id_token, KEY, "RS256", headers={"kid": "1"}),
        "with a nonce": jwt.encode(claims_of(acme, nonce="n"), KEY, "RS256", headers=HEADER),
        "another key": jwt.encode(claims_of(acme), OTHER_KEY, "ES256", headers=HEADER),
        "another issuer": jwt.encode(claims_of(acme, iss="https://other.example"), KEY, "RS256", headers=HEADER),
        "another audience": jwt.encode(claims_of(acme, aud="another"), KEY, "RS256", headers=HEADER),
        "another kind": jwt.encode(claims_of(acme), KEY, "RS256", headers={**HEADER, "typ": "at+jwt"}),
        "nobody": jwt.encode(claims_of(acme, sub=None), KEY, "RS256", headers=HEADER),
        "no token": "",
        "no signature": "e30.e30.",
    }

    for name, token in tokens.items():
        refused = await send(acme, token)
        assert (refused.status, refused.json["error_code"]) == (400, "BAD_REQUEST"), name
    unknown = await send(acme, tokens["an id token"], path=f"/auth/upstream/{elsewhere}/backchannel-logout")
    await acme.change(enabled=False)

    assert unknown.status == 400
    assert (await log_out(acme)).status == 400


async def test_a_new_key_of_the_provider_is_found(acme: Acme, world: World) -> None:
    await begin(acme, "s-1")
    acme.provider.keys = [public_key(OTHER_KEY, "2")]

    token = jwt.encode(claims_of(acme), OTHER_KEY, "ES256", headers={**HEADER, "kid": "2"})

    assert (await send(acme, token)).status == 204
    assert world.rows(LIVE) == []


async def test_a_provider_that_is_away_is_asked_again_later(acme: Acme) -> None:
    acme.provider.document = {"jwks_uri": None}

    answer = await log_out(acme)

    assert answer.status == 503
    assert "Retry-After" in answer.headers


async def test_a_suspended_organization_s_sessions_end_too(acme: Acme, world: World) -> None:
    await begin(acme, "s-1")
    world.connection.execute("UPDATE organizations SET status = 'suspended' WHERE slug = 'acme'")

    assert (await log_out(acme)).status == 204

    assert world.rows(LIVE) == []


async def test_a_connection_that_was_changed_meanwhile_takes_nothing(acme: Acme, world: World) -> None:
    token = LogoutToken(issuer=acme.provider.url, client_id="before", id="x", subject="employee-1", session_id=None)

    with pytest.raises(LogoutTokenRefused):
        await world.installation.database.transact(
            lambda uow: backchannel_logout.log_out(uow, UUID(acme.connection_id), token)
        )


async def test_strangers_are_counted_by_their_network_and_take_nothing_of_the_provider_s(
    acme: Acme, world: World
) -> None:
    limited = serving_with_rate_limits(world.installation)

    by_strangers = [await send(acme, "x", limited) for _ in range(30)]
    taken = await send(acme, jwt.encode(claims_of(acme), KEY, "RS256", headers=HEADER), limited)

    assert [answer.status for answer in by_strangers] == [400] * 20 + [429] * 10
    assert taken.status == 204
    limit = RateLimit.BACKCHANNEL_LOGOUT
    assert (limit.burst, limit.seconds_per_request) == (600, 0.1)


async def test_a_connection_by_saml_takes_no_logout_tokens(acme: Acme) -> None:
    made = await acme.owner.post("/api/organizations/acme/upstream-providers", {"type": "saml", "name": "By SAML"})

    refused = await send(acme, "x", path=f"/auth/upstream/{made.json['id']}/backchannel-logout")

    assert refused.status == 400
