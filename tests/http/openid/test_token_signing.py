"""A service chooses the key type of its tokens, and the installation the key type of tokens that it alone verifies."""

from __future__ import annotations

from dataclasses import replace

import jwt
import pytest

from core.sessions.security_profiles import SignatureAlgorithm
from core.sessions.tokens import TokenKind
from entrypoints.settings import Settings
from tests.http.openid.test_backchannel_logout import dispatch, dispatching, token_of
from tests.receiver import open_receiver
from tests.world.relying_party import RelyingParty
from tests.world.second_factors import insert_person
from tests.world.team import Team
from tests.world.world import World, assert_refused


def algorithm_of(token: str) -> str:
    return jwt.get_unverified_header(token)["alg"]


async def test_a_service_has_rs256_until_it_chooses_and_every_token_of_it_what_it_has_chosen(
    shop: RelyingParty, world: World
) -> None:
    before = await shop.tokens()
    shop.set(token_signing="ES256")

    tokens = await shop.tokens()
    refreshed = (await shop.token("refresh_token", refresh_token=tokens["refresh_token"])).json
    own = (await shop.token("client_credentials")).json
    of_session = await world.sign_in(org_slug="acme", service_slug="shop")

    assert [algorithm_of(before[name]) for name in ("access_token", "id_token")] == ["RS256"] * 2
    for issued in (tokens, refreshed):
        assert [algorithm_of(issued[name]) for name in ("access_token", "id_token")] == ["ES256"] * 2
    assert [algorithm_of(one) for one in (own["access_token"], of_session.access_token)] == ["ES256"] * 2
    # Earlier tokens are good until they expire.
    for issued in (before, refreshed):
        assert (await world.client.get("/auth/userinfo", token=issued["access_token"])).status == 200
        assert (await shop.post("/auth/introspect", {"token": issued["access_token"]})).json["active"] is True


async def test_what_it_has_chosen_is_verified_by_the_published_keys_alone(shop: RelyingParty, world: World) -> None:
    shop.set(token_signing="ES256")
    tokens = await shop.tokens()
    published = jwt.PyJWKSet.from_dict((await world.client.get("/.well-known/jwks.json")).json)
    announced = (await world.client.get("/.well-known/openid-configuration")).json

    for name in ("access_token", "id_token"):
        key = published[jwt.get_unverified_header(tokens[name])["kid"]]
        claims = jwt.decode(
            tokens[name],
            key,
            algorithms=announced["id_token_signing_alg_values_supported"],
            audience=str(shop.client_id),
            options={"verify_exp": False},
        )
        assert (key.algorithm_name, claims["iss"]) == ("ES256", announced["issuer"])


async def test_the_notice_of_a_logout_is_signed_as_the_service_has_chosen(shop: RelyingParty, world: World) -> None:
    async with open_receiver() as receiver, dispatching(world) as dispatcher:
        for chosen in ("ES256", "RS256"):
            shop.set(backchannel_logout_uri=receiver.url, token_signing=chosen)
            tokens = await shop.tokens()
            await shop.post("/auth/revoke", {"token": tokens["refresh_token"]})

            await dispatch(dispatcher, world)

            assert algorithm_of(token_of(receiver)) == chosen


async def test_the_record_shows_and_changes_it(team: Team) -> None:
    body = {"slug": "till", "name": "Till", "service_type": "web"}
    by_default = await team.request("owner", "POST", "/services", body=body)
    chosen = await team.request("owner", "POST", "/services", body=body | {"slug": "pos", "token_signing": "ES256"})
    changed = await team.request("owner", "PATCH", "/services/till", body={"token_signing": "ES256"})

    assert [one.json["service"]["token_signing"] for one in (by_default, chosen)] == ["RS256", "ES256"]
    assert changed.json["token_signing"] == "ES256"
    assert (await team.request("owner", "GET", "/services/till")).json["token_signing"] == "ES256"
    [entry] = team.world.audit_entries("service.updated")
    assert entry[-1]["changes"] == {"token_signing": {"from": "RS256", "to": "ES256"}}
    for wrong in ("HS256", "none", "es256", "", None, 1):
        refused = await team.request("owner", "PATCH", "/services/till", body={"token_signing": wrong})
        assert_refused(refused, 400, "BAD_REQUEST")
        assert refused.invalid_fields == ["token_signing"]


class TestOwnTokens:
    """What this installation alone verifies: tokens for no service."""

    @pytest.fixture(params=[None, *SignatureAlgorithm])
    def settings(self, settings: Settings, request: pytest.FixtureRequest) -> Settings:
        """The settings with each algorithm, and with none that is set."""
        return settings if request.param is None else replace(settings, token_signing=request.param)

    async def test_sessions_without_service_and_half_finished_sign_ins_are_signed_as_it_is_set(
        self, world: World, settings: Settings, shop: RelyingParty
    ) -> None:
        person = insert_person(world, "grace@example.com")
        world.member(shop.organization_id, person.id)
        at_home = await world.sign_in(person.email)
        at_work = await world.sign_in(person.email, org_slug="acme")
        at_shop = await world.sign_in(person.email, org_slug="acme", service_slug="shop")
        await person.turn_mfa_on()
        half = await person.preauth_token()

        expected = settings.token_signing.value
        assert settings.token_signing is SignatureAlgorithm.ES256 or expected == "RS256"
        assert [algorithm_of(one) for one in (at_home.access_token, at_work.access_token, half)] == [expected] * 3
        assert algorithm_of(at_shop.access_token) == "RS256"
        assert (await world.client.get("/api/user", token=at_work.access_token)).status == 200
        assert (await person.verify(half, person.backup_codes[0])).status == 200

    async def test_tokens_of_before_and_after_a_change_are_taken(self, world: World, settings: Settings) -> None:
        world.user()
        tokens = await world.sign_in()
        installation = world.installation

        for algorithm in SignatureAlgorithm:
            claims = jwt.decode(tokens.access_token, options={"verify_signature": False})
            again = installation.tokens.sign(
                {name: value for name, value in claims.items() if name not in {"iss", "iat", "exp", "jti"}},
                kind=TokenKind.ACCESS,
                lifetime=settings.access_token_ttl,
                now=installation.clock(),
                algorithm=algorithm,
            )
            assert (await world.client.get("/api/user", token=again)).status == 200
