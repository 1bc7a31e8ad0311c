"""The troubles of a client: each refused request in the name of a service is listed once, and names no person."""

from __future__ import annotations

import base64
from datetime import timedelta
from functools import partial
from typing import Any, Final
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from structlog.testing import capture_logs

from core.organizations.access import Capability
from tests.application import Answer
from tests.concurrency import at_once, statuses_of
from tests.shown_text import shows
from tests.world.authorization import address_of
from tests.world.backend import KEY, insert_key
from tests.world.builder import EMAIL
from tests.world.organization_keys import insert_program
from tests.world.platform import Platform
from tests.world.relying_party import REDIRECT_URI, RelyingParty, insert_relying_party
from tests.world.support import open_desk
from tests.world.team import Team
from tests.world.world import World

PROBLEMS: Final = "/services/shop/problems"
BACKEND: Final = "203.0.113.7"
PERSON: Final = "198.51.100.9"
NETWORK: Final = "198.51.100.0/24"
SECRETS: Final = ["client_secret_basic", "client_secret_post"]
MINUTE: Final = timedelta(minutes=1)


@pytest.fixture
def shop(world: World) -> RelyingParty:
    """A confidential service, and a user who only signs in there."""
    world.user(EMAIL)
    return insert_relying_party(world)


@pytest.fixture
def team(world: World, shop: RelyingParty) -> Team:
    """The organization of the service, with its owner and a member."""
    team = Team(world, shop.organization_id, shop.slug)
    team.add("ann", "owner")
    team.add("cid", "member")
    return team


async def listed(team: Team) -> list[dict[str, Any]]:
    """Return the troubles as the owner reads them."""
    answer = await team.request("ann", "GET", PROBLEMS)
    assert answer.status == 200, answer.text
    assert answer.json["total"] == len(answer.json["problems"])
    return answer.json["problems"]


async def only(team: Team) -> dict[str, Any]:
    """Return the only trouble without its time."""
    [problem] = await listed(team)
    return {name: value for name, value in problem.items() if name != "at"}


async def post(
    party: RelyingParty, path: str, fields: dict[str, str], *, address: str = BACKEND, secret: str | None = None
) -> Answer:
    """Send a form of the backend of the service, with its secret in the header, or another one."""
    value = base64.b64encode(f"{party.client_id}:{secret or party.secret}".encode()).decode()
    headers = {"Authorization": f"Basic {value}", "Content-Type": "application/x-www-form-urlencoded"}
    return await party.world.client.post(path, data=urlencode(fields).encode(), headers=headers, address=address)


async def browse(party: RelyingParty, *, address: str = PERSON, **parameters: str) -> Answer:
    """Send a browser to the authorization endpoint."""
    return await party.world.client.get(address_of(party, **parameters), address=address)


async def guess(party: RelyingParty, address: str = BACKEND) -> Answer:
    """Send a wrong secret."""
    return await post(party, "/auth/token", {"grant_type": "client_credentials"}, address=address, secret="wrong")


@pytest.mark.parametrize("path", ["/auth/token", "/auth/par", "/auth/introspect", "/auth/revoke"])
async def test_a_wrong_secret_is_listed_with_the_address_of_the_backend(
    shop: RelyingParty, team: Team, path: str
) -> None:
    fields = {"grant_type": "client_credentials", "token": "t"} if path != "/auth/par" else {"response_type": "code"}
    answer = await post(shop, path, fields, secret="wrong")

    assert answer.status == 401
    assert await only(team) == {
        "kind": "client_authentication",
        "details": {"sent": "client_secret_basic", "registered": SECRETS},
        "ip_address": BACKEND,
    }


