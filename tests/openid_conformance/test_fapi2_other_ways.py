"""A service with the profile `fapi2` is signed in to by pushed requests alone, and what was before does not go on."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import urlencode
from uuid import UUID

import jwt
import pytest
from psycopg.types.json import Jsonb

from actors.dispatching import Capacity
from actors.logout_dispatcher import LogoutDispatcher
from core.attempts import Attempt
from core.openid import device
from core.sessions.security_profiles import OtherWayRefused
from core.sign_in import child_sessions
from core.sign_in.proofs import Destination
from tests.application import Answer
from tests.mailboxes import RecordedMailboxes
from tests.world.authorization import address_of, led_back
from tests.world.builder import EMAIL, PASSWORD
from tests.world.passkeys import Keyring
from tests.world.platform import Platform
from tests.world.relying_party import REDIRECT_URI, insert_relying_party
from tests.world.saml import SamlWorld
from tests.world.second_factors import insert_person
from tests.world.signing_in import claims_of
from tests.world.strict_party import TOKEN, StrictKey, StrictParty, insert_strict_party
from tests.world.visitor import Visitor
from tests.world.world import World, assert_refused

AT_BANK = {"org_slug": "bank", "service_slug": "bank"}


@pytest.fixture
async def bank(world: World) -> StrictParty:
    """A service with the profile, which knows a nonce, and a user."""
    world.user(EMAIL)
    bank = insert_strict_party(world)
    await bank.learn_nonce()
    return bank


def assert_other_way(answer: Answer) -> None:
    """Assert that a way of signing in is refused by the JSON interface, and says why."""
    assert_refused(answer, 403, "FORBIDDEN")
    assert "unauthorized_client" in answer.json["error"]


def assert_unauthorized_client(answer: Answer) -> None:
    """Assert that an endpoint of OAuth refuses a grant."""
    assert (answer.status, answer.json["error"]) == (403, "unauthorized_client"), answer.text
    assert "WWW-Authenticate" not in answer.headers


async def test_a_password_signs_in_to_the_platform_and_not_to_the_service(bank: StrictParty, world: World) -> None:
    body = {"email": EMAIL, "password": PASSWORD}

    assert_other_way(await world.client.post("/api/auth/login", body={**body, **AT_BANK}))

    assert (await world.client.post("/api/auth/login", body=body)).status == 200
    assert world.value("SELECT count(*) FROM sessions WHERE service_id IS NOT NULL") == 0
    [reason] = world.rows("SELECT reason FROM login_events WHERE NOT success")[0]
    assert reason == "other_way"


async def test_a_mailed_link_and_a_passkey_do_not_sign_in_to_it(
    bank: StrictParty, world: World, keyring: Keyring
) -> None:
    await world.client.post("/api/auth/magic-link/request", body={"email": EMAIL, **AT_BANK})
    token = (await world.mail()).values["token"]

    assert_other_way(await world.client.post("/api/auth/magic-link/verify", body={"token": token}))

    await keyring.sign_up("eve@example.com")
    authenticator = await keyring.registered()
    assert_other_way(await keyring.sign_in(authenticator, "eve@example.com", **AT_BANK))


async def test_a_sign_in_that_waits_for_its_second_factor_does_not_begin_its_session(
    world: World, subtests: pytest.Subtests
) -> None:
    ada = insert_person(world)
    party = insert_relying_party(world, slug="bank", service_slug="bank")
    await ada.turn_mfa_on()
    begun = await world.client.post("/api/auth/login", body={"email": EMAIL, "password": PASSWORD, **AT_BANK})
    StrictParty(party).register()

    answer = await ada.verify(begun.json["preauth_token"], ada.backup_codes[0])

    assert_other_way(answer)


async def test_no_provider_is_asked_on_its_behalf(bank: StrictParty, world: World, visitor: Visitor) -> None:
    query = {"org": "bank", "service": "bank", "redirect_uri": REDIRECT_URI, "state": "s"}

    for path in ("/auth/codehost", "/auth/websuite"):
        for given in (query, {"org": "bank", "service": "bank"}):
            answer = await visitor.send("GET", f"{path}?{urlencode(given)}")
            assert answer.status == 403, answer.text
            assert "unauthorized_client" in answer.text


async def test_no_device_and_no_client_credentials_get_tokens(bank: StrictParty, world: World) -> None:
    proof = bank.proof("POST", TOKEN)

    assert_unauthorized_client(await bank.post("/auth/device/code", {"scope": "openid"}))
    assert_unauthorized_client(await bank.token("client_credentials", proof=proof))
    assert_unauthorized_client(await bank.token(device.GRANT_TYPE, device_code="x", proof=bank.proof("POST", TOKEN)))


async def test_a_device_that_began_before_the_profile_is_not_approved(
    world: World, visitor: Visitor, subtests: pytest.Subtests
) -> None:
    world.user(EMAIL)
    party = insert_relying_party(world, slug="bank", service_slug="bank")
    codes = (await party.post("/auth/device/code", {"scope": "openid"})).json
    StrictParty(party).register()
    await visitor.sign_in()

    page = await visitor.open(f"/auth/device?user_code={codes['user_code']}")
    answer = await visitor.submit(page, "/auth/device/approve")

    assert answer.status == 403
    assert "unauthorized_client" in answer.text


async def test_a_saml_sign_in_does_not_begin_its_session(world: World, saml: SamlWorld, visitor: Visitor) -> None:
    user_id = world.user(EMAIL)
    organization_id = world.organization("bank")
    world.member(organization_id, user_id)
    service = await saml.service(organization_id, "bank", "bank")
    key = StrictKey()
    world.connection.execute(
        "UPDATE services SET security_profile = 'fapi2', jwks = %s WHERE id = %s",
        (Jsonb({"keys": [key.public]}), service.service_id),
    )
    await visitor.sign_in()

    answer = await visitor.open(service.sso())

    assert answer.status == 403
    assert "unauthorized_client" in answer.text


async def test_a_platform_owner_does_not_impersonate_at_it(
    bank: StrictParty, world: World, platform: Platform, visitor: Visitor
) -> None:
    await bank.tokens(visitor)
    user_id = world.user_id(EMAIL)

    answer = await platform.request("POST", f"/api/platform/impersonate/{user_id}", {"reason": "a question", **AT_BANK})

    assert_other_way(answer)


async def test_no_child_session_begins_without_a_pushed_request(
    bank: StrictParty, world: World, visitor: Visitor
) -> None:
    await visitor.sign_in()
    [(session_id, user_id)] = world.rows(
        "SELECT s.id, s.user_id FROM sessions s JOIN browser_sessions b ON b.session_id = s.id"
    )
    wanted = Destination(organization_slug="bank", service_slug="bank")

    with pytest.raises(OtherWayRefused):
        await world.installation.database.transact(child_sessions.begin, session_id, user_id, wanted)


class TestTurningTheProfileOn:
    """What a service had before: bound tokens go on, everything else is refused."""

    @pytest.fixture
    async def shop(self, world: World) -> StrictParty:
        """A service without the profile, whose requests are pushed and whose tokens may be bound."""
        world.user(EMAIL)
        return StrictParty(insert_relying_party(world))

    async def test_unbound_tokens_are_refused_from_then_on(
        self, shop: StrictParty, world: World, visitor: Visitor
    ) -> None:
        back = led_back(await visitor.sign_in(EMAIL, path=address_of(shop.party)))
        tokens = (await shop.party.redeem(back["code"])).json
        shop.register()
        await shop.learn_nonce()

        at_userinfo = await world.client.get("/auth/userinfo", token=tokens["access_token"])
        introspected = [
            await shop.post("/auth/introspect", {"token": tokens[name]}) for name in ("access_token", "refresh_token")
        ]
        refreshed = await shop.refresh(tokens["refresh_token"])
        at_the_other_endpoint = await world.refresh(tokens["refresh_token"])

        assert at_userinfo.status == 401
        assert [answer.json for answer in introspected] == [{"active": False}] * 2
        assert (refreshed.status, refreshed.json["error"]) == (400, "invalid_grant")
        assert "Sign in again" in refreshed.json["error_description"]
        assert at_the_other_endpoint.status == 401
        assert shop.party.is_live(tokens)

    async def test_tokens_of_the_json_interface_are_refused_from_then_on(self, shop: StrictParty, world: World) -> None:
        tokens = await world.sign_in(EMAIL, org_slug="acme", service_slug="shop")
        shop.register()

        assert (await world.client.get("/api/user", token=tokens.access_token)).status == 401
        assert (await world.refresh(tokens.refresh_token)).status == 401

    async def test_bound_tokens_go_on_and_their_refresh_tokens_stay(
        self, shop: StrictParty, world: World, visitor: Visitor
    ) -> None:
        await shop.party.token("refresh_token", refresh_token="x")
        nonce = await shop.party.token(
            "refresh_token", {**shop.party.basic, "DPoP": shop.proof("POST", TOKEN)}, refresh_token="x"
        )
        shop.nonce = nonce.headers["DPoP-Nonce"]
        back = led_back(await visitor.sign_in(EMAIL, path=address_of(shop.party)))
        headers = {**shop.party.basic, "DPoP": shop.proof("POST", TOKEN)}
        first = (await shop.party.redeem(back["code"], headers)).json
        headers = {**shop.party.basic, "DPoP": shop.proof("POST", TOKEN)}
        second = (await shop.party.token("refresh_token", headers, refresh_token=first["refresh_token"])).json
        shop.register()

        still = await shop.userinfo(second["access_token"])
        old = await shop.refresh(first["refresh_token"])
        refreshed = await shop.refresh(second["refresh_token"])

        assert still.status == 200
        assert (old.status, old.json["error"]) == (400, "invalid_grant")
        assert first["refresh_token"] != second["refresh_token"] == refreshed.json["refresh_token"]
        assert jwt.get_unverified_header(second["access_token"])["alg"] == "RS256"
        assert jwt.get_unverified_header(refreshed.json["access_token"])["alg"] == "ES256"
        assert (await shop.post("/auth/introspect", {"token": second["access_token"]})).json["active"] is True
        assert shop.party.is_live(second)

    async def test_a_code_without_pkce_and_a_request_that_waits_are_refused(
        self, shop: StrictParty, visitor: Visitor, world: World
    ) -> None:
        without = {"code_challenge": "", "code_challenge_method": ""}
        back = led_back(await visitor.sign_in(EMAIL, path=address_of(shop.party, **without)))
        waiting = await visitor.open(address_of(shop.party, prompt="consent"))
        shop.register()
        await shop.learn_nonce()

        redeemed = await shop.redeem(back["code"], code_verifier=None)
        allowed = await visitor.submit(waiting, "/auth/authorize/allow")
        declined = await visitor.submit(waiting, "/auth/authorize/deny")

        assert (redeemed.status, redeemed.json["error"]) == (400, "invalid_grant")
        assert (allowed.status, declined.status) == (403, 403)

    async def test_the_secret_is_refused_from_then_on(self, shop: StrictParty) -> None:
        secret = shop.party.basic
        shop.register()

        answer = await shop.party.send("/auth/introspect", {"token": "x"}, secret)

        assert (answer.status, answer.json["error"]) == (401, "invalid_client")
        assert "private_key_jwt" in answer.json["error_description"]

    async def test_without_the_profile_refresh_tokens_are_exchanged_again(
        self, bank: StrictParty, visitor: Visitor
    ) -> None:
        tokens = await bank.tokens(visitor)
        same = (await bank.refresh(tokens["refresh_token"])).json
        bank.party.set(security_profile=None)

        exchanged = (await bank.refresh(same["refresh_token"])).json

        assert same["refresh_token"] == tokens["refresh_token"] != exchanged["refresh_token"]
        assert jwt.get_unverified_header(exchanged["access_token"])["alg"] == "RS256"


async def test_a_refresh_token_of_an_ended_session_is_refused(bank: StrictParty, visitor: Visitor) -> None:
    tokens = await bank.tokens(visitor)
    await bank.post("/auth/revoke", {"token": tokens["refresh_token"]})

    answer = await bank.refresh(tokens["refresh_token"])

    assert (answer.status, answer.json["error"]) == (400, "invalid_grant")


async def test_a_refresh_that_finds_the_token_replaced_meanwhile_is_refused(
    bank: StrictParty, visitor: Visitor, world: World
) -> None:
    tokens = await bank.tokens(visitor)
    world.connection.execute("UPDATE sessions SET refresh_hash = 'another' WHERE service_id IS NOT NULL")

    answer = await bank.refresh(tokens["refresh_token"])

    assert (answer.status, answer.json["error"]) == (400, "invalid_grant")
    assert bank.party.is_live(tokens)


async def test_the_session_of_a_refresh_token_that_stays_lives_on_with_each_use(
    bank: StrictParty, visitor: Visitor, world: World
) -> None:
    tokens = await bank.tokens(visitor)

    for _ in range(4):
        world.clock.advance(timedelta(days=20))
        await bank.learn_nonce()
        answer = await bank.refresh(tokens["refresh_token"])
        assert answer.status == 200, answer.text
    world.clock.advance(timedelta(days=11))
    await bank.learn_nonce()

    assert (await bank.refresh(tokens["refresh_token"])).status == 400


async def test_a_logout_token_is_signed_by_the_elliptic_key(bank: StrictParty, visitor: Visitor, world: World) -> None:
    bank.party.set(backchannel_logout_uri="https://shop.example/back")
    tokens = await bank.tokens(visitor)
    sent = Sent()
    installation = world.installation
    dispatcher = LogoutDispatcher(
        sender=sent,
        tokens=installation.tokens,
        database=installation.database,
        mailboxes=RecordedMailboxes(),
        metrics=installation.metrics,
        clock=installation.clock,
    )
    await bank.post("/auth/revoke", {"token": tokens["refresh_token"]})

    for service in await installation.database.transact(dispatcher.lease, Capacity(targets_max=1, items_max=1)):
        await dispatcher.serve(service)

    [token] = sent.tokens
    assert jwt.get_unverified_header(token)["alg"] == "ES256"
    assert claims_of(token)["sid"] == claims_of(tokens["access_token"])["sid"]


class Sent:
    """A sender of logout tokens that keeps them."""

    def __init__(self) -> None:
        self.tokens: list[str] = []

    async def send(self, organization_id: UUID, uri: str, logout_token: str) -> Attempt:
        """Keep a token, as if it had arrived."""
        self.tokens.append(logout_token)
        return Attempt(status_code=204, body=None, error=None)
