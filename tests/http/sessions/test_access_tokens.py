"""The credential of a signed-in person: which tokens open a door, and which are refused with which code (pitfall 8).

What the signer believes in every detail is in `tests/adapters/sessions/test_tokens.py`; here is what a request meets.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import pytest

from adapters.crypto.key_pairs import make_key_pair
from adapters.crypto.randomness import SystemRandomness
from adapters.crypto.tokens import JwtTokenSigner, RsaKeyRing
from core.limits import ACCESS_TOKEN_LIFETIME_DEFAULT
from core.sessions import signing_keys
from core.sessions.signing_keys import KeyState, SigningKey
from core.sessions.tokens import TokenKind
from tests.application import serving
from tests.world.builder import EMAIL
from tests.world.world import World, assert_refused

if TYPE_CHECKING:
    from core.sessions.signing_keys import KeyPair
    from entrypoints.installation import Installation
    from tests.application import Answer
    from tests.clock import SettableClock
    from tests.world.signing_in import Tokens

PATH = "/api/user/sessions"


@pytest.fixture
async def ada(world: World) -> Tokens:
    """Somebody who is signed in."""
    world.user()
    return await world.sign_in()


def encoded(part: object) -> str:
    return urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()


def decoded(part: str) -> dict[str, Any]:
    return json.loads(urlsafe_b64decode(part + "=="))


def foreign_signer(installation: Installation, *, issuer: str | None = None) -> JwtTokenSigner:
    """Another installation, with keys of its own and perhaps the same name."""
    pair = make_key_pair()
    ring = RsaKeyRing()
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
    """A token says what holds, and nothing where nothing holds (decisions 2.1)."""

    async def test_without_a_context_it_says_who_and_how_and_no_more(
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

    async def test_in_an_organization_it_says_which_and_as_what(self, world: World, ada: Tokens) -> None:
        world.member(world.organization(), world.value("SELECT id FROM users"), "owner")

        claims = (await world.sign_in(org_slug="acme")).claims

        assert set(claims) - set(ada.claims) == {"org", "role"}
        assert (claims["org"], claims["role"], claims["aud"]) == ("acme", "owner", ada.claims["aud"])

    async def test_with_a_service_it_says_which_and_is_for_it(self, world: World, ada: Tokens) -> None:
        client_id = world.service(world.organization()).client_id

        claims = (await world.sign_in(org_slug="acme", service_slug="shop")).claims

        assert set(claims) - set(ada.claims) == {"org", "service"}
        assert (claims["org"], claims["service"], claims["aud"]) == ("acme", "shop", str(client_id))

    async def test_of_a_platform_owner_it_says_so(self, world: World) -> None:
        world.user(is_platform_owner=True)

        assert (await world.sign_in()).claims["is_platform_owner"] is True

    async def test_of_an_impersonated_session_it_names_the_impersonator(self, world: World, ada: Tokens) -> None:
        owner = world.user("owner@example.com", is_platform_owner=True)
        world.rows("UPDATE sessions SET impersonator_id = %s RETURNING id", owner)

        answer = await world.refresh(ada.refresh_token)

        claims = decoded(answer.json["access_token"].split(".")[1])
        assert (claims["impersonator"], claims["impersonation_session"]) == (str(owner), claims["sid"])
        assert claims["sub"] == ada.claims["sub"]

    async def test_no_token_outlives_its_session(self, world: World, ada: Tokens, clock: SettableClock) -> None:
        world.rows("UPDATE sessions SET expires_at = %s RETURNING id", clock.now + timedelta(seconds=90))

        answer = await world.refresh(ada.refresh_token)

        claims = decoded(answer.json["access_token"].split(".")[1])
        assert answer.json["expires_in"] == claims["exp"] - claims["iat"] == 90


class TestGood:
    """What opens the door."""

    async def test_a_fresh_token_does(self, world: World, ada: Tokens) -> None:
        assert (await world.list_sessions(ada)).status == 200

    @pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
    async def test_the_scheme_is_the_same_in_any_case(self, world: World, ada: Tokens, scheme: str) -> None:
        answer = await world.client.get(PATH, headers={"Authorization": f"{scheme} {ada.access_token}"})

        assert answer.status == 200

    async def test_a_token_is_good_until_its_last_second(self, world: World, ada: Tokens, clock: SettableClock) -> None:
        clock.advance(ACCESS_TOKEN_LIFETIME_DEFAULT - timedelta(seconds=1))

        assert (await world.list_sessions(ada)).status == 200

    async def test_a_rotation_of_keys_ends_no_live_token(
        self, world: World, ada: Tokens, installation: Installation
    ) -> None:
        await installation.database.transact(signing_keys.rotate, make_key_pair(), timedelta(hours=1))
        await installation.key_refresh.catch_up()

        assert (await world.list_sessions(ada)).status == 200

    async def test_a_token_of_a_replica_that_rotated_a_moment_ago_is_good(
        self, world: World, ada: Tokens, installation: Installation
    ) -> None:
        # Twice, so that the key that signs is one that this process has never seen.
        for _ in range(2):
            await installation.database.transact(signing_keys.rotate, make_key_pair(), timedelta(hours=1))
        ring = RsaKeyRing()
        ring.load(await installation.database.read(signing_keys.published))
        replica = JwtTokenSigner(ring, issuer=installation.settings.base_url, randomness=SystemRandomness())

        answer = await world.client.get(PATH, token=signed_anew(installation, ada, signer=replica))

        assert answer.status == 200


class TestOrder:
    """Whoever is nobody any more hears that before what is wrong with the input (decisions 1.6)."""

    async def test_of_a_session_that_is_over_the_input_is_not_looked_at(self, world: World, ada: Tokens) -> None:
        await world.client.post("/api/auth/logout", token=ada.access_token)

        answer = await world.client.delete(f"{PATH}/no-id", token=ada.access_token)

        assert_refused(answer, 401, "UNAUTHORIZED")

    async def test_of_a_live_session_it_is(self, world: World, ada: Tokens) -> None:
        assert_refused(await world.client.delete(f"{PATH}/no-id", token=ada.access_token), 404, "NOT_FOUND")

    async def test_without_a_token_it_is_not_looked_at_either(self, world: World) -> None:
        assert_refused(await world.client.delete(f"{PATH}/no-id"), 401, "UNAUTHORIZED")


class TestMissing:
    """No credential, or one of another kind (decisions 1.10)."""

    @pytest.mark.parametrize("headers", [{}, {"Authorization": "Basic YWRhOnB3"}, {"Authorization": ""}])
    async def test_no_token_is_nobody(self, world: World, headers: dict[str, str]) -> None:
        assert_refused(await world.client.get(PATH, headers=headers), 401, "UNAUTHORIZED")

    @pytest.mark.parametrize("value", ["nonsense", "a.b", "a.b.c.d", "..", "e30.e30.e30", "sk_abcdef_0123456789"])
    async def test_what_is_no_jwt_is_an_error_of_the_token(self, world: World, value: str) -> None:
        assert_refused(await world.client.get(PATH, token=value), 401, "JWT_ERROR")

    async def test_a_token_in_the_address_is_none(self, world: World, ada: Tokens) -> None:
        assert_refused(await world.client.get(f"{PATH}?access_token={ada.access_token}"), 401, "UNAUTHORIZED")


class TestAttacks:
    """Tokens that somebody made or altered."""

    async def send(self, world: World, token: str) -> Answer:
        return await world.client.get(PATH, token=token)

    async def test_one_without_a_signature(self, world: World, ada: Tokens) -> None:
        header, payload, signature = ada.access_token.split(".")
        for algorithm in ("none", "None", "NONE"):
            unsigned = encoded(decoded(header) | {"alg": algorithm})
            for token in (f"{unsigned}.{payload}.", f"{unsigned}.{payload}.{signature}", f"{unsigned}.{payload}"):
                assert_refused(await self.send(world, token), 401, "JWT_ERROR")
        assert_refused(await self.send(world, f"{header}.{payload}."), 401, "JWT_ERROR")

    async def test_one_signed_with_the_public_key_as_a_shared_secret(
        self, world: World, ada: Tokens, key_pairs: tuple[KeyPair, KeyPair]
    ) -> None:
        header, payload, _ = ada.access_token.split(".")
        for secret in (key_pairs[0].public_pem, key_pairs[0].public_pem.strip()):
            signing_input = f"{encoded(decoded(header) | {'alg': 'HS256'})}.{payload}"
            mark = hmac.new(secret.encode(), signing_input.encode(), hashlib.sha256).digest()
            token = f"{signing_input}.{urlsafe_b64encode(mark).rstrip(b'=').decode()}"

            assert_refused(await self.send(world, token), 401, "JWT_ERROR")

    @pytest.mark.parametrize("kid", ["unknown", "../../../dev/null", "' OR 1=1 --", "", 7, None, ["a"]])
    async def test_one_with_a_foreign_name_of_a_key(self, world: World, ada: Tokens, kid: object) -> None:
        header, payload, signature = ada.access_token.split(".")

        answer = await self.send(world, f"{encoded(decoded(header) | {'kid': kid})}.{payload}.{signature}")

        assert_refused(answer, 401, "JWT_ERROR")

    async def test_one_that_brings_its_own_key(self, world: World, ada: Tokens, installation: Installation) -> None:
        foreign = foreign_signer(installation)
        header, payload, signature = signed_anew(installation, ada, signer=foreign).split(".")
        for own in ({"jwk": foreign.jwks()[0]}, {"jku": "https://evil.example/jwks.json"}, {"crit": ["exp"]}):
            token = f"{encoded(decoded(header) | own)}.{payload}.{signature}"

            assert_refused(await self.send(world, token), 401, "JWT_ERROR")

    async def test_one_of_another_installation(self, world: World, ada: Tokens, installation: Installation) -> None:
        token = signed_anew(installation, ada, signer=foreign_signer(installation))

        assert_refused(await self.send(world, token), 401, "JWT_ERROR")

    async def test_one_with_an_altered_payload(self, world: World, ada: Tokens) -> None:
        header, payload, signature = ada.access_token.split(".")
        altered = encoded(decoded(payload) | {"is_platform_owner": True})

        assert_refused(await self.send(world, f"{header}.{altered}.{signature}"), 401, "JWT_ERROR")

    async def test_one_with_any_bit_of_its_signature_turned(self, world: World, ada: Tokens) -> None:
        unsigned, _, signature = ada.access_token.rpartition(".")
        raw = urlsafe_b64decode(signature + "==")
        for position in (0, len(raw) // 2, len(raw) - 1):
            turned = bytearray(raw)
            turned[position] ^= 1
            token = f"{unsigned}.{urlsafe_b64encode(turned).rstrip(b'=').decode()}"

            assert_refused(await self.send(world, token), 401, "JWT_ERROR")

    async def test_one_of_another_kind(self, world: World, ada: Tokens, installation: Installation) -> None:
        token = signed_anew(installation, ada, kind=TokenKind.PRE_AUTH)

        assert_refused(await self.send(world, token), 401, "JWT_ERROR")

    async def test_one_that_expired_a_second_ago_and_one_that_expires_now(
        self, world: World, ada: Tokens, clock: SettableClock
    ) -> None:
        clock.advance(ACCESS_TOKEN_LIFETIME_DEFAULT)
        assert_refused(await world.list_sessions(ada), 401, "TOKEN_EXPIRED")

        clock.advance(timedelta(seconds=1))
        assert_refused(await world.list_sessions(ada), 401, "TOKEN_EXPIRED")

    async def test_one_of_an_issuer_of_another_name(
        self, world: World, ada: Tokens, installation: Installation
    ) -> None:
        moved = replace(installation, tokens=foreign_signer(installation, issuer="https://other.example"))
        token = signed_anew(moved, ada)

        assert_refused(await self.send(world, token), 401, "JWT_ERROR")
        # Nor does this installation believe under a new name what it signed under the old one.
        renamed = JwtTokenSigner(ring_of(installation), issuer="https://new.example", randomness=SystemRandomness())
        client = serving(replace(installation, tokens=renamed))
        assert_refused(await client.get(PATH, token=ada.access_token), 401, "JWT_ERROR")

    async def test_one_too_long_to_be_ours(self, world: World, ada: Tokens) -> None:
        assert_refused(await self.send(world, ada.access_token + "A" * 10_000), 401, "JWT_ERROR")

    async def test_one_whose_session_never_was(self, world: World, ada: Tokens, installation: Installation) -> None:
        assert_refused(await self.send(world, signed_anew(installation, ada, sid=str(uuid4()))), 401, "UNAUTHORIZED")

    @pytest.mark.parametrize("sid", [None, "", "no-session", 5])
    async def test_one_that_is_of_no_session(
        self, world: World, ada: Tokens, installation: Installation, sid: object
    ) -> None:
        assert_refused(await self.send(world, signed_anew(installation, ada, sid=sid)), 401, "JWT_ERROR")


class TestAudience:
    """A token is for the installation, or for the service of its session, and for nobody else (decisions 2.1)."""

    @pytest.mark.parametrize("audience", ["https://other.example", "0191d3c1-0000-7000-8000-00000000000f", "shop"])
    async def test_a_token_for_somebody_else_is_refused(
        self, world: World, ada: Tokens, installation: Installation, audience: str
    ) -> None:
        answer = await world.client.get(PATH, token=signed_anew(installation, ada, aud=audience))

        assert_refused(answer, 401, "JWT_ERROR")

    async def test_a_token_for_another_service_than_its_session_is_refused(
        self, world: World, installation: Installation
    ) -> None:
        world.user()
        organization_id = world.organization()
        world.service(organization_id, "shop")
        other = world.service(organization_id, "forum").client_id
        tokens = await world.sign_in(org_slug="acme", service_slug="shop")

        answer = await world.client.get(PATH, token=signed_anew(installation, tokens, aud=str(other)))

        assert_refused(answer, 401, "JWT_ERROR")

    async def test_a_token_for_the_installation_is_refused_with_a_session_of_a_service(
        self, world: World, installation: Installation
    ) -> None:
        world.user()
        world.service(world.organization())
        tokens = await world.sign_in(org_slug="acme", service_slug="shop")

        answer = await world.client.get(
            PATH, token=signed_anew(installation, tokens, aud=installation.settings.base_url)
        )

        assert_refused(answer, 401, "JWT_ERROR")

    async def test_a_token_of_a_deleted_service_is_refused(self, world: World) -> None:
        world.user()
        world.service(world.organization())
        tokens = await world.sign_in(org_slug="acme", service_slug="shop")

        world.rows("DELETE FROM services RETURNING id")

        assert_refused(await world.list_sessions(tokens), 401, "UNAUTHORIZED")


def signed_anew(
    installation: Installation,
    tokens: Tokens,
    *,
    signer: JwtTokenSigner | None = None,
    kind: TokenKind = TokenKind.ACCESS,
    **changes: Any,
) -> str:
    """Sign the claims of somebody's token once more, with changes; what only whoever has the keys can do."""
    claims = {name: value for name, value in tokens.claims.items() if name not in {"iss", "jti", "iat", "exp"}}
    changed = {name: value for name, value in (claims | changes).items() if value is not None}
    return (signer or installation.tokens).sign(
        changed, kind=kind, lifetime=timedelta(minutes=15), now=installation.clock()
    )


def ring_of(installation: Installation) -> RsaKeyRing:
    """Give the keys of the house."""
    signer = installation.tokens
    assert isinstance(signer, JwtTokenSigner)
    return signer._ring