async def test_how_a_client_authenticated_and_might_is_listed(shop: RelyingParty, team: Team) -> None:
    named, token = {"client_id": str(shop.client_id)}, {"grant_type": "client_credentials"}
    unreadable = {"Authorization": "Basic !!!", "Content-Type": "application/x-www-form-urlencoded"}
    twice = {**named, **token, "client_secret": "two"}
    asserted = {"client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"}
    sent: list[str] = []
    for request in (
        partial(shop.send, "/auth/token", {**named, **token}),
        partial(shop.send, "/auth/token", {**named, **token, "client_secret": "wrong"}),
        partial(shop.send, "/auth/token", {**named, **token}, unreadable),
        partial(shop.send, "/auth/token", twice, shop.basic),
        partial(shop.send, "/auth/token", {**named, **token, **asserted, "client_assertion": "a.b.c"}),
    ):
        assert (await request()).status in {400, 401}
        sent.append((await listed(team))[0]["details"]["sent"])
        team.world.clock.advance(MINUTE)

    assert sent == [
        "none",
        "client_secret_post",
        "client_secret_basic",
        "client_secret_basic client_secret_post",
        "private_key_jwt",
    ]


@pytest.mark.parametrize(
    ("parameters", "status", "kind", "sent", "registered"),
    [
        ({"redirect_uri": "https://shop.example/other"}, 400, "redirect_uri", "https://shop.example/other", None),
        ({"redirect_uri": ""}, 400, "redirect_uri", None, None),
        ({"response_type": "id_token token"}, 303, "response_type", "id_token token", ["code"]),
        ({"response_type": ""}, 303, "response_type", None, ["code"]),
        ({"code_challenge_method": "plain"}, 303, "pkce", "plain", ["S256"]),
        ({"code_challenge_method": ""}, 303, "pkce", "plain", ["S256"]),
        ({"code_challenge": "short"}, 303, "pkce", "code_challenge", ["S256"]),
        ({"code_challenge": ""}, 303, "pkce", None, ["S256"]),
    ],
)
async def test_what_a_browser_brings_is_listed_with_its_network(
    shop: RelyingParty,
    team: Team,
    parameters: dict[str, str],
    status: int,
    kind: str,
    sent: str | None,
    registered: list[str] | None,
) -> None:
    assert (await browse(shop, **parameters)).status == status

    assert await only(team) == {
        "kind": kind,
        "details": {"sent": sent, "registered": [REDIRECT_URI] if registered is None else registered},
        "ip_address": NETWORK,
    }


async def test_a_public_client_without_pkce_is_listed(world: World) -> None:
    app = insert_relying_party(world, "mobile")
    team = Team(world, app.organization_id, app.slug)
    team.add("ann", "owner")

    await browse(app, code_challenge="", code_challenge_method="")

    assert (await only(team))["kind"] == "pkce"


async def test_what_is_pushed_is_listed_alike(shop: RelyingParty, team: Team) -> None:
    pushed = {"response_type": "code", "redirect_uri": REDIRECT_URI}
    for wrong in ({"redirect_uri": "https://x.example/"}, {"response_type": "token"}, {"code_challenge": "short"}):
        assert (await post(shop, "/auth/par", {**pushed, **wrong})).status == 400

    assert {(one["kind"], one["details"]["sent"]) for one in await listed(team)} == {
        ("redirect_uri", "https://x.example/"),
        ("response_type", "token"),
        ("pkce", "plain"),
    }


@pytest.mark.parametrize(
    ("fields", "kind", "details"),
    [
        ({"code_verifier": "w" * 43}, "pkce", {"sent": "code_verifier", "registered": ["S256"]}),
        ({"code_verifier": ""}, "pkce", {"sent": None, "registered": ["S256"]}),
        (
            {"redirect_uri": "https://shop.example/other"},
            "redirect_uri",
            {"sent": "https://shop.example/other", "registered": [REDIRECT_URI]},
        ),
    ],
)
async def test_what_is_wrong_with_a_code_is_listed(
    shop: RelyingParty, team: Team, fields: dict[str, str], kind: str, details: dict[str, Any]
) -> None:
    answer = await shop.redeem(await shop.code(), None, **fields)

    assert (answer.status, answer.json["error"]) == (400, "invalid_grant")
    problem = await only(team)
    assert (problem["kind"], problem["details"]) == (kind, details)


async def test_a_code_that_is_not_known_is_listed_without_it(shop: RelyingParty, team: Team) -> None:
    assert (await shop.redeem("a-code-of-the-test")).status == 400

    problem = await only(team)
    assert (problem["kind"], problem["details"]) == ("grant", {"sent": "authorization_code", "registered": []})
    assert problem["ip_address"] == "127.0.0.1"


