"""Global token revocation: the provider of a connection ends a person's sessions and tokens in its organization."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Generator
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from psycopg.types.json import Jsonb

from core.rate_limits import RateLimit
from core.sign_in.upstream.revocation import global_token_revocation
from core.sign_in.upstream.revocation.global_token_revocation import (
    RevocationToken,
    RevocationUnauthorized,
    RevokedSubject,
)
from tests.application import serving_with_rate_limits
from tests.concurrency import at_once, statuses_of
from tests.openid_provider import KEY, OTHER_KEY, OpenIdProvider, running_openid_provider
from tests.world.builder import new_id
from tests.world.openid_acme import Acme, command_line_token, openid_acme
from tests.world.openid_connection import CONNECTIONS
from tests.world.revocations import HEADER, Revoker, revocation_path
from tests.world.signing_in import Tokens
from tests.world.visitor import Visitor
from tests.world.world import World, assert_refused

ADA = "ada@acme.example"
BOB = "bob@acme.example"
BY_ADDRESS = {"format": "email", "email": ADA}


@pytest.fixture
def provider() -> Generator[OpenIdProvider]:
    """The identity provider of Acme."""
    with running_openid_provider() as running:
        yield running


@pytest.fixture
async def acme(world: World, visitor: Visitor, provider: OpenIdProvider) -> Acme:
    """Acme, with its connection and its domain, and its members Ada and Bob."""
    made = await openid_acme(world, visitor, provider)
    for email in (ADA, BOB):
        world.member(made.organization_id, world.user(email))
    world.connection.execute(
        """
        INSERT INTO identities (id, user_id, provider, subject, organization_id, connection_id, linked_at, used_at)
        VALUES (%s, %s, 'upstream', 'employee-1', %s, %s, %s, %s)
        """,
        (new_id(), world.user_id(ADA), made.organization_id, made.connection_id, world.clock(), world.clock()),
    )
    return made


@pytest.fixture
def revoker(acme: Acme) -> Revoker:
    """The provider, which ends people's sessions and tokens."""
    return Revoker(acme.world, acme.provider, acme.connection_id)


async def is_alive(world: World, tokens: Tokens) -> bool:
    """Return whether a session is alive: its access token and its refresh token, which agree."""
    used = await world.client.get("/api/user", token=tokens.access_token)
    refreshed = await world.refresh(tokens.refresh_token)
    assert {used.status, refreshed.status} in ({200}, {401}), (used.text, refreshed.text)
    return used.status == 200


async def test_it_ends_what_a_person_holds_in_the_organization_and_nothing_else(
    acme: Acme, revoker: Revoker, world: World
) -> None:
    world.service(acme.organization_id, "shop")
    vendor_id, globex_id = world.organization("vendor"), world.organization("globex")
    desk = world.service(vendor_id, "desk")
    world.connection.execute("UPDATE services SET backchannel_logout_uri = 'https://rp.example/logout'")
    world.customer(desk, acme.organization_id)
    world.customer(desk, globex_id)
    world.member(globex_id, world.user_id(ADA))
    await acme.sign_in()
    command_line = await command_line_token(acme)
    in_acme = [
        await world.sign_in(ADA, org_slug="acme"),
        await world.sign_in(ADA, org_slug="acme", service_slug="shop"),
        await world.sign_in(ADA, org_slug="vendor", service_slug="desk", customer="acme"),
        Tokens(command_line["access_token"], command_line["refresh_token"], ""),
    ]
    others = [
        await world.sign_in(ADA),
        await world.sign_in(ADA, org_slug="globex"),
        await world.sign_in(ADA, org_slug="vendor", service_slug="desk", customer="globex"),
        await world.sign_in(BOB, org_slug="acme"),
        await world.sign_in(BOB, org_slug="acme", service_slug="shop"),
    ]

    answer = await revoker.revoke_address(ADA)

    assert (answer.status, answer.text) == (204, "")
    assert [await is_alive(world, one) for one in in_acme] == [False] * 4
    assert [await is_alive(world, one) for one in others] == [True] * 5
    assert acme.live_sessions == 0
    assert world.value("SELECT count(*) FROM logout_notices") == 2
    [(organization_id, target, details)] = world.audit_entries(
        "session.revoked", "organization_id", "target_id", "details"
    )
    assert (organization_id, target) == (acme.organization_id, str(world.user_id(ADA)))
    assert details == {"connection_id": acme.connection_id, "reason": "global_token_revocation", "sessions": 5}
    told = {one: (email, data) for one, email, data in world.events("session.revoked")}
    assert told == {
        acme.organization_id: (ADA, {**details, "sessions": 4}),
        vendor_id: (ADA, {"sessions": 1}),
    }


