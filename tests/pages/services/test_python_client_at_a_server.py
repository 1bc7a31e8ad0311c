"""The Python package at a real server: tokens, introspection, the interface by three credentials, and the feed."""

from __future__ import annotations

from collections.abc import Callable, Generator
from datetime import UTC, datetime
from functools import partial
from typing import Any

import httpx
import pytest
from anyio.from_thread import start_blocking_portal

from adapters.postgres.driver.connection import Connection
from core.webhooks import sequencing
from gatehouse_client import (
    AsyncGatehouse,
    AsyncTokenVerifier,
    Feed,
    FeedReader,
    Gatehouse,
    Refused,
    TokenRefused,
    TokenVerifier,
    management,
    service,
)
from tests.browser import Site
from tests.pages.services.programs import SECRET, insert_shop
from tests.world.builder import EMAIL, PASSWORD, Builder

pytestmark = pytest.mark.long

EVENTS_MAX = 100


@pytest.fixture
def client_id(world_of_now: Builder, connection: Connection) -> str:
    """The client id of a confidential service of the organization."""
    return insert_shop(world_of_now, connection, "https://shop.example")


def signed_in(site: Site, **context: str) -> str:
    """Sign the owner in, in a context, and return the access token."""
    body = {"email": EMAIL, "password": PASSWORD, **context}
    answer = httpx.post(f"{site.url}/api/auth/login", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()["access_token"]


@pytest.fixture
def manager(site: Site) -> Generator[Gatehouse]:
    """A client with the token of the owner."""
    client = Gatehouse(site.url, token=partial(signed_in, site, org_slug="acme"))
    yield client
    client.close()


def test_tokens_of_the_service_are_verified_and_those_of_another_are_not(site: Site, client_id: str) -> None:
    # A token has whole seconds.
    before = datetime.now(UTC).replace(microsecond=0)
    token, platform_token = signed_in(site, org_slug="acme", service_slug="shop"), signed_in(site)
    verifier = TokenVerifier(site.url, audience=client_id, client_secret=SECRET)

    caller = verifier.verify(token)
    assert verifier.introspect(token).subject == caller.subject
    assert caller.email == EMAIL
    assert caller.organization is not None
    assert (caller.organization.slug, caller.service, caller.plan) == ("acme", "shop", "Free")
    assert caller.auth_time is not None
    assert before <= caller.auth_time <= datetime.now(UTC)
    with pytest.raises(TokenRefused, match="another audience"):
        verifier.verify(platform_token)

    httpx.post(f"{site.url}/api/auth/logout", headers={"Authorization": f"Bearer {token}"}).raise_for_status()
    assert verifier.verify(token).subject == caller.subject
    verifier.close()
    asking = TokenVerifier(site.url, audience=client_id, client_secret=SECRET)
    with pytest.raises(TokenRefused, match="no longer"):
        asking.introspect(token)
    asking.close()
    wrong = TokenVerifier(site.url, audience=client_id, client_secret="another secret")
    with pytest.raises(Refused, match="OAUTH_ERROR"):
        wrong.introspect(token)
    wrong.close()


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_program_with_async_does_the_same(site: Site, client_id: str, backend: str) -> None:
    token = signed_in(site, org_slug="acme", service_slug="shop")

    async def work() -> tuple[str | None, list[str]]:
        verifier, client = AsyncTokenVerifier(site.url, audience=client_id), AsyncGatehouse(site.url, token=token)
        caller = await verifier.verify(token)
        profile = await client.send(management.read_profile())
        await verifier.aclose()
        await client.aclose()
        return caller.email, [profile["email"]]

    # In a thread of its own: the driver of the browser, which other tests have started, has an event loop in this one.
    with start_blocking_portal(backend) as portal:
        assert portal.call(work) == (EMAIL, [EMAIL])


def test_the_interface_is_called_by_each_credential(
    site: Site, client_id: str, manager: Gatehouse, transact: Callable[..., Any]
) -> None:
    signed_in(site, org_slug="acme", service_slug="shop")
    key = manager.send(management.create_api_key("acme", "shop", name="shop", permissions=["read:users"]))["key"]
    made = manager.send(
        management.create_organization_key("acme", name="program", permissions=["webhooks.manage", "org.members.view"])
    )

    backend = Gatehouse(site.url, api_key=key)
    assert [user["email"] for user in backend.pages(service.list_users(limit=1))] == [EMAIL]
    with pytest.raises(Refused) as caught:
        backend.send(service.show_user("01890a5d-ac96-7000-997e-7cbf97c273e4"))
    assert (caught.value.status, caught.value.error_code) == (404, "NOT_FOUND")
    assert caught.value.request_id
    with pytest.raises(Refused) as caught:
        manager.send(management.create_webhook("acme", name="", url="no address", events=[]))
    assert "url" in {detail.field for detail in caught.value.details}

    program = Gatehouse(site.url, key=made.get("secret"))
    assert [member["user"]["email"] for member in program.pages(management.list_members("acme", limit=1))] == [EMAIL]
    cursors: list[str] = []
    transact(sequencing.assign_positions, EVENTS_MAX)
    feed = Feed(organization="acme", load=lambda: cursors[-1] if cursors else None, save=cursors.append)
    seen = [event.type for event in FeedReader(program, feed).events(is_endless=False)]
    assert "api_key.created" in seen
    manager.send(management.create_plan("acme", "shop", name="Team", price_cents=900))
    transact(sequencing.assign_positions, EVENTS_MAX)
    later = [event.type for event in FeedReader(program, feed).events(is_endless=False)]
    assert "plan.created" in later
    assert "api_key.created" not in later
    for client in (backend, program):
        client.close()
