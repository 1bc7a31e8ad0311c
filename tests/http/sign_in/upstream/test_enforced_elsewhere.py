"""People whose organization enforces its connection sign in to other organizations by JSON."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import pytest

from tests.application import Answer
from tests.shown_text import shows
from tests.world.builder import PASSWORD
from tests.world.openid_connection import enforce
from tests.world.passkeys import Keyring
from tests.world.second_factors import Person
from tests.world.signing_in import claims_of
from tests.world.world import World, assert_refused

ADA = "ada@acme.example"
NONE: dict[str, Any] = {}
ACME: dict[str, Any] = {"org_slug": "acme"}
PORTAL: dict[str, Any] = {"org_slug": "acme", "service_slug": "portal"}
GLOBEX: dict[str, Any] = {"org_slug": "globex"}
SHOP: dict[str, Any] = {"org_slug": "globex", "service_slug": "shop"}
REQUIRED_AT, OPEN_AT = (NONE, ACME, PORTAL), (GLOBEX, SHOP)
SignIn = Callable[[dict[str, Any]], Awaitable[Answer]]


class Enforced:
    """Ada, a member of Acme and Globex, which have a service each; Acme enforces its sign-in after `enforce`."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.acme, self.globex = world.organization("acme"), world.organization("globex")
        world.service(self.acme, "portal")
        self.shop = world.service(self.globex, "shop").id
        self.ada = Person(world, world.user(ADA), ADA)
        for organization_id in (self.acme, self.globex):
            world.member(organization_id, self.ada.id)

    def confinement_of(self, answer: Answer) -> tuple[UUID | None, UUID | None, UUID | None]:
        """Return what the session of an answer is limited to."""
        assert answer.status == 200, answer.text
        session_id = claims_of(answer.json["access_token"])["sid"]
        [row] = self.world.rows(
            "SELECT confined_to, confined_to_service, connection_id FROM sessions WHERE id = %s", session_id
        )
        return row

    async def by_password(self, target: dict[str, Any]) -> Answer:
        """Sign in by password."""
        return await self.world.log_in(ADA, **target)

    async def by_link(self, target: dict[str, Any]) -> Answer:
        """Sign in by a mailed link, which is requested without a target."""
        await self.world.mails()
        await self.world.client.post("/api/auth/magic-link/request", body={"email": ADA})
        token = (await self.world.mail()).values["token"]
        self.world.connection.execute("DELETE FROM mails")
        return await self.world.client.post("/api/auth/magic-link/verify", body={"token": token, **target})

    async def by_code(self, target: dict[str, Any]) -> Answer:
        """Sign in by password and a code of the app."""
        answer = await self.ada.verify(await self.ada.preauth_token(**target), self.ada.code())
        self.ada.next_step()
        return answer


@pytest.fixture
def enforced(world: World) -> Enforced:
    """Ada, before the sign-in is enforced."""
    return Enforced(world)


async def assert_judged(enforced: Enforced, sign_in: SignIn) -> None:
    """Assert that a way is refused where the connection is required, and elsewhere opens its target alone."""
    for target in REQUIRED_AT:
        assert_refused(await sign_in(target), 403, "SSO_REQUIRED")
    assert enforced.confinement_of(await sign_in(GLOBEX)) == (enforced.globex, None, None)
    assert enforced.confinement_of(await sign_in(SHOP)) == (enforced.globex, enforced.shop, None)


async def test_a_password_and_a_mailed_link_open_other_organizations_alone(enforced: Enforced) -> None:
    await enforce(enforced.world)

    await assert_judged(enforced, enforced.by_password)
    await assert_judged(enforced, enforced.by_link)


async def test_a_passkey_opens_other_organizations_alone(enforced: Enforced) -> None:
    keyring = Keyring(enforced.world, (await enforced.world.sign_in(ADA)).access_token)
    authenticator = await keyring.registered()
    await enforce(enforced.world)

    await assert_judged(enforced, lambda target: keyring.sign_in(authenticator, ADA, **target))


async def test_a_second_factor_is_asked_for_and_opens_other_organizations_alone(enforced: Enforced) -> None:
    await enforced.ada.turn_mfa_on()
    enforced.ada.next_step()
    await enforce(enforced.world)

    for target in REQUIRED_AT:
        assert_refused(await enforced.by_password(target), 403, "SSO_REQUIRED")
    assert enforced.confinement_of(await enforced.by_code(GLOBEX)) == (enforced.globex, None, None)
    assert enforced.confinement_of(await enforced.by_code(SHOP)) == (enforced.globex, enforced.shop, None)


async def test_wrong_credentials_tell_nothing_about_the_requirement(enforced: Enforced) -> None:
    await enforce(enforced.world)

    for target in (*REQUIRED_AT, *OPEN_AT):
        answers = [
            await enforced.world.log_in(email, "wrong-password", **target) for email in (ADA, "nobody@acme.example")
        ]
        assert [answer.status for answer in answers] == [401, 401], target
        assert answers[0].json["error"] == answers[1].json["error"]


async def test_the_rules_of_the_other_organization_hold(enforced: Enforced) -> None:
    enforced.world.organization("initech")
    await enforce(enforced.world)

    assert_refused(await enforced.by_password({"org_slug": "initech"}), 403, "FORBIDDEN")
    assert_refused(await enforced.by_password({"org_slug": "nowhere"}), 404, "NOT_FOUND")
    assert_refused(await enforced.by_password({**GLOBEX, "service_slug": "nothing"}), 404, "NOT_FOUND")


