"""Programs without a secret: who allows them to authenticate as a service or a key, and who reads and ends that."""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import UUID

import pytest

from core.organizations.access import Capability
from core.services.workloads import WORKLOADS_MAX
from tests.application import Answer
from tests.concurrency import at_once, statuses_of
from tests.world.builder import NO_ID
from tests.world.organization_keys import insert_organization_key, insert_program
from tests.world.team import Team

RULE: dict[str, Any] = {
    "name": "Deployment",
    "issuer": "https://token.actions.githubusercontent.com",
    "match": {"repository_id": "74", "environment": "production"},
}


@pytest.fixture
def shop(team: Team) -> Team:
    """A team with a service."""
    team.world.service(team.organization_id, "shop")
    return team


@pytest.fixture
def key_id(shop: Team) -> UUID:
    """A key of the owner that manages services."""
    return insert_organization_key(
        shop.world, shop.organization_id, shop.ids["owner"], permissions=[Capability.SERVICES_MANAGE]
    )


async def allow(team: Team, path: str = "/services/shop", by: str = "owner", **fields: Any) -> Answer:
    """Let a program authenticate."""
    return await team.request(by, "POST", f"{path}/workloads", body={**RULE, **fields})


async def test_a_workload_is_created_listed_and_deleted_and_all_of_it_recorded(shop: Team, key_id: UUID) -> None:
    for path, named in {
        "/services/shop": {"service_slug": "shop"},
        f"/keys/{key_id}": {"key_id": str(key_id), "key_name": "Terraform"},
    }.items():
        made = await allow(shop, path)
        listed = await shop.request("admin", "GET", f"{path}/workloads")
        deleted = await shop.request("admin", "DELETE", f"{path}/workloads/{made.json['id']}")
        again = await shop.request("admin", "DELETE", f"{path}/workloads/{made.json['id']}")

        assert made.status == 200, made.text
        assert made.json == {
            "id": made.json["id"],
            **RULE,
            "jwks_uri": None,
            "jwks": None,
            "audience": None,
            "created_at": made.json["created_at"],
            "last_used_at": None,
            "last_refused": None,
        }
        assert listed.json == {"workloads": [made.json], "total": 1}
        assert (deleted.status, again.status) == (204, 404)
        for action in ("workload.created", "workload.deleted"):
            actor, *_, details = shop.world.audit_entries(action)[-1]
            assert actor is not None
            assert details.items() >= {"name": "Deployment", "issuer": RULE["issuer"], **named}.items()
            assert details["match"] == RULE["match"]


async def test_the_twenty_first_is_refused_also_of_two_at_once(shop: Team, key_id: UUID) -> None:
    for path in ("/services/shop", f"/keys/{key_id}"):
        for number in range(WORKLOADS_MAX - 1):
            assert (await allow(shop, path, name=str(number))).status == 200

        answers = await at_once(*[partial(allow, shop, path)] * 3)

        assert statuses_of(answers) == [200, 400, 400]


async def test_who_may_make_the_secret_may_allow_a_workload(shop: Team, key_id: UUID) -> None:
    shop.custom_role("manager", "services.manage")
    shop.add("manager", "manager")
    program = insert_program(shop, Capability.SERVICES_MANAGE, key=f"gk_def456_{'p' * 43}")
    made = (await allow(shop)).json["id"]
    of_key = (await allow(shop, f"/keys/{key_id}")).json["id"]

    assert (await allow(shop, by="manager")).status == 200
    assert (await program.request("POST", "/services/shop/workloads", body=RULE)).status == 200
    assert (await program.request("POST", f"/keys/{key_id}/workloads", body=RULE)).status == 403
    for name in ("member", "manager"):
        for path, workload_id in (("/services/shop", made), (f"/keys/{key_id}", of_key)):
            if name == "manager" and path == "/services/shop":
                continue
            assert (await allow(shop, path, by=name)).status == 403
            for method, below in (("GET", ""), ("DELETE", f"/{workload_id}")):
                assert (await shop.request(name, method, f"{path}/workloads{below}")).status == 403
    # The caller, an admin, can do what the key can do: the owner has made it with all capabilities.
    assert (await allow(shop, f"/keys/{key_id}", by="admin")).status == 200


async def test_a_workload_of_another_service_key_or_organization_is_not_found(shop: Team, key_id: UUID) -> None:
    world = shop.world
    other = world.team("globex")
    other.add("boss", "owner")
    world.service(other.organization_id, "shop")
    world.service(shop.organization_id, "other")
    foreign_key = insert_organization_key(world, other.organization_id, other.ids["boss"])
    made = (await allow(shop)).json["id"]
    of_key = (await allow(shop, f"/keys/{key_id}")).json["id"]

    for team, by, path in (
        (shop, "owner", f"/services/other/workloads/{made}"),
        (shop, "owner", f"/services/shop/workloads/{of_key}"),
        (shop, "owner", f"/services/shop/workloads/{NO_ID}"),
        (shop, "owner", f"/keys/{key_id}/workloads/{made}"),
        (shop, "owner", f"/keys/{foreign_key}/workloads/{of_key}"),
        (other, "boss", f"/services/shop/workloads/{made}"),
        (other, "boss", f"/keys/{foreign_key}/workloads/{of_key}"),
        (other, "boss", f"/keys/{key_id}/workloads/{of_key}"),
    ):
        assert (await team.request(by, "DELETE", path)).status == 404, path
    assert (await allow(other, f"/keys/{key_id}", by="boss")).status == 404
    assert (await other.request("boss", "GET", f"/keys/{key_id}/workloads")).status == 404
    assert (await shop.request("owner", "GET", "/services/nothing/workloads")).status == 404
    assert world.value("SELECT count(*) FROM workloads") == 2


async def test_a_rule_that_is_wrong_is_refused_with_its_fields(shop: Team, key_id: UUID) -> None:
    cases: list[tuple[dict[str, Any], list[str]]] = [
        ({"match": {"repository": "octo/repo", "ref": "refs/heads/main"}}, ["match"]),
        ({"issuer": "https://sts.windows.net/a/"}, ["match"]),
        ({"match": {"repository_id": 74, "ref": "x"}}, ["match"]),
        ({"match": {"repository_id": ["74"], "ref": "x"}}, ["match"]),
        ({"issuer": "http://localhost:8000", "match": {"sub": "x"}}, ["issuer"]),
        ({"name": "", "issuer": "nonsense"}, ["issuer", "match", "name"]),
    ]
    for path in ("/services/shop", f"/keys/{key_id}"):
        for fields, named in cases:
            answer = await allow(shop, path, **fields)

            assert answer.status == 400, fields
            assert sorted(one["field"].partition("[")[0].partition(".")[0] for one in answer.json["details"]) == named
