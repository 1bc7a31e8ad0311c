"""Reading from a real replica: what is read there, and that people, keys and checks do not notice its lag."""

from __future__ import annotations

from typing import Final

import pytest

from adapters.postgres.driver import replica
from adapters.postgres.driver.positions import COLUMN
from adapters.postgres.replicas import PRIMARY
from tests.application import Client
from tests.replicas import (
    PlacesRead,
    database,
    databases,
    nodes,
    places,
    read_url,
    replay_paused,
    replicas,
    statements_by_place,
)
from tests.shown_text import shows
from tests.standby import Node
from tests.waiting import eventually
from tests.world.backend import KEY, insert_key
from tests.world.team import Team
from tests.world.world import World

# Each starts processes, which takes seconds; CI runs them.
pytestmark = pytest.mark.long
__all__ = ["database", "databases", "nodes", "places", "read_url", "replicas"]

OF_ORGANIZATION: Final = (
    "/analytics/login-trends",
    "/analytics/logins-by-provider",
    "/analytics/logins-by-service",
    "/analytics/recent-logins",
    "/audit-log",
    "/audit-log?actor=owner@example.com",
    "/audit-log/export",
    "/audit-log/proof",
    "/events",
    "/groups",
    "/invitations",
    "/members",
    "/products",
    "/scim-log",
    "/services",
    "/services/shop/customers",
    "/services/shop/grants",
    "/users",
)
OF_PLATFORM: Final = (
    "/api/platform/audit-log",
    "/api/platform/mails",
    "/api/platform/mfa/metrics",
    "/api/platform/mfa/suspicious",
    "/api/platform/organizations",
)
# What tells who calls and what they may do, whose sessions continue, what was used, and how often.
CHECKED: Final = ("sessions", "client_grants", "single_uses", "mail_counts", "sign_in_failures", COLUMN)


async def test_lists_logs_figures_feeds_and_exports_are_read_from_the_replica_and_checks_are_not(
    team: Team, world: World, places: PlacesRead, client: Client
) -> None:
    service = world.service(team.organization_id)
    insert_key(world, team.organization_id, service.id, KEY)
    owner, root = await team.token("owner"), await world.signed_in_platform_owner()
    read = [(f"{team.path}{path}", owner) for path in OF_ORGANIZATION]
    read += [(path, root.tokens.access_token) for path in OF_PLATFORM]
    read.append((f"/api/privacy/export/{team.ids['owner']}", owner))

    with statements_by_place() as (primary, elsewhere):
        for path, token in read:
            places.places.clear()
            primary.clear()
            answer = await client.get(path, token=token)

            assert answer.status == 200, answer.text
            assert places.places, path
            assert places.last_is_replica, path
            # The caller, and nothing that the replica could tell as well.
            assert COLUMN in next(text for text in primary if text != "BEGIN"), path
        places.places.clear()
        figures = await client.get("/api/service/analytics", headers={"X-Api-Key": KEY})

    assert (figures.status, places.last_is_replica) == (200, True)
    assert elsewhere
    assert [text for text in elsewhere if any(shows(text, word) for word in CHECKED)] == []
    assert [text for text in elsewhere if not text.startswith(("SELECT", "WITH", "(SELECT"))] == []


async def test_a_caller_reads_what_they_have_written_although_the_replica_does_not_replay(
    team: Team, places: PlacesRead, nodes: tuple[Node, Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The replica has a connection to be asked by.
    assert (await team.request("owner", "GET", "/invitations")).status == 200
    monkeypatch.setattr(replica, "REACH_SECONDS_MAX", 0.05)
    monkeypatch.setattr(replica, "REST_SECONDS", 0.0)

    with replay_paused(nodes[1]):
        invited = await team.request(
            "owner", "POST", "/invitations", body={"email": "grace@example.com", "role": "member"}
        )
        listed = await team.request("owner", "GET", "/invitations")
        read_at = places.places[-1]

    async def is_read_elsewhere() -> bool:
        again = await team.request("owner", "GET", "/invitations")
        assert "grace@example.com" in again.text
        return places.last_is_replica

    assert invited.status == 200, invited.text
    assert "grace@example.com" in listed.text
    assert read_at == PRIMARY
    await eventually(is_read_elsewhere)


async def test_a_session_that_was_revoked_and_a_member_who_was_removed_are_refused_at_once(
    team: Team, world: World, places: PlacesRead, nodes: tuple[Node, Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replica, "REACH_SECONDS_MAX", 0.05)
    for name in ("owner", "admin", "member"):
        await team.token(name)
    assert (await team.request("admin", "GET", "/members")).status == 200

    with replay_paused(nodes[1]):
        left = await world.client.post("/api/auth/logout", token=await team.token("member"))
        removed = await team.request("owner", "POST", f"/members/{team.ids['admin']}")
        revoked = await team.request("member", "GET", "/members")
        former = await team.request("admin", "GET", "/members")

    assert (left.status, removed.status) == (200, 200), removed.text
    assert (revoked.status, former.status) == (401, 403)