@pytest.mark.parametrize("target", OPEN_AT)
async def test_what_begins_there_opens_that_organization_and_nothing_of_the_account(
    enforced: Enforced, target: dict[str, Any]
) -> None:
    await enforce(enforced.world)
    signed_in = (await enforced.by_password(target)).json
    refreshed = (await enforced.world.refresh(signed_in["refresh_token"])).json

    async def send(method: str, path: str, body: Any = None) -> int:
        return (await enforced.world.client.request(method, path, body=body, token=refreshed["access_token"])).status

    assert await send("GET", "/api/user") == 200
    is_of_service = "service_slug" in target
    assert await send("GET", "/api/organizations/globex") == (403 if is_of_service else 200)
    for method, path, body in (
        ("PATCH", "/api/user", {"email": "ada@elsewhere.example"}),
        ("POST", "/api/user/mfa/setup", {}),
        ("POST", "/api/auth/passkeys/register/start", {}),
        ("POST", "/api/user/set-password", {"new_password": "another-long-password"}),
        ("POST", "/api/organizations/acme/select", {}),
        ("GET", "/api/organizations/acme", None),
        ("GET", "/api/organizations/acme/members", None),
        ("DELETE", "/api/user", None),
    ):
        assert await send(method, path, body) == 403, (method, path)
    listed = await enforced.world.client.get("/api/organizations", token=refreshed["access_token"])
    assert not shows(listed.text, "acme")


async def test_the_owner_and_platform_owners_sign_in_everywhere_without_limits(enforced: Enforced) -> None:
    owner = await enforce(enforced.world)
    root = await enforced.world.signed_in_platform_owner("root@acme.example")

    for email in (owner.email, root.email):
        for target in (NONE, SHOP):
            answer = await enforced.world.log_in(email, **target)
            assert enforced.confinement_of(answer) == (None, None, None), (email, target)


async def test_an_address_under_an_enforced_route_belongs_elsewhere_without_membership(enforced: Enforced) -> None:
    world = enforced.world
    world.user("erin@acme.example")
    erin = await world.log_in("erin@acme.example", **SHOP)
    token = erin.json["access_token"]

    async def may_change() -> bool:
        answer = await world.client.post("/api/user/mfa/setup", token=token, body={})
        assert answer.status in {200, 403}, answer.text
        return answer.status == 200

    assert await may_change()
    owner = await enforce(world)
    assert not await may_change()

    [(connection_id,)] = world.rows("SELECT id FROM upstream_connections")
    path = f"/api/organizations/acme/upstream-providers/{connection_id}"
    for changed, expected in (({"enabled": False}, True), ({"enabled": True}, False)):
        assert (await owner.patch(path, changed)).status == 200
        assert await may_change() is expected
    world.connection.execute("UPDATE users SET disowned_at = now() WHERE email = 'erin@acme.example'")
    assert await may_change()


async def test_the_token_of_a_service_of_the_enforcing_organization_does_not_belong_elsewhere(
    enforced: Enforced,
) -> None:
    world = enforced.world
    world.user("erin@acme.example")
    erin = await world.log_in("erin@acme.example", **PORTAL)
    await enforce(world)
    world.connection.execute("UPDATE sessions SET revoked_at = NULL")

    answer = await world.client.post("/api/user/mfa/setup", token=erin.json["access_token"], body={})

    assert answer.status == 200, answer.text


async def test_enforcing_anew_ends_no_session_that_opens_another_organization_alone(enforced: Enforced) -> None:
    owner = await enforce(enforced.world)
    kept = [(await enforced.by_password(target)).json["access_token"] for target in OPEN_AT]
    [(connection_id,)] = enforced.world.rows("SELECT id FROM upstream_connections")
    path = f"/api/organizations/acme/upstream-providers/{connection_id}"
    assert (await owner.patch(path, {"enabled": False})).status == 200
    ended = await enforced.world.log_in(ADA)

    assert (await owner.patch(path, {"enabled": True})).status == 200

    for token, status in ((ended.json["access_token"], 401), *((token, 200) for token in kept)):
        assert (await enforced.world.client.get("/api/user", token=token)).status == status


async def test_a_reset_is_refused_unless_it_leads_to_another_organization(enforced: Enforced) -> None:
    await enforce(enforced.world)
    for target, status in ((NONE, 403), (ACME, 403), (PORTAL, 403), (GLOBEX, 200), (SHOP, 200)):
        await enforced.world.mails()
        await enforced.world.client.post("/api/auth/forgot-password", body={"email": ADA, **target})
        token = (await enforced.world.mail()).values["token"]
        enforced.world.connection.execute("DELETE FROM mails")

        answer = await enforced.world.client.post(
            "/api/auth/reset-password", body={"token": token, "new_password": PASSWORD}
        )

        assert answer.status == status, (target, answer.text)


async def test_the_lookup_names_the_connection_only_where_its_session_goes_on(enforced: Enforced) -> None:
    await enforce(enforced.world)

    async def look_up(email: str, target: dict[str, Any]) -> Answer:
        return await enforced.world.client.post("/api/auth/lookup-email", body={"email": email, **target})

    for target in REQUIRED_AT:
        found = (await look_up(ADA, target)).json
        assert (found["auth_method"], found["sso_required"], found["organization"]) == ("upstream", True, "acme")
    for target in OPEN_AT:
        answers = [await look_up(email, target) for email in (ADA, "nobody@acme.example")]
        assert answers[0].content == answers[1].content
        found = answers[0].json
        assert (found["auth_method"], found["connection_id"], found["login_url"]) == ("password", None, None)
        assert (found["sso_required"], found["organization"]) == (False, None)
    assert_refused(await look_up(ADA, {"org_slug": "nowhere"}), 404, "NOT_FOUND")
    assert_refused(await look_up(ADA, {"service_slug": "shop"}), 400, "BAD_REQUEST")