async def test_a_person_is_found_by_the_identity_of_this_connection(acme: Acme, revoker: Revoker, world: World) -> None:
    await acme.sign_in()
    assert acme.live_sessions == 1

    strangers = [await revoker.revoke_subject("employee-2")]
    strangers.append(await revoker.revoke(format="iss_sub", iss="https://other.example", sub="employee-1"))
    assert acme.live_sessions == 1
    assert world.audit_entries("session.revoked") == []
    hers = await revoker.revoke_subject("employee-1")

    assert statuses_of([*strangers, hers]) == [204] * 3
    assert acme.live_sessions == 0


async def test_an_address_counts_in_a_verified_mail_domain_alone(acme: Acme, revoker: Revoker, world: World) -> None:
    home = "ada@home.example"
    world.member(acme.organization_id, world.user(home))
    hers = await world.sign_in(home, org_slug="acme")
    world.user("stranger@acme.example")

    for email in (home, "nobody@acme.example", "stranger@acme.example", "no address", f"{ADA}@home.example"):
        assert (await revoker.revoke_address(email)).status == 204, email

    assert await is_alive(world, hers)
    # An entry would tell the organization that a stranger has an account.
    assert world.audit_entries("session.revoked") == []
    ada = await world.sign_in(ADA, org_slug="acme")
    world.connection.execute("UPDATE domain_routes SET status = 'pending', proved_at = NULL, verified_at = NULL")
    assert (await revoker.revoke_address(ADA)).status == 204
    assert await is_alive(world, ada)
    world.connection.execute("UPDATE domain_routes SET status = 'verified', verified_at = now(), proved_at = now()")
    assert (await revoker.revoke_address(f" {ADA.upper()} ")).status == 204
    assert not await is_alive(world, ada)


async def test_a_sign_in_between_its_halves_ends_too(acme: Acme, revoker: Revoker, world: World) -> None:
    vendor_id = world.organization("vendor")
    world.customer(world.service(vendor_id, "desk"), acme.organization_id)
    world.service(world.organization("globex"), "till")
    eve = "eve@acme.example"
    world.member(acme.organization_id, world.user(eve, has_mfa=True))
    to_end: list[dict[str, Any]] = [
        {"org_slug": "acme"},
        {"org_slug": "vendor", "service_slug": "desk"},
        {"org_slug": "vendor", "service_slug": "desk", "customer": "acme"},
    ]
    to_stay: list[dict[str, Any]] = [{}, {"org_slug": "globex", "service_slug": "till"}]
    for target in (*to_end, *to_stay):
        begun = await world.log_in(eve, **target)
        assert begun.json["preauth_token"], begun.text

    assert (await revoker.revoke_address(eve)).status == 204

    assert [row[0] for row in world.rows("SELECT used_at IS NULL FROM mfa_challenges ORDER BY created_at, id")] == [
        *[False] * len(to_end),
        *[True] * len(to_stay),
    ]


