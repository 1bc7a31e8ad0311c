"""Access tokens: which are accepted, and which are refused with which error code.

`tests/adapters/sessions/test_tokens.py` forges tokens in every way; these tests send one of each kind.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from adapters.crypto.randomness import SystemRandomness
from adapters.crypto.tokens import JwtTokenSigner, SigningKeyRing
from core.limits import ACCESS_TOKEN_LIFETIME_DEFAULT
from core.sessions import signing_keys
from core.sessions.signing_keys import KeyPair, KeyState, SigningKey
from core.sessions.tokens import TokenKind
from entrypoints.installation import Installation
from tests.application import Answer, serving
from tests.clock import SettableClock
from tests.signing_keys import key_pair
from tests.world.builder import EMAIL
from tests.world.signing_in import Tokens
from tests.world.world import World, assert_refused

PATH = "/api/user/sessions"


@pytest.fixture
async def ada(world: World) -> Tokens:
    """A signed-in user."""
    world.user()
    return await world.sign_in()


def base64url(value: bytes) -> str:
    return urlsafe_b64encode(value).rstrip(b"=").decode()


def raw(part: str) -> bytes:
    return urlsafe_b64decode(part + "==")


def encoded(part: object) -> str:
    return base64url(json.dumps(part).encode())


def decoded(part: str) -> dict[str, Any]:
    return json.loads(raw(part))


def hs256(signing_input: str, secret: str) -> str:
    return base64url(hmac.new(secret.encode(), signing_input.encode(), hashlib.sha256).digest())


def foreign_signer(installation: Installation, *, issuer: str | None = None) -> JwtTokenSigner:
    """Return the signer of another installation, which has its own keys and, by default, the same issuer."""
    pair = key_pair(2)
    ring = SigningKeyRing()
    ring.load(
        [
            SigningKey(
                kid=pair.kid,
                state=KeyState.ACTIVE,
                public_pem=pair.public_pem,
                private_pem=pair.private_pem,
                created_at=installation.clock(),
            )
        ]
    )
    return JwtTokenSigner(ring, issuer=issuer or installation.settings.base_url, randomness=SystemRandomness())


class TestClaims:
    """A token has the claims that apply to its session, and no others."""

    async def test_a_token_without_context_names_the_user_and_the_sign_in_only(
        self, world: World, installation: Installation
    ) -> None:
        user_id = world.user()

        tokens = await world.sign_in()

        issued_at = int(installation.clock().timestamp())
        claims = tokens.claims
        assert UUID(claims.pop("jti"))
        assert claims == {
            "iss": installation.settings.base_url,
            "aud": installation.settings.base_url,
            "sub": str(user_id),
            "email": EMAIL,
            "sid": str(world.value("SELECT id FROM sessions")),
            "iat": issued_at,
            "exp": issued_at + 900,
            "amr": ["pwd"],
            "auth_time": issued_at,
        }

    async def test_a_token_in_an_organization_names_it_and_the_role(self, world: World, ada: Tokens) -> None:
        world.member(world.organization(), world.value("SELECT id FROM users"), "owner")

        claims = (await world.sign_in(org_slug="acme")).claims

        assert set(claims) - set(ada.claims) == {"org", "role"}
        assert (claims["org"], claims["role"], claims["aud"]) == ("acme", "owner", ada.claims["aud"])

    async def test_a_token_for_a_service_names_it_and_has_it_as_audience(self, world: World, ada: Tokens) -> None:
        client_id = world.service(world.organization()).client_id

        claims = (await world.sign_in(org_slug="acme", service_slug="shop")).claims

        assert set(claims) - set(ada.claims) == {"org", "service", "plan", "subscription_status", "features"}
        assert (claims["org"], claims["service"], claims["aud"]) == ("acme", "shop", str(client_id))

    async def test_the_token_of_a_platform_owner_has_the_claim(self, world: World) -> None:
        world.user(is_platform_owner=True)

        assert (await world.sign_in()).claims["is_platform_owner"] is True

    async def test_the_token_of_an_impersonated_session_names_the_impersonator(self, world: World, ada: Tokens) -> None:
        owner = world.user("owner@example.com", is_platform_owner=True)
        world.rows("UPDATE sessions SET impersonator_id = %s RETURNING id", owner)

        answer = await world.refresh(ada.refresh_token)

        claims = decoded(answer.json["access_token"].split(".")[1])
        assert (claims["impersonator"], claims["impersonation_session"]) == (str(owner), claims["sid"])
        assert claims["act"] == {"sub": str(owner)}
        assert claims["sub"] == ada.claims["sub"]

    async def test_no_token_outlives_its_session(self, world: World, ada: Tokens, clock: SettableClock) -> None:
        world.rows("UPDATE sessions SET expires_at = %s RETURNING id", clock.now + timedelta(seconds=90))

        answer = await world.refresh(ada.refresh_token)

        claims = decoded(answer.json["access_token"].split(".")[1])
        assert answer.json["expires_in"] == claims["exp"] - claims["iat"] == 90


class TestAccepted:
    """Tokens that are accepted."""

    async def test_a_new_token_is_accepted(self, world: World, ada: Tokens) -> None:
        assert (await world.list_sessions(ada)).status == 200

    async def test_the_scheme_is_case_insensitive(self, world: World, ada: Tokens, subtests: pytest.Subtests) -> None:
        for scheme in ("Bearer", "bearer", "BEARER"):
            with subtests.test(scheme=scheme):
                answer = await world.client.get(PATH, headers={"Authorization": f"{scheme} {ada.access_token}"})

                assert answer.status == 200

    async def test_a_token_is_valid_until_its_last_second(
        self, world: World, ada: Tokens, clock: SettableClock
    ) -> None:
        clock.advance(ACCESS_TOKEN_LIFETIME_DEFAULT - timedelta(seconds=1))

        assert (await world.list_sessions(ada)).status == 200

    async def test_a_key_rotation_keeps_live_tokens_valid(
        self, world: World, ada: Tokens, installation: Installation
    ) -> None:
        await installation.database.transact(signing_keys.rotate, key_pair(2), timedelta(hours=1))
        await installation.key_refresh.catch_up()

        assert (await world.list_sessions(ada)).status == 200

    async def test_a_token_of_a_replica_that_has_just_rotated_its_keys_is_accepted(
        self, world: World, ada: Tokens, installation: Installation
    ) -> None:
        # Twice, so that this process has never seen the active key.
        for number in (2, 3):
            await installation.database.transact(signing_keys.rotate, key_pair(number), timedelta(hours=1))
        ring = SigningKeyRing()
        ring.load(await installation.database.read(signing_keys.published))
        replica = JwtTokenSigner(ring, issuer=installation.settings.base_url, randomness=SystemRandomness())

        answer = await world.client.get(PATH, token=sign_again(installation, ada, signer=replica))

        assert answer.status == 200


class TestOrder:
    """An ended session is refused before the input is checked."""

    async def test_an_ended_session_is_refused_before_the_input(self, world: World, ada: Tokens) -> None:
        await world.client.post("/api/auth/logout", token=ada.access_token)

        answer = await world.client.delete(f"{PATH}/no-id", token=ada.access_token)

        assert_refused(answer, 401, "UNAUTHORIZED")

    async def test_the_input_of_a_live_session_is_checked(self, world: World, ada: Tokens) -> None:
        assert_refused(await world.client.delete(f"{PATH}/no-id", token=ada.access_token), 404, "NOT_FOUND")

    async def test_a_missing_token_is_refused_before_the_input(self, world: World) -> None:
        assert_refused(await world.client.delete(f"{PATH}/no-id"), 401, "UNAUTHORIZED")


class TestMissing:
    """A missing credential, or one of another kind."""

    async def test_a_request_without_a_bearer_token_is_unauthorized(
        self, world: World, subtests: pytest.Subtests
    ) -> None:
        for headers in ({}, {"Authorization": "Basic YWRhOnB3"}, {"Authorization": ""}):
            with subtests.test(headers=headers):
                assert_refused(await world.client.get(PATH, headers=headers), 401, "UNAUTHORIZED")

    async def test_a_token_that_is_not_a_jwt_is_a_jwt_error(self, world: World, subtests: pytest.Subtests) -> None:
        for value in ("nonsense", "a.b", "a.b.c.d", "..", "e30.e30.e30", "sk_abcdef_0123456789"):
            with subtests.test(value=value):
                assert_refused(await world.client.get(PATH, token=value), 401, "JWT_ERROR")

    async def test_a_token_in_the_query_string_is_ignored(self, world: World, ada: Tokens) -> None:
        assert_refused(await world.client.get(f"{PATH}?access_token={ada.access_token}"), 401, "UNAUTHORIZED")


class TestAttacks:
    """Tokens that are forged, altered or not meant as access tokens."""

    async def send(self, world: World, token: str) -> Answer:
        return await world.client.get(PATH, token=token)

    async def test_a_forged_token_is_refused(
        self,
        world: World,
        ada: Tokens,
        installation: Installation,
        key_pairs: tuple[KeyPair, KeyPair],
        subtests: pytest.Subtests,
    ) -> None:
        header, payload, signature = ada.access_token.split(".")
        foreign = foreign_signer(installation)
        foreign_header, foreign_payload, foreign_signature = sign_again(installation, ada, signer=foreign).split(".")
        unsigned = encoded(decoded(header) | {"alg": "none"})
        by_secret = f"{encoded(decoded(header) | {'alg': 'HS256'})}.{payload}"
        unknown_key = encoded(decoded(header) | {"kid": "../../../dev/null"})
        own_key = encoded(decoded(foreign_header) | {"jwk": foreign.jwks()[0]})
        promoted = encoded(decoded(payload) | {"is_platform_owner": True})
        flipped = bytes([raw(signature)[0] ^ 1]) + raw(signature)[1:]

        for case, token in (
            ("without a signature", f"{unsigned}.{payload}."),
            ("the public key as a shared secret", f"{by_secret}.{hs256(by_secret, key_pairs[0].public_pem)}"),
            ("an unknown key id", f"{unknown_key}.{payload}.{signature}"),
            ("with its own key", f"{own_key}.{foreign_payload}.{foreign_signature}"),
            ("of another installation", f"{foreign_header}.{foreign_payload}.{foreign_signature}"),
            ("an altered payload", f"{header}.{promoted}.{signature}"),
            ("a flipped bit in its signature", f"{header}.{payload}.{base64url(flipped)}"),
        ):
            with subtests.test(case):
                assert_refused(await self.send(world, token), 401, "JWT_ERROR")

    async def test_a_token_is_refused_from_the_moment_it_expires(
        self, world: World, ada: Tokens, clock: SettableClock
    ) -> None:
        clock.advance(ACCESS_TOKEN_LIFETIME_DEFAULT)
        assert_refused(await world.list_sessions(ada), 401, "TOKEN_EXPIRED")

        clock.advance(timedelta(seconds=1))
        assert_refused(await world.list_sessions(ada), 401, "TOKEN_EXPIRED")

    async def test_a_token_of_another_issuer_is_refused(
        self, world: World, ada: Tokens, installation: Installation
    ) -> None:
        moved = replace(installation, tokens=foreign_signer(installation, issuer="https://other.example"))
        token = sign_again(moved, ada)

        assert_refused(await self.send(world, token), 401, "JWT_ERROR")
        # After a change of its issuer an installation also refuses the tokens that it signed before.
        renamed = JwtTokenSigner(ring_of(installation), issuer="https://new.example", randomness=SystemRandomness())
        client = serving(replace(installation, tokens=renamed))
        assert_refused(await client.get(PATH, token=ada.access_token), 401, "JWT_ERROR")

    async def test_a_token_that_is_too_long_is_refused(self, world: World, ada: Tokens) -> None:
        assert_refused(await self.send(world, ada.access_token + "A" * 10_000), 401, "JWT_ERROR")

    async def test_a_token_of_an_unknown_session_is_refused(
        self, world: World, ada: Tokens, installation: Installation
    ) -> None:
        assert_refused(await self.send(world, sign_again(installation, ada, sid=str(uuid4()))), 401, "UNAUTHORIZED")

    async def test_a_token_without_a_valid_session_id_is_refused(
        self, world: World, ada: Tokens, installation: Installation, subtests: pytest.Subtests
    ) -> None:
        for sid in (None, "", "no-session", 5):
            with subtests.test(sid=sid):
                assert_refused(await self.send(world, sign_again(installation, ada, sid=sid)), 401, "JWT_ERROR")


class TestAudience:
    """A token's audience is the installation or the service of its session, and nothing else."""

    async def test_a_token_for_another_audience_is_refused(
        self, world: World, ada: Tokens, installation: Installation, subtests: pytest.Subtests
    ) -> None:
        for audience in ("https://other.example", "0191d3c1-0000-7000-8000-00000000000f", "shop"):
            with subtests.test(audience=audience):
                answer = await world.client.get(PATH, token=sign_again(installation, ada, aud=audience))

                assert_refused(answer, 401, "JWT_ERROR")

    async def test_a_token_for_a_service_other_than_that_of_its_session_is_refused(
        self, world: World, installation: Installation
    ) -> None:
        world.user()
        organization_id = world.organization()
        world.service(organization_id, "shop")
        other = world.service(organization_id, "forum").client_id
        tokens = await world.sign_in(org_slug="acme", service_slug="shop")

        answer = await world.client.get(PATH, token=sign_again(installation, tokens, aud=str(other)))

        assert_refused(answer, 401, "JWT_ERROR")

    async def test_a_token_for_the_installation_is_refused_if_its_session_is_for_a_service(
        self, world: World, installation: Installation
    ) -> None:
        world.user()
        world.service(world.organization())
        tokens = await world.sign_in(org_slug="acme", service_slug="shop")

        answer = await world.client.get(
            PATH, token=sign_again(installation, tokens, aud=installation.settings.base_url)
        )

        assert_refused(answer, 401, "JWT_ERROR")

    async def test_a_token_of_a_deleted_service_is_refused(self, world: World) -> None:
        world.user()
        world.service(world.organization())
        tokens = await world.sign_in(org_slug="acme", service_slug="shop")

        world.rows("DELETE FROM services RETURNING id")

        assert_refused(await world.list_sessions(tokens), 401, "UNAUTHORIZED")


def sign_again(
    installation: Installation,
    tokens: Tokens,
    *,
    signer: JwtTokenSigner | None = None,
    **changes: Any,
) -> str:
    """Sign the claims of a token again, with changes; this needs the private keys."""
    claims = {name: value for name, value in tokens.claims.items() if name not in {"iss", "jti", "iat", "exp"}}
    changed = {name: value for name, value in (claims | changes).items() if value is not None}
    return (signer or installation.tokens).sign(
        changed, kind=TokenKind.ACCESS, lifetime=timedelta(minutes=15), now=installation.clock()
    )


def ring_of(installation: Installation) -> SigningKeyRing:
    """Return the keys of the installation."""
    signer = installation.tokens
    assert isinstance(signer, JwtTokenSigner)
    return signer._ring