async def test_refreshing_with_a_token_or_a_scope_that_is_not_valid_is_listed(shop: RelyingParty, team: Team) -> None:
    tokens = await shop.tokens()

    await shop.token("refresh_token", refresh_token="unknown")
    await shop.token("refresh_token", refresh_token=tokens["refresh_token"], scope="openid profile")

    assert {(one["kind"], one["details"]["sent"]) for one in await listed(team)} == {
        ("grant", "refresh_token"),
        ("scope", "openid profile"),
    }


async def test_a_grant_that_there_is_not_is_listed(shop: RelyingParty, team: Team) -> None:
    assert (await shop.token("password", username="ada", password="hunter2")).status == 400

    problem = await only(team)
    assert (problem["kind"], problem["details"]["sent"]) == ("grant", "password")
    assert "authorization_code" in problem["details"]["registered"]


async def test_an_address_after_a_logout_is_listed(shop: RelyingParty, team: Team) -> None:
    shop.set(post_logout_redirect_uris=["https://shop.example/bye"])
    query = {"client_id": str(shop.client_id), "post_logout_redirect_uri": "https://shop.example/bye/"}

    answer = await team.world.client.get(f"/auth/logout?{urlencode(query)}", address=PERSON)

    assert answer.status == 400
    assert await only(team) == {
        "kind": "logout_uri",
        "details": {"sent": "https://shop.example/bye/", "registered": ["https://shop.example/bye"]},
        "ip_address": NETWORK,
    }


async def test_what_is_answered_and_what_names_no_client_is_no_trouble(shop: RelyingParty, team: Team) -> None:
    await shop.tokens()
    await shop.token("client_credentials")
    await shop.send(
        "/auth/token", {"grant_type": "client_credentials", "client_id": str(uuid4()), "client_secret": "s"}
    )
    await shop.send("/auth/token", {"grant_type": "client_credentials"})
    await browse(shop, prompt="none")

    assert await listed(team) == []


async def test_a_device_that_waits_is_no_trouble(world: World) -> None:
    app = insert_relying_party(world, "desktop")
    team = Team(world, app.organization_id, app.slug)
    team.add("ann", "owner")
    begun = await world.client.post("/auth/device/code", body={"client_id": str(app.client_id)})

    with capture_logs() as logs:
        answer = await app.send(
            "/auth/token", {"device_code": begun.json["device_code"], "client_id": str(app.client_id)}
        )

    assert answer.json["error"] == logs[-1]["oauth_error"] == "authorization_pending"
    assert logs[-1]["client_id"] == str(app.client_id)
    assert await listed(team) == []


async def test_no_secret_code_token_or_person_is_listed(shop: RelyingParty, team: Team) -> None:
    private = "https://u:p@shop.example/ada@example.com/cb?code=c1&user=ada&next=/here&login_hint=ada@example.com#t"
    await browse(shop, redirect_uri=private)
    await browse(shop, response_type="ada@example.com", login_hint="ada@example.com")
    await shop.redeem("a-code-of-the-test")

    answer = await team.request("ann", "GET", PROBLEMS)

    for hidden in ("ada", "u:p", "c1", "a-code-of-the-test", PERSON):
        assert not shows(answer.text, hidden), hidden
    sent = {one["kind"]: one["details"]["sent"] for one in answer.json["problems"]}
    assert sent["redirect_uri"] == "https://…@shop.example/…/cb?code=…&user=…&next=/here&login_hint=…#…"


async def test_one_is_listed_for_each_kind_network_and_minute(shop: RelyingParty, team: Team) -> None:
    for number in range(3):
        await browse(shop, redirect_uri=f"https://{number}.example/")
    await browse(shop, redirect_uri="https://3.example/", address="192.0.2.1")
    team.world.clock.advance(MINUTE)
    await browse(shop, redirect_uri="https://4.example/")

    assert [one["details"]["sent"] for one in await listed(team)] == [
        "https://4.example/",
        *(f"https://{number}.example/" for number in (3, 0)),
    ]


async def test_of_two_refusals_at_once_one_is_listed(shop: RelyingParty, team: Team) -> None:
    answers = await at_once(*[partial(guess, shop)] * 4, *[partial(browse, shop, response_type="token")] * 4)

    assert statuses_of(answers) == [303] * 4 + [401] * 4
    assert sorted(one["kind"] for one in await listed(team)) == ["client_authentication", "response_type"]