async def test_another_caller_is_refused(acme: Acme, revoker: Revoker, world: World, provider: OpenIdProvider) -> None:
    now = int(world.clock().timestamp())
    hers = await world.sign_in(ADA, org_slug="acme")
    other = await connected(world, provider, "globex")
    pem = KEY.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    own_path = "http://localhost:8000" + revocation_path(acme.connection_id)
    tokens = {
        "another typ": revoker.token(header={"typ": "JWT"}),
        "the typ of an access token": revoker.token(header={"typ": "at+jwt"}),
        "no typ": revoker.token(header={"typ": None}),
        "another installation": revoker.token(aud="https://other.example" + revocation_path(acme.connection_id)),
        "another connection": revoker.token(aud="http://localhost:8000" + revocation_path(other)),
        "our issuer as audience": revoker.token(aud="http://localhost:8000"),
        "two audiences": revoker.token(aud=[own_path, "https://other.example"]),
        "no audience": revoker.token(aud=None),
        "another issuer": revoker.token(iss="https://other.example"),
        "no issuer": revoker.token(iss=None),
        "expired": revoker.token(iat=now - 280, exp=now - 200),
        "old": revoker.token(iat=now - 500),
        "valid too long": revoker.token(exp=now + 500),
        "no end": revoker.token(exp=None),
        "an end that is no number": revoker.token(exp="soon"),
        "an end that is a boolean": revoker.token(exp=True),
        "an end beyond all times": revoker.token(exp=10**20),
        "not valid yet": revoker.token(nbf=now + 200),
        "signed in the future": revoker.token(iat=now + 200),
        "no id": revoker.token(jti=None),
        "a long id": revoker.token(jti="x" * 201),
        "an id that is no text": revoker.token(jti=7),
        "an id that cannot be stored": revoker.token(jti="\ud800"),
        "a critical extension": revoker.token(header={"crit": ["exp"]}),
        "another key": jwt.encode(revoker.claims(), OTHER_KEY, "ES256", headers=HEADER),
        "the public key as a secret": hs256(revoker.claims(), pem),
        "no signature": unsigned(revoker.claims()),
        "an access token": hers.access_token,
        "no token": "x",
    }

    for name, token in tokens.items():
        answer = await revoker.send(token, BY_ADDRESS)
        assert answer.status == 401, name
        assert_refused(answer, 401, "UNAUTHORIZED")

    bare = await world.client.post(revocation_path(acme.connection_id), body={"sub_id": BY_ADDRESS})
    assert_refused(bare, 401, "UNAUTHORIZED")
    # Nor is the body of a stranger looked at.
    invalid = await world.client.post(revocation_path(acme.connection_id), token="x", body={"sub_id": 1})
    assert_refused(invalid, 401, "UNAUTHORIZED")
    unknown = await revoker.send(revoker.token(), BY_ADDRESS, connection_id="0190a1b2-0000-7000-8000-000000000000")
    assert_refused(unknown, 401, "UNAUTHORIZED")
    assert await is_alive(world, hers)


async def test_the_provider_of_another_connection_ends_nothing(acme: Acme, revoker: Revoker, world: World) -> None:
    hers = await world.sign_in(ADA, org_slug="acme")
    with running_openid_provider() as evil:
        evil.keys = [{**evil.keys[0], "kid": "1"}]
        theirs = Revoker(world, evil, await connected(world, evil, "globex"))
        by_theirs = await theirs.revoke_address(ADA)
        as_ours = await theirs.send(theirs.token(), BY_ADDRESS, connection_id=acme.connection_id)

    assert by_theirs.status == 204
    assert_refused(as_ours, 401, "UNAUTHORIZED")
    assert await is_alive(world, hers)


async def test_a_token_is_used_once(acme: Acme, revoker: Revoker, world: World) -> None:
    token = revoker.token()

    racers = await at_once(*[lambda: revoker.send(token, BY_ADDRESS) for _ in range(4)])
    later = await world.sign_in(ADA, org_slug="acme")
    again = await revoker.send(token, BY_ADDRESS)

    assert statuses_of([*racers, again]) == [204, 401, 401, 401, 401]
    assert await is_alive(world, later)
    [(until,)] = world.rows("SELECT expires_at FROM single_uses")
    assert until <= world.clock() + timedelta(minutes=8)


async def test_a_subject_in_another_format_is_named(acme: Acme, revoker: Revoker) -> None:
    for sub_id in (
        {"format": "opaque", "id": "00u1"},
        {"format": "phone_number", "phone_number": "+491"},
        {"format": "aliases", "identifiers": [BY_ADDRESS]},
        {"format": ["email"], "email": ADA},
        {"email": ADA},
        {"format": "email"},
        {"format": "email", "email": "x" * 501},
        {"format": "iss_sub", "iss": acme.provider.url},
        {"format": "iss_sub", "iss": 1, "sub": "employee-1"},
    ):
        assert_refused(await revoker.send(revoker.token(), sub_id), 400, "BAD_REQUEST")
    headers = {"Authorization": f"Bearer {revoker.token()}", "Content-Type": "text/plain"}
    answer = await acme.world.client.request("POST", revocation_path(acme.connection_id), data=b"x", headers=headers)
    assert_refused(answer, 415, "UNSUPPORTED_MEDIA_TYPE")


async def test_a_connection_that_is_closed_or_leads_elsewhere_takes_no_tokens(
    acme: Acme, revoker: Revoker, world: World
) -> None:
    token = revoker.token()
    await acme.change(enabled=False)
    assert_refused(await revoker.send(token, BY_ADDRESS), 401, "UNAUTHORIZED")
    await acme.change(enabled=True)
    with running_openid_provider() as other:
        await acme.change(issuer=other.url, client_secret="x")
        assert_refused(await revoker.send(token, BY_ADDRESS), 401, "UNAUTHORIZED")
    # It was changed after the token was verified.
    verified = RevocationToken(issuer=acme.provider.url, id="one", expires_at=world.clock())
    with pytest.raises(RevocationUnauthorized):
        await world.installation.database.transact(
            global_token_revocation.revoke, UUID(acme.connection_id), verified, RevokedSubject(email=ADA)
        )


