"""Tokens of a service open nothing of an account that is used elsewhere too."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from entrypoints import capabilities
from tests.application import Answer
from tests.shown_text import shows
from tests.world.acme_shop import AcmeShop
from tests.world.builder import PASSWORD
from tests.world.signing_in import Tokens
from tests.world.world import World, assert_refused

ID = "0191d3c1-0000-7000-8000-00000000000f"
CREDENTIAL = {
    "id": "AA",
    "rawId": "AA",
    "type": "public-key",
    "response": {"clientDataJSON": "AA", "attestationObject": "AA"},
}
# Every route that concerns the whole account, with a valid body.
ACCOUNT_WIDE: dict[str, Any] = {
    "PATCH /api/user": {"email": "mine@example.com"},
    "POST /api/user/set-password": {"new_password": "another horse battery"},
    "POST /api/user/mfa/setup": None,
    "POST /api/user/mfa/verify": {"code": "123456"},
    "DELETE /api/user/mfa": None,
    "POST /api/user/mfa/backup-codes/regenerate": None,
    "POST /api/auth/passkeys/register/start": None,
    "POST /api/auth/passkeys/register/finish": {"challenge_id": ID, "credential": CREDENTIAL},
    "PATCH /api/auth/passkeys/:id": {"name": "mine"},
    "DELETE /api/auth/passkeys/:id": None,
    "DELETE /api/user/sessions": None,
    "DELETE /api/user/devices/:id": None,
    # The invitations are shown with their tokens.
    "GET /api/invitations": None,
    "DELETE /api/user": None,
    "POST /api/user/lock": None,
}
each_route = pytest.mark.parametrize("name", sorted(ACCOUNT_WIDE))
# What makes an account one that the service shares, and what does not.
SHARED = {
    "it is a member of another organization": """
        INSERT INTO memberships SELECT gen_random_uuid(), id, %(user_id)s, 'member', now(), now()
        FROM organizations WHERE slug = 'globex'
    """,
    "it is a member of the organization of the service": """
        INSERT INTO memberships SELECT gen_random_uuid(), id, %(user_id)s, 'member', now(), now()
        FROM organizations WHERE slug = 'acme'
    """,
    "it uses a service of another organization": """
        INSERT INTO service_users (service_id, organization_id, user_id, first_login_at, last_login_at)
        SELECT id, organization_id, %(user_id)s, now(), now() FROM services WHERE slug = 'till'
    """,
    "it is a platform owner": "UPDATE users SET is_platform_owner = true WHERE id = %(user_id)s",
    "it is of the platform's support": """
        UPDATE users SET is_platform_support = true, mfa_enabled_at = now() WHERE id = %(user_id)s
    """,
}
ALONE = {
    "it belongs to the service alone": "SELECT %(user_id)s::uuid",
    "another organization linked it, which its user never confirmed": """
        INSERT INTO service_users (service_id, organization_id, user_id, first_login_at)
        SELECT id, organization_id, %(user_id)s, now() FROM services WHERE slug = 'till'
    """,
}


@pytest.fixture
def user_id(world: World, acme_shop: AcmeShop) -> UUID:
    """A user of the shop, beside another organization with a service."""
    world.service(world.organization("globex"), "till")
    return world.user(is_verified=True)


async def shopping(world: World, statement: str, user_id: UUID) -> Tokens:
    """Sign the user in to the shop, and change what the statement says."""
    tokens = await world.sign_in(org_slug="acme", service_slug="shop")
    world.connection.execute(statement.encode(), {"user_id": user_id})
    return tokens


async def request(world: World, tokens: Tokens, name: str, body: Any) -> Answer:
    method, path = name.split()
    return await world.client.request(method, path.replace(":id", ID), token=tokens.access_token, body=body)


def test_every_account_wide_route_is_in_the_table() -> None:
    declared = {route.name for route in capabilities.routes(is_development=True) if route.who.is_account_wide}

    assert declared == set(ACCOUNT_WIDE)


@pytest.mark.parametrize("statement", SHARED.values(), ids=SHARED)
async def test_an_account_that_the_service_shares_is_refused_with_the_page_where_its_user_continues(
    world: World, user_id: UUID, statement: str, subtests: pytest.Subtests
) -> None:
    tokens = await shopping(world, statement, user_id)
    before = world.rows("SELECT t::text FROM users AS t ORDER BY 1")

    for name in sorted(ACCOUNT_WIDE):
        with subtests.test(name=name):
            for body in (ACCOUNT_WIDE[name], ["no object"]):
                answer = await request(world, tokens, name, body)

                assert_refused(answer, 403, "FORBIDDEN")
                assert answer.json["details"] == [
                    {"field": "continue_at", "message": "http://localhost:8000/app/account"}
                ]
            assert world.rows("SELECT t::text FROM users AS t ORDER BY 1") == before


@each_route
@pytest.mark.parametrize("statement", ALONE.values(), ids=ALONE)
async def test_an_account_of_the_service_alone_is_not_refused(
    world: World, user_id: UUID, statement: str, name: str
) -> None:
    tokens = await shopping(world, statement, user_id)

    assert (await request(world, tokens, name, ACCOUNT_WIDE[name])).status != 403


@each_route
async def test_the_platform_s_own_token_is_not_refused(world: World, user_id: UUID, name: str) -> None:
    world.member(world.organization("initech"), user_id)
    tokens = await world.sign_in()

    # Members cannot close their account, whatever token they have.
    assert not shows((await request(world, tokens, name, ACCOUNT_WIDE[name])).text, "continue_at")


@pytest.mark.parametrize(
    ("statement", "status"), [*((one, 403) for one in SHARED.values()), *((one, 200) for one in ALONE.values())]
)
async def test_a_service_exports_only_an_account_that_it_does_not_share(
    world: World, user_id: UUID, statement: str, status: int
) -> None:
    tokens = await shopping(world, statement, user_id)

    answer = await world.client.get(f"/api/privacy/export/{user_id}", token=tokens.access_token)

    assert answer.status == status


async def test_the_password_may_be_changed_by_who_knows_it(world: World, user_id: UUID) -> None:
    tokens = await shopping(world, SHARED["it uses a service of another organization"], user_id)

    answer = await world.client.post(
        "/api/user/change-password",
        token=tokens.access_token,
        body={"current_password": PASSWORD, "new_password": "another horse battery"},
    )

    assert answer.status == 200


class TestSessions:
    """Ending single sessions of an account that the service shares."""

    async def end(self, world: World, tokens: Tokens, ended: Tokens) -> Answer:
        return await world.client.delete(f"/api/user/sessions/{ended.session_id}", token=tokens.access_token)

    async def test_sessions_of_the_service_end(self, world: World, user_id: UUID) -> None:
        tokens = await shopping(world, SHARED["it uses a service of another organization"], user_id)
        other = await world.sign_in(org_slug="acme", service_slug="shop")

        assert (await self.end(world, tokens, other)).status == 204
        assert (await world.list_sessions(other)).status == 401

    @pytest.mark.parametrize("context", [{}, {"org_slug": "globex", "service_slug": "till"}])
    async def test_sessions_of_other_contexts_do_not(
        self, world: World, user_id: UUID, context: dict[str, Any]
    ) -> None:
        tokens = await shopping(world, SHARED["it uses a service of another organization"], user_id)
        other = await world.sign_in(**context)

        assert_refused(await self.end(world, tokens, other), 403, "FORBIDDEN")
        assert (await world.list_sessions(other)).status == 200

    async def test_those_of_an_account_of_the_service_alone_do(self, world: World, user_id: UUID) -> None:
        tokens = await world.sign_in(org_slug="acme", service_slug="shop")
        other = await world.sign_in()

        assert (await self.end(world, tokens, other)).status == 204

    async def test_a_session_of_another_user_is_404(self, world: World, user_id: UUID) -> None:
        tokens = await shopping(world, SHARED["it uses a service of another organization"], user_id)
        world.user("bob@example.com")
        foreign = await world.sign_in("bob@example.com")

        assert_refused(await self.end(world, tokens, foreign), 404, "NOT_FOUND")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/user/change-password"),
        ("DELETE", f"/api/user/sessions/{ID}"),
        ("DELETE", "/api/user/identities/codehost"),
        ("POST", "/api/user/identities/codehost/link"),
    ],
)
async def test_the_service_of_a_platform_owner_is_told_where_the_owner_continues(
    world: World, user_id: UUID, method: str, path: str
) -> None:
    tokens = await shopping(world, "UPDATE users SET is_platform_owner = true WHERE id = %(user_id)s", user_id)
    body = {"current_password": PASSWORD, "new_password": "another horse battery"} if method == "POST" else None

    answer = await world.client.request(method, path, token=tokens.access_token, body=body)

    assert_refused(answer, 403, "FORBIDDEN")
    assert answer.json["details"] == [{"field": "continue_at", "message": "http://localhost:8000/app/account"}]


async def test_a_service_does_not_learn_to_which_organizations_its_user_belongs(world: World, user_id: UUID) -> None:
    tokens = await shopping(world, SHARED["it is a member of another organization"], user_id)
    world.organization("initech")

    refused = [
        await world.client.get(f"/api/organizations/{slug}", token=tokens.access_token)
        for slug in ("globex", "initech", "acme")
    ]

    assert [answer.status for answer in refused] == [403] * 3
    assert len({answer.json["error"] for answer in refused}) == 1