async def test_a_stranger_hides_nothing_by_many_requests(shop: RelyingParty, team: Team) -> None:
    await guess(shop)
    await browse(shop, redirect_uri="https://shop.example/own")
    for number in range(25):
        team.world.clock.advance(MINUTE)
        await browse(shop, redirect_uri=f"https://evil.example/{number}", address="192.0.2.1")
        await guess(shop, f"2001:db8:1::{number}")
    await guess(shop, "2001:db8:2::1")

    found = await listed(team)

    assert [one["ip_address"] for one in found if one["kind"] == "client_authentication"].count(BACKEND) == 1
    assert "https://shop.example/own" in {one["details"]["sent"] for one in found}
    for kind in ("client_authentication", "redirect_uri"):
        assert len([one for one in found if one["kind"] == kind]) == 20
    assert team.world.value("SELECT count(*) FROM client_problems") == 40


async def test_they_are_forgotten_after_thirty_days_and_with_the_service(shop: RelyingParty, team: Team) -> None:
    await guess(shop)
    team.world.clock.advance(timedelta(days=30))
    team.tokens.clear()
    assert await listed(team) == []

    await guess(shop)
    assert len(await listed(team)) == 1
    assert (await team.request("ann", "DELETE", "/services/shop")).status == 204
    assert team.world.value("SELECT count(*) FROM client_problems") == 0


async def test_who_manages_services_reads_them(shop: RelyingParty, team: Team) -> None:
    await guess(shop)
    path = team.path + PROBLEMS
    manager = insert_program(team, Capability.SERVICES_MANAGE, maker="ann", key=f"gk_writer_{'w' * 43}")
    viewer = insert_program(team, Capability.SERVICES_VIEW, maker="ann", key=f"gk_viewer_{'v' * 43}")
    insert_key(team.world, shop.organization_id, shop.service_id, KEY)

    member = await team.request("cid", "GET", PROBLEMS)
    by_key = await team.world.client.get(path, headers={"X-Api-Key": manager.key})
    by_viewer = await team.world.client.get(path, headers={"X-Api-Key": viewer.key})
    by_service = await team.world.client.get(path, headers={"X-Api-Key": KEY})

    assert (member.status, by_viewer.status, by_service.status) == (403, 403, 401)
    assert by_key.status == 200, by_key.text
    assert by_key.json["total"] == 1
    team.world.grant(shop.organization_id, shop.service_id, team.ids["cid"], "manager")
    assert (await team.request("cid", "GET", PROBLEMS)).status == 200


async def test_the_platform_s_owners_and_support_read_them(shop: RelyingParty, team: Team, platform: Platform) -> None:
    await guess(shop)
    desk = await open_desk(platform)
    path = team.path + PROBLEMS

    for request in (desk.request, platform.request):
        assert (await request("GET", path)).json["total"] == 1
        assert (await request("GET", f"{team.path}/services/nothing/problems")).status == 404
        assert (await request("GET", "/api/organizations/nowhere/services/shop/problems")).status == 404
        assert (await request("GET", f"{team.path}/services/shop")).status == 403


async def test_the_log_names_the_client_and_the_refusal(shop: RelyingParty) -> None:
    client_id = str(shop.client_id)
    with capture_logs() as logs:
        await guess(shop)
        await shop.token("client_credentials")
        await post(shop, "/auth/introspect", {})
        await shop.send("/auth/revoke", {"client_id": str(uuid4()), "token": "t"})
        await shop.send("/auth/token", {"grant_type": "client_credentials", "client_id": "nonsense"})
        await post(shop, "/auth/par", {"response_type": "token", "redirect_uri": REDIRECT_URI})

    lines = [line for line in logs if line["event"] == "request"]
    assert [(line.get("client_id"), line.get("oauth_error")) for line in lines] == [
        (client_id, "invalid_client"),
        (client_id, None),
        (client_id, "invalid_request"),
        (None, "invalid_client"),
        (None, "invalid_client"),
        (client_id, "unsupported_response_type"),
    ]