@pytest.mark.parametrize("status", ["suspended", "pending", "rejected"])
async def test_it_takes_effect_while_the_organization_is_not_active(
    acme: Acme, revoker: Revoker, world: World, status: str
) -> None:
    hers = await world.sign_in(ADA, org_slug="acme")
    world.set_organization_status(acme.organization_id, status)

    answer = await revoker.revoke_subject("employee-1")
    world.set_organization_status(acme.organization_id, "active")

    assert answer.status == 204
    assert not await is_alive(world, hers)


async def test_an_organization_that_is_deleted_takes_no_tokens(acme: Acme, revoker: Revoker, world: World) -> None:
    world.set_organization_status(acme.organization_id, "deleting")

    assert_refused(await revoker.revoke_address(ADA), 401, "UNAUTHORIZED")


async def test_the_provider_names_people_by_its_own_id_where_the_connection_takes_another_one(
    acme: Acme, revoker: Revoker, world: World
) -> None:
    world.connection.execute("UPDATE identities SET subject = 'staff-7'")
    world.connection.execute(
        "UPDATE upstream_connections SET attribute_mapping = %s WHERE id = %s",
        (Jsonb({"id": "staff_number"}), acme.connection_id),
    )
    acme.provider.claims = {"sub": "employee-1", "staff_number": "staff-7", "email": ADA}
    before = await world.sign_in(ADA, org_slug="acme")

    unlearned = [await revoker.revoke_subject(one) for one in ("employee-1", "staff-7")]
    assert (statuses_of(unlearned), await is_alive(world, before)) == ([204, 204], True)
    await acme.sign_in()
    by_mapped = await revoker.revoke_subject("staff-7")
    assert (by_mapped.status, acme.live_sessions) == (204, 1)
    by_own = await revoker.revoke_subject("employee-1")

    assert (by_own.status, acme.live_sessions) == (204, 0)
    assert (await world.client.get("/api/user", token=before.access_token)).status == 401


async def test_a_mapping_that_names_the_own_id_takes_it(acme: Acme, revoker: Revoker, world: World) -> None:
    world.connection.execute(
        "UPDATE upstream_connections SET attribute_mapping = %s WHERE id = %s",
        (Jsonb({"id": "sub"}), acme.connection_id),
    )
    await acme.sign_in()

    await revoker.revoke_subject("employee-1")

    assert acme.live_sessions == 0


async def test_an_own_id_ends_the_sessions_of_each_account_that_it_names(
    acme: Acme, revoker: Revoker, world: World
) -> None:
    world.connection.execute(
        "UPDATE upstream_connections SET attribute_mapping = %s WHERE id = %s",
        (Jsonb({"id": "staff_number"}), acme.connection_id),
    )
    world.connection.execute(
        """
        INSERT INTO identities (id, user_id, provider, subject, own_subject, organization_id, connection_id, linked_at,
                                used_at)
        SELECT gen_random_uuid(), %s, provider, 'staff-8', 'employee-1', organization_id, connection_id, linked_at,
               used_at
        FROM   identities
        """,
        (world.user_id(BOB),),
    )
    world.connection.execute("UPDATE identities SET own_subject = 'employee-1'")
    sessions = [await world.sign_in(email, org_slug="acme") for email in (ADA, BOB)]

    await revoker.revoke_subject("employee-1")

    assert [await is_alive(world, one) for one in sessions] == [False, False]


async def test_an_issuer_that_is_away_is_asked_again_later(acme: Acme, revoker: Revoker, world: World) -> None:
    document, acme.provider.document = acme.provider.document, {"jwks_uri": f"{acme.provider.url}/nothing"}

    away = await revoker.revoke_address(ADA)
    asked = len(acme.provider.requests)
    still = await revoker.revoke_address(ADA)

    assert_refused(away, 503, "SERVICE_UNAVAILABLE")
    assert_refused(still, 503, "SERVICE_UNAVAILABLE")
    assert int(away.headers["Retry-After"]) > 0
    assert len(acme.provider.requests) == asked
    acme.provider.document = document
    # A failure at one organization counts for no other one with the same issuer.
    assert await world.installation.key_sets.discover(new_id(), acme.provider.url) is not None


