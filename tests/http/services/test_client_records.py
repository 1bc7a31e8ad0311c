"""What a service registers as an OAuth client: keys, audiences and addresses."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.application import Answer
from tests.world.domains import insert_verified
from tests.world.team import Team
from tests.world.world import assert_refused

KEY = {"kty": "EC", "crv": "P-256", "x": "AAAA", "y": "AAAA"}
RECORD: dict[str, Any] = {
    "post_logout_redirect_uris": ["https://shop.example/bye"],
    "backchannel_logout_uri": "https://shop.example/back",
    "frontchannel_logout_uri": "https://shop.example/front",
    "jwks": {"keys": [KEY]},
    "jwks_uri": None,
    "audiences": ["https://api.shop.example/v1"],
}


async def create(team: Team, slug: str = "shop", **fields: Any) -> Answer:
    body = {"slug": slug, "name": "Shop", "service_type": "web", **fields}
    return await team.request("owner", "POST", "/services", body=body)


async def change(team: Team, slug: str = "shop", **fields: Any) -> Answer:
    return await team.request("owner", "PATCH", f"/services/{slug}", body=fields)


@pytest.fixture
def team(team: Team) -> Team:
    """The team, whose organization has proved a domain."""
    insert_verified(team.world, team.organization_id, "shop.example")
    return team


async def test_the_record_is_stored_changed_and_cleared(team: Team) -> None:
    created = (await create(team, "shop", **RECORD)).json["service"]
    cleared = await change(team, jwks=None, jwks_uri="https://shop.example/keys", backchannel_logout_uri=None)
    read = await team.request("owner", "GET", "/services/shop")

    assert {name: created[name] for name in RECORD} == RECORD
    assert cleared.status == 200, cleared.text
    assert read.json == cleared.json
    assert (read.json["jwks"], read.json["jwks_uri"]) == (None, "https://shop.example/keys")
    assert read.json["audiences"] == RECORD["audiences"]


async def test_what_cannot_be_registered_is_refused(team: Team, subtests: pytest.Subtests) -> None:
    for field, value in (
        ("post_logout_redirect_uris", ["http://shop.example/"]),
        ("post_logout_redirect_uris", ["com.example:/bye"]),
        ("backchannel_logout_uri", "http://10.0.0.1/"),
        ("backchannel_logout_uri", "nonsense"),
        ("frontchannel_logout_uri", "javascript:alert(1)"),
        ("jwks_uri", "http://169.254.169.254/keys"),
        ("jwks", {"keys": []}),
        ("jwks", {"keys": [KEY] * 21}),
        ("jwks", {"keys": [KEY], "other": []}),
        ("jwks", {"keys": [KEY | {"d": "AAAA"}]}),
        ("jwks", {"keys": [{"kty": "oct", "k": "AAAA"}]}),
        ("jwks", {"keys": [KEY | {"x": "A" * 5000}]}),
        ("jwks", {"keys": [KEY | {"x": 1}]}),
        ("jwks", {"keys": [KEY | {"kty": ["EC"]}]}),
        ("jwks", {"keys": [KEY | {"kty": {}}]}),
        ("jwks", {}),
        ("audiences", ["api"]),
        ("audiences", ["http://api.shop.example"]),
        ("audiences", ["https://api.shop.example/#x"]),
        ("audiences", ["https://user@api.shop.example/"]),
        ("audiences", ["https://api.shop.example:x/"]),
        ("audiences", ["https://localhost/api"]),
        ("audiences", ["https://api.shöp.example/"]),
        ("audiences", ["https://api.other.example/"]),
        ("audiences", ["https://evilshop.example/"]),
        # The custom domain itself is Gatehouse's.
        ("audiences", ["https://shop.example/api"]),
        ("audiences", [f"https://api.shop.example/{number}" for number in range(21)]),
    ):
        with subtests.test(field=field, value=value):
            answer = await create(team, "shop", **{field: value})

            assert_refused(answer, 400, "BAD_REQUEST")
            assert answer.invalid_fields == [field]


async def test_a_domain_whose_proof_is_gone_for_a_week_covers_no_audience(team: Team) -> None:
    team.world.connection.execute(
        "UPDATE custom_domains SET status = 'failing', failing_since = %s",
        (team.world.clock() - timedelta(days=7, minutes=1),),
    )

    assert (await create(team, audiences=["https://api.shop.example/v1"])).invalid_fields == ["audiences"]


async def test_keys_are_either_in_the_record_or_at_an_address(team: Team) -> None:
    assert (await create(team, jwks={"keys": [KEY]}, jwks_uri="https://shop.example/keys")).invalid_fields == ["jwks"]


async def test_an_audience_is_that_of_one_service_on_the_whole_platform(team: Team) -> None:
    await create(team, audiences=["https://api.shop.example/a", "https://api.shop.example/b"])

    taken = await create(team, "blog", audiences=["https://api.shop.example/b"])
    await create(team, "blog")
    also_taken = await change(team, "blog", audiences=["https://api.shop.example/b"])
    await change(team, audiences=["https://api.shop.example/a"])
    free = await change(team, "blog", audiences=["https://api.shop.example/b"])

    assert_refused(taken, 409, "CONFLICT")
    assert_refused(also_taken, 409, "CONFLICT")
    assert free.status == 200, free.text


async def test_an_audience_is_free_once_its_service_is_deleted(team: Team) -> None:
    await create(team, audiences=["https://api.shop.example/a"])
    await team.request("owner", "DELETE", "/services/shop")

    assert (await create(team, "blog", audiences=["https://api.shop.example/a"])).status == 200
