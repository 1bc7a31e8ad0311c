"""The scopes that a service defines: who has which, in which tokens, and nothing beyond."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.application import Answer
from tests.world.backend import KEY, insert_key
from tests.world.builder import EMAIL, Service
from tests.world.relying_party import RelyingParty, insert_relying_party
from tests.world.signing_in import claims_of
from tests.world.team import Team
from tests.world.world import World

READ, WRITE, REFUND = "orders.read", "orders.write", "orders:refund"
SCOPES = [
    {"name": READ, "description": "See your orders."},
    {"name": WRITE, "description": "Change your orders."},
    {"name": REFUND, "description": "Pay money back."},
]
ALL = f"openid {READ} {WRITE} {REFUND}"


class Shop:
    """A service with scopes; its user is a member of its organization, where the owner manages it."""

    def __init__(self, world: World, party: RelyingParty, team: Team) -> None:
        self.world, self.party, self.team = world, party, team

    async def change(self, **fields: Any) -> Answer:
        """Change the service as its owner does."""
        return await self.team.request("owner", "PATCH", f"/services/{self.party.service_slug}", body=fields)

    async def make_role(self, slug: str, *scopes: str) -> Answer:
        """Make a role of the organization that lists scopes."""
        body = {"slug": slug, "name": slug, "permissions": [], "scopes": list(scopes)}
        return await self.team.request("owner", "POST", "/roles", body=body)

    def give_role(self, role: str) -> None:
        """Give the user another role."""
        self.world.connection.execute(
            "UPDATE memberships SET role = %s WHERE user_id = %s", (role, self.world.user_id(EMAIL))
        )

    async def refreshed(self, tokens: dict[str, Any], **fields: Any) -> Answer:
        """Refresh these tokens."""
        return await self.party.token("refresh_token", refresh_token=tokens["refresh_token"], **fields)


@pytest.fixture
def shop(world: World) -> Shop:
    """The service, with three scopes of its own."""
    party = insert_relying_party(world)
    party.set(scopes=Jsonb(SCOPES))
    team = Team(world, party.organization_id, party.slug)
    team.add("owner", "owner")
    world.member(party.organization_id, world.user(EMAIL), "member")
    return Shop(world, party, team)


def _scope(tokens: dict[str, Any]) -> str:
    """Return the scopes of the tokens, which both the answer and the access token name."""
    assert claims_of(tokens["access_token"])["scope"] == tokens["scope"]
    return tokens["scope"]


async def test_tokens_carry_what_was_asked_for_and_registered(shop: Shop) -> None:
    tokens = await shop.party.tokens(scope=f"  openid  {READ} orders.unknown {READ} admin ")

    assert _scope(tokens) == f"openid {READ}"
    assert "id_token" in tokens


async def test_nothing_of_what_was_asked_for_is_an_empty_scope(shop: Shop) -> None:
    tokens = await shop.party.tokens(scope="orders.unknown")

    assert _scope(tokens) == ""
    assert "id_token" not in tokens


async def test_a_refresh_asks_for_fewer_scopes_and_never_for_more(shop: Shop) -> None:
    tokens = await shop.party.tokens(scope=f"openid {READ} {WRITE}")

    narrowed = await shop.refreshed(tokens, scope=f" {READ}  ")
    widened = await shop.refreshed(narrowed.json, scope=f"openid {READ} {REFUND}")
    whole = await shop.refreshed(narrowed.json, scope="")

    assert _scope(narrowed.json) == READ
    assert (widened.status, widened.json["error"]) == (400, "invalid_scope")
    assert _scope(whole.json) == f"openid {READ} {WRITE}"


async def test_a_scope_that_a_role_lists_is_given_by_roles_alone_and_judged_at_every_refresh(shop: Shop) -> None:
    assert (await shop.make_role("desk", REFUND)).json["scopes"] == [REFUND]
    without = await shop.party.tokens(scope=ALL)
    shop.give_role("desk")
    given = await shop.party.tokens(scope=ALL)

    assert _scope(without) == f"openid {READ} {WRITE}"
    assert _scope(given) == ALL
    # It was not granted, so it takes another request.
    later = await shop.refreshed(without)
    assert _scope(later.json) == f"openid {READ} {WRITE}"
    assert (await shop.refreshed(later.json, scope=f"openid {REFUND}")).json["error"] == "invalid_scope"
    shop.give_role("member")
    taken = await shop.refreshed(given)
    assert _scope(taken.json) == f"openid {READ} {WRITE}"
    asked = await shop.refreshed(taken.json, scope=f"openid {REFUND}")
    assert _scope(asked.json) == "openid"
    # What comes back is given again, within what was granted.
    shop.give_role("desk")
    assert _scope((await shop.refreshed(asked.json)).json) == ALL


async def test_owners_and_admins_have_all_scopes_and_who_is_no_member_none_that_a_role_lists(
    shop: Shop, world: World
) -> None:
    await shop.make_role("desk", REFUND)

    for role in ("admin", "owner"):
        if role == "owner":
            world.connection.execute("UPDATE memberships SET role = 'admin' WHERE role = 'owner'")
        shop.give_role(role)
        assert _scope(await shop.party.tokens(scope=ALL)) == ALL
    world.connection.execute("DELETE FROM memberships WHERE user_id = %s", (world.user_id(EMAIL),))
    assert _scope(await shop.party.tokens(scope=ALL)) == f"openid {READ} {WRITE}"


async def test_the_scopes_of_another_service_or_organization_are_unknown(shop: Shop, world: World) -> None:
    stock = [{"name": "stock", "description": "See the stock."}]
    sister = {"slug": "sister", "name": "Sister", "service_type": "web", "scopes": stock}
    assert (await shop.team.request("owner", "POST", "/services", body=sister)).status == 200
    other = insert_relying_party(world, slug="globex", service_slug="other")
    other.set(scopes=Jsonb([{"name": "secrets", "description": "Secrets."}]))

    assert _scope(await shop.party.tokens(scope="openid stock secrets")) == "openid"
    assert (await shop.make_role("desk", "secrets")).status == 400
    # A role may give the scope of another service of the organization, which is no scope of this one.
    assert (await shop.make_role("desk", "stock")).status == 200
    shop.give_role("desk")
    assert _scope(await shop.party.tokens(scope="openid stock")) == "openid"


async def test_a_scope_that_goes_gives_nothing_and_comes_back_with_its_name(shop: Shop) -> None:
    await shop.make_role("desk", REFUND)
    shop.give_role("desk")
    tokens = await shop.party.tokens(scope=ALL)

    assert (await shop.change(scopes=SCOPES[:1])).status == 200
    refreshed = await shop.refreshed(tokens)
    assert _scope(refreshed.json) == f"openid {READ}"
    # The role may be saved with a scope that has gone.
    saved = await shop.team.request("owner", "PATCH", "/roles/desk", body={"name": "Desk", "scopes": [REFUND]})
    assert saved.status == 200
    await shop.change(scopes=SCOPES)
    assert _scope((await shop.refreshed(refreshed.json)).json) == ALL


async def test_a_sign_in_without_a_client_has_all_that_its_person_may_have(shop: Shop, world: World) -> None:
    await shop.make_role("desk", REFUND)
    destination: dict[str, Any] = {"org_slug": "acme", "service_slug": "shop"}

    tokens = await world.sign_in(EMAIL, **destination)
    assert claims_of(tokens.access_token)["scope"] == f"{READ} {WRITE}"
    # It is still a token of the user, not of a client that was granted less.
    info = await world.client.get("/auth/userinfo", token=tokens.access_token)
    assert info.json["email"] == EMAIL
    shop.give_role("desk")
    refreshed = await world.refresh(tokens.refresh_token)
    assert claims_of(refreshed.json["access_token"])["scope"] == f"{READ} {WRITE} {REFUND}"
    assert "scope" not in claims_of((await world.sign_in(EMAIL)).access_token)


async def test_a_service_without_scopes_says_nothing_of_them(shop: Shop, world: World) -> None:
    other = insert_relying_party(world, slug="globex", service_slug="other")

    signed_in = await world.sign_in(EMAIL, org_slug="globex", service_slug="other")
    own = await other.token("client_credentials", scope=READ)

    assert "scope" not in claims_of(signed_in.access_token)
    assert "scope" not in own.json
    assert "scope" not in claims_of(own.json["access_token"])
    assert _scope(await other.tokens(scope="openid email orders.read")) == "openid email"


async def test_machines_have_the_scopes_that_the_record_allows_them(shop: Shop) -> None:
    party = shop.party
    assert (await party.token("client_credentials", scope=READ)).json["scope"] == ""
    assert (await shop.change(machine_scopes=[WRITE, READ])).json["machine_scopes"] == [WRITE, READ]

    whole = await party.token("client_credentials")
    some = await party.token("client_credentials", scope=f"{READ} {REFUND} openid")

    assert _scope(whole.json) == f"{WRITE} {READ}"
    assert _scope(some.json) == READ
    await shop.change(machine_scopes=[WRITE])
    told = await party.post("/auth/introspect", {"token": some.json["access_token"]})
    assert (told.json["active"], told.json["scope"]) == (True, "")


async def test_introspection_names_the_scopes_that_the_person_may_have_now(shop: Shop) -> None:
    await shop.make_role("desk", REFUND)
    shop.give_role("desk")
    tokens = await shop.party.tokens(scope=ALL)

    for role, expected in (("desk", ALL), ("member", f"openid {READ} {WRITE}")):
        shop.give_role(role)
        for kind in ("access_token", "refresh_token"):
            told = await shop.party.post("/auth/introspect", {"token": tokens[kind]})
            assert told.json["scope"] == expected, kind


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("scopes", [{"name": "two words", "description": "Two."}]),
        ("scopes", [{"name": "", "description": "None."}]),
        ("scopes", [{"name": 'quoted"', "description": "Quoted."}]),
        ("scopes", [{"name": "ordérs", "description": "Not ASCII."}]),
        ("scopes", [{"name": "x" * 256, "description": "Long."}]),
        ("scopes", [{"name": "openid", "description": "Of OpenID."}]),
        ("scopes", [{"name": "Offline_Access", "description": "Of OpenID."}]),
        ("scopes", [{"name": "phone", "description": "Of OpenID."}]),
        ("scopes", [{"name": READ, "description": ""}]),
        ("scopes", [{"name": READ, "description": "x" * 201}]),
        ("scopes", [{"name": READ, "description": "Two\nlines"}]),
        ("scopes", [{"name": READ, "description": "Turned \u202e around"}]),
        ("scopes", [{"name": READ, "description": "One."}, {"name": READ, "description": "Two."}]),
        ("scopes", [{"name": f"s{number}", "description": "Many."} for number in range(51)]),
        ("scopes", [{"name": READ}]),
        ("scopes", ["openid"]),
        ("machine_scopes", ["orders.unknown"]),
        ("machine_scopes", ["openid"]),
        ("roles", [{"name": "editor", "title": "Editor", "scopes": ["orders.unknown"]}]),
        ("roles", [{"name": "editor", "title": "Editor", "scopes": [f"s{number}" for number in range(101)]}]),
    ],
)
async def test_a_scope_that_cannot_be_is_refused_by_the_name_of_its_field(shop: Shop, field: str, value: Any) -> None:
    answer = await shop.change(**{field: value})

    assert answer.status == 400, answer.text
    assert answer.json["details"][0]["field"].startswith(field)


async def test_a_token_with_all_scopes_and_claims_is_taken_where_it_was_issued(shop: Shop, world: World) -> None:
    # The longest names that fill 1,500 characters, and claims that leave no byte.
    scopes = [{"name": f"{number:02}".ljust(29, "x"), "description": "One of many."} for number in range(50)]
    assert (await shop.change(scopes=[*scopes[:49], {"name": "y" * 31, "description": "Too long."}])).status == 400
    assert (await shop.change(scopes=scopes)).status == 200
    claims = [{"claim": "n", "from": "organization.metadata.n", "in_access_token": True}]
    assert (await shop.change(claims=claims)).status == 200
    noted = {"n": "x" * (3072 - len('{"n": ""}'))}
    assert (await shop.team.request("owner", "PATCH", "", body={"metadata": noted})).status == 200

    token = (await world.sign_in(EMAIL, org_slug="acme", service_slug="shop")).access_token

    assert (len(claims_of(token)["scope"]), "n" in claims_of(token)) == (1499, True)
    assert (await world.client.get("/auth/userinfo", token=token)).status == 200


async def test_a_scope_of_machines_stays_one_of_the_service(shop: Shop) -> None:
    await shop.change(machine_scopes=[READ])

    refused = await shop.change(scopes=SCOPES[1:])

    assert refused.json["details"][0]["field"] == "machine_scopes"
    assert (await shop.change(scopes=SCOPES[1:], machine_scopes=[])).status == 200


async def test_a_key_of_the_service_changes_none_of_this(shop: Shop, world: World) -> None:
    insert_key(world, shop.party.organization_id, shop.party.service_id, KEY)
    header = {"X-Api-Key": KEY}

    for body in (
        {"scopes": []},
        {"machine_scopes": [READ]},
        {"roles": [{"name": "editor", "title": "Editor", "scopes": [READ]}]},
    ):
        refused = await world.client.patch("/api/service/info", body=body, headers=header)
        assert (refused.status, refused.json["error_code"]) == (403, "FORBIDDEN"), body
    roles = [{"name": "editor", "title": "Editor"}]
    assert (await world.client.patch("/api/service/info", body={"roles": roles}, headers=header)).status == 200


async def test_an_impersonator_changes_nothing_by_which_a_scope_would_be_for_more_people(
    shop: Shop, world: World
) -> None:
    await shop.make_role("desk", REFUND)
    await shop.make_role("plain")
    roles = [{"name": "editor", "title": "Editor", "scopes": [WRITE]}]
    assert (await shop.change(roles=roles)).status == 200
    shop.team.add("admin", "admin")
    await shop.team.token("admin")
    world.user("root@example.com")
    world.impersonate_in_sessions("admin@example.com", owner="root@example.com")
    claims = [{"claim": "x", "from": "user.id"}]

    for method, path, body in (
        ("PATCH", "/services/shop", {"scopes": []}),
        ("PATCH", "/services/shop", {"machine_scopes": [READ]}),
        ("PATCH", "/services/shop", {"claims": claims}),
        ("PATCH", "/services/shop", {"roles": [{"name": "editor", "title": "Editor"}]}),
        ("PATCH", "", {"metadata": {"x": 1}}),
        ("PATCH", "/roles/desk", {"scopes": []}),
        ("DELETE", "/roles/desk", None),
    ):
        refused = await shop.team.request("admin", method, path, body=body)
        assert (refused.status, refused.json.get("error_code")) == (403, "FORBIDDEN"), (method, path, body)
    assert (await shop.team.request("admin", "DELETE", "/roles/plain")).status == 204


async def test_userinfo_names_the_scopes_that_it_takes(shop: Shop, world: World) -> None:
    tokens = await shop.party.tokens(scope=READ)

    refused = await world.client.get("/auth/userinfo", token=tokens["access_token"])

    assert (refused.status, refused.json["error"]) == (403, "insufficient_scope")
    assert refused.headers["WWW-Authenticate"] == 'Bearer error="insufficient_scope", scope="openid"'


async def test_a_device_is_granted_scopes_likewise(shop: Shop, world: World) -> None:
    begun = await shop.party.send(
        "/auth/device/code", {"client_id": str(shop.party.client_id), "scope": f"openid {READ} other"}
    )
    session = (await world.sign_in(EMAIL, org_slug="acme", service_slug="shop")).session_id
    world.connection.execute("UPDATE device_codes SET session_id = %s", (session,))

    tokens = await shop.party.token(
        "urn:ietf:params:oauth:grant-type:device_code", device_code=begun.json["device_code"]
    )

    assert _scope(tokens.json) == f"openid {READ}"


async def test_for_a_customer_the_roles_of_the_service_alone_give_what_a_role_lists(shop: Shop, world: World) -> None:
    party = shop.party
    await shop.make_role("desk", WRITE)
    world.serve_customers(Service(id=party.service_id, client_id=party.client_id), "editor", "viewer")
    roles = [{"name": "editor", "title": "Editor", "scopes": [REFUND]}, {"name": "viewer", "title": "Viewer"}]
    assert (await shop.change(roles=roles)).status == 200
    # In the vendor's own organization the user has every scope, which counts for nothing there.
    shop.give_role("admin")
    customer = world.organization("beta")
    world.member(customer, world.user_id(EMAIL), "admin")
    record = world.customer(Service(id=party.service_id, client_id=party.client_id), customer)

    async def scopes_for(named: str) -> str:
        tokens = await world.sign_in(EMAIL, org_slug="acme", service_slug="shop", customer=named)
        return claims_of(tokens.access_token)["scope"]

    world.assign(record, "everyone", "viewer")
    assert await scopes_for("beta") == READ
    world.assign(record, "everyone", "editor")
    assert await scopes_for("beta") == f"{READ} {REFUND}"