async def test_unknown_keys_do_not_make_us_ask_the_issuer_again_and_again(acme: Acme, revoker: Revoker) -> None:
    assert (await revoker.revoke_address(ADA)).status == 204
    asked = len(acme.provider.requests)

    for _ in range(3):
        forged = jwt.encode(revoker.claims(), OTHER_KEY, "ES256", headers={**HEADER, "kid": "unknown"})
        assert_refused(await revoker.send(forged, BY_ADDRESS), 401, "UNAUTHORIZED")

    assert len(acme.provider.requests) == asked


async def test_wrong_tokens_at_once_ask_the_issuer_once(acme: Acme, revoker: Revoker) -> None:
    forged = jwt.encode(revoker.claims(), OTHER_KEY, "ES256", headers={**HEADER, "kid": "unknown"})
    asked = len(acme.provider.requests)

    answers = await at_once(*[partial(revoker.send, forged, BY_ADDRESS)] * 20)

    assert statuses_of(answers) == [401] * 20
    # The document, and the keys that it names.
    assert len(acme.provider.requests) == asked + 2


async def test_a_connection_has_sixty_requests_a_minute_and_strangers_take_none_of_them(
    acme: Acme, revoker: Revoker, world: World
) -> None:
    limited = serving_with_rate_limits(world.installation)
    path, body = revocation_path(acme.connection_id), {"sub_id": BY_ADDRESS}

    by_strangers = [await limited.post(path, token=hs256(revoker.claims(), b"x"), body=body) for _ in range(30)]
    answers = [await limited.post(path, token=revoker.token(), body=body) for _ in range(61)]

    assert [answer.status for answer in by_strangers] == [401] * 20 + [429] * 10
    assert [answer.status for answer in answers] == [204] * 60 + [429]
    assert (RateLimit.GLOBAL_REVOCATION.burst, RateLimit.GLOBAL_REVOCATION.seconds_per_request) == (60, 1.0)


async def test_a_saml_connection_names_the_issuer_of_its_tokens(
    acme: Acme, revoker: Revoker, world: World, provider: OpenIdProvider
) -> None:
    made = await acme.owner.post(CONNECTIONS, {"type": "saml", "name": "By SAML"})
    saml = Revoker(world, provider, made.json["id"])
    world.connection.execute(
        "UPDATE upstream_connections SET issuer = 'https://entity.example', enabled = true WHERE id = %s",
        (saml.connection_id,),
    )
    hers = await world.sign_in(ADA, org_slug="acme")
    assert_refused(await saml.revoke_address(ADA), 401, "UNAUTHORIZED")
    path = f"{CONNECTIONS}/{saml.connection_id}"
    for wrong in ("http://idp.example", "https://login.microsoftonline.com/common", "https://{tenant}.example"):
        refused = await acme.owner.patch(path, {"token_issuer": wrong})
        assert_refused(refused, 400, "BAD_REQUEST")
        assert refused.json["details"][0]["field"] == "token_issuer"
    assert_refused(await acme.owner.patch(acme.path, {"token_issuer": provider.url}), 400, "BAD_REQUEST")

    changed = await acme.owner.patch(path, {"token_issuer": provider.url})
    answer = await saml.revoke_address(ADA)
    removed = await acme.owner.patch(path, {"token_issuer": ""})

    assert changed.json["token_issuer"] == provider.url
    assert answer.status == 204
    assert not await is_alive(world, hers)
    assert removed.json["token_issuer"] is None
    assert_refused(await saml.revoke_address(ADA), 401, "UNAUTHORIZED")


async def connected(world: World, provider: OpenIdProvider, slug: str) -> str:
    """Return the connection of another organization to a provider."""
    owner = await world.signed_in_member(world.organization(slug), email=f"owner@{slug}.example")
    body = {"type": "oidc", "name": slug, "issuer": provider.url, "client_id": "x", "client_secret": "secret"}
    made = await owner.post(f"/api/organizations/{slug}/upstream-providers", body)
    assert made.status == 200, made.text
    return made.json["id"]


def unsigned(claims: dict[str, Any]) -> str:
    return f"{_encoded({**HEADER, 'alg': 'none'})}.{_encoded(claims)}."


def hs256(claims: dict[str, Any], secret: bytes) -> str:
    signed = f"{_encoded({**HEADER, 'alg': 'HS256'})}.{_encoded(claims)}"
    mac = base64.urlsafe_b64encode(hmac.new(secret, signed.encode(), hashlib.sha256).digest()).decode().rstrip("=")
    return f"{signed}.{mac}"


def _encoded(value: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")
