"""The claims of a product, in each token and answer: what its context knows, and nothing else."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from psycopg.types.json import Jsonb

from tests.application import Answer
from tests.shown_text import shows
from tests.world.builder import EMAIL, Service
from tests.world.directory import TOKEN, Directory, insert_scim_token
from tests.world.relying_party import RelyingParty, insert_relying_party
from tests.world.signing_in import claims_of
from tests.world.team import Team
from tests.world.world import World

SECRET = "a-value-of-somebody-else"


class Shop:
    """A service whose user is a member of its organization, where the owner manages it."""

    def __init__(self, world: World, party: RelyingParty, team: Team) -> None:
        self.world, self.party, self.team = world, party, team

    @property
    def service(self) -> Service:
        """The service."""
        return Service(id=self.party.service_id, client_id=self.party.client_id)

    async def claim(self, *claims: dict[str, Any]) -> Answer:
        """Set the claims of the service as its owner does."""
        return await self.team.request("owner", "PATCH", "/services/shop", body={"claims": list(claims)})

    async def say(self, **sources: str) -> None:
        """Let the service have these claims, in access tokens too."""
        claims = [{"claim": name, "from": source, "in_access_token": True} for name, source in sources.items()]
        answer = await self.claim(*claims)
        assert answer.status == 200, answer.text

    def note(self, service_id: UUID, organization_id: UUID, metadata: Any) -> None:
        """Note something about the user."""
        self.world.connection.execute(
            "INSERT INTO service_user_metadata VALUES (%s, %s, %s, %s)",
            (service_id, organization_id, self.world.user_id(EMAIL), Jsonb(metadata)),
        )

    def profile(self, organization_id: UUID, **columns: Any) -> None:
        """Let the directory of an organization say something about the user."""
        names = {"user_name": EMAIL, **columns}
        places = ", ".join(["%s"] * len(names))
        self.world.connection.execute(
            f"INSERT INTO scim_profiles (organization_id, user_id, updated_at, {', '.join(names)})"
            f" VALUES (%s, %s, now(), {places})".encode(),
            (organization_id, self.world.user_id(EMAIL), *names.values()),
        )


@pytest.fixture
def shop(world: World) -> Shop:
    """The service."""
    party = insert_relying_party(world)
    team = Team(world, party.organization_id, party.slug)
    team.add("owner", "owner")
    world.member(party.organization_id, world.user(EMAIL), "member")
    return Shop(world, party, team)


async def test_the_same_list_serves_every_token_and_answer(shop: Shop, world: World) -> None:
    await shop.claim(
        {"claim": "https://acme.example/role", "from": "membership.role"},
        {"claim": "roles", "from": "membership.role", "in_access_token": True},
        {"claim": "seats", "from": "service_user.metadata.seats", "in_access_token": True},
        {"claim": "missing", "from": "service_user.metadata.missing", "in_access_token": True},
    )
    shop.note(shop.party.service_id, shop.party.organization_id, {"seats": 5})
    expected = {"https://acme.example/role": "member", "roles": ["member"], "seats": 5}

    tokens = await shop.party.tokens(scope="openid")

    access, identity = claims_of(tokens["access_token"]), claims_of(tokens["id_token"])
    info = (await world.client.get("/auth/userinfo", token=tokens["access_token"])).json
    told = [
        (await shop.party.post("/auth/introspect", {"token": tokens[kind]})).json
        for kind in ("access_token", "refresh_token")
    ]
    for said in (identity, info, *told):
        assert {name: said[name] for name in expected} == expected
        assert "missing" not in said
    assert (access["roles"], access["seats"]) == (["member"], 5)
    assert "https://acme.example/role" not in access
    signed_in = await world.sign_in(EMAIL, org_slug="acme", service_slug="shop")
    assert claims_of(signed_in.access_token)["seats"] == 5
    # As the rows are now, and in the next token.
    world.connection.execute("UPDATE service_user_metadata SET metadata = '{\"seats\": 6}'")
    world.connection.execute("UPDATE memberships SET role = 'admin' WHERE user_id = %s", (world.user_id(EMAIL),))
    told_now = (await shop.party.post("/auth/introspect", {"token": tokens["access_token"]})).json
    assert (told_now["seats"], told_now["roles"]) == (6, ["admin"])
    refreshed = (await shop.party.token("refresh_token", refresh_token=tokens["refresh_token"])).json
    assert claims_of(refreshed["access_token"])["seats"] == claims_of(refreshed["id_token"])["seats"] == 6
    assert "seats" not in claims_of((await world.sign_in(EMAIL)).access_token)


async def test_a_service_without_claims_says_what_it_said(shop: Shop, world: World) -> None:
    before = claims_of((await shop.party.tokens(scope="openid"))["id_token"])
    await shop.say(x="user.id")
    await shop.claim()

    after = claims_of((await shop.party.tokens(scope="openid"))["id_token"])

    assert list(after) == list(before)


async def test_every_source_of_the_organizations_own_context(shop: Shop, world: World) -> None:
    organization_id = shop.party.organization_id
    shop.note(shop.party.service_id, organization_id, {"n": ["a", "b"]})
    shop.profile(organization_id, given_name="Ada", family_name="L.", display_name="Ada L.", external_id="e-1")
    world.connection.execute('UPDATE organizations SET metadata = \'{"region": "eu"}\'')
    await shop.say(
        a="organization.name",
        b="organization.tier",
        c="organization.metadata.region",
        d="service_user.metadata.n",
        e="directory.external_id",
        f="directory.name.given",
        g="user.name",
        h="subscription.plan",
        i="subscription.features",
        j="user.email_verified",
        k="directory.groups",
        l="customer.id",
        m="service_roles",
    )

    said = claims_of((await shop.party.tokens(scope="openid"))["access_token"])

    assert {name: said[name] for name in "abcdefghijk" if name in said} == {
        "a": "Acme",
        "b": "free",
        "c": "eu",
        "d": ["a", "b"],
        "e": "e-1",
        "f": "Ada",
        "g": "Ada L.",
        "h": "Free",
        "i": [],
        "j": True,
        "k": [],
    }
    assert not {"l", "m"} & said.keys()
    world.connection.execute("UPDATE users SET name = 'Ada Herself' WHERE email = %s", (EMAIL,))
    assert claims_of((await shop.party.tokens(scope="openid"))["access_token"])["g"] == "Ada Herself"


async def test_a_customers_context_says_nothing_of_the_vendors_membership_nor_of_what_is_not_shared(
    shop: Shop, world: World
) -> None:
    vendor = shop.party.organization_id
    customer = world.organization("beta")
    world.member(customer, world.user_id(EMAIL), "admin")
    world.serve_customers(shop.service, "editor")
    record = world.customer(shop.service, customer, external_id="b-1")
    world.assign(record, "everyone", "editor")
    shop.note(shop.party.service_id, vendor, {"of": "person and service"})
    shop.profile(vendor, external_id=SECRET, given_name=SECRET, display_name=SECRET)
    shop.profile(customer, external_id="theirs", given_name="Theirs", display_name="Of Beta")
    world.connection.execute(
        "UPDATE organizations SET metadata = CASE WHEN slug = 'acme' THEN '{\"of\": \"vendor\"}'::jsonb"
        f' ELSE \'{{"of": "{SECRET}"}}\' END'.encode()
    )
    world.connection.execute('UPDATE service_customers SET metadata = \'{"of": "record"}\'')
    await shop.say(
        a="membership.role",
        b="organization.metadata.of",
        c="service_user.metadata.of",
        d="customer.metadata.of",
        e="customer.role",
        f="service_roles",
        g="customer.external_id",
        h="directory.external_id",
        i="directory.name.given",
        j="directory.display_name",
        k="directory.groups",
        l="organization.slug",
        m="customer.slug",
    )

    async def said() -> dict[str, Any]:
        tokens = await world.sign_in(EMAIL, org_slug="acme", service_slug="shop", customer="beta")
        claims = claims_of(tokens.access_token)
        return {name: claims[name] for name in "abcdefghijklm" if name in claims}

    of_customer = {
        "b": "vendor",
        "c": "person and service",
        "d": "record",
        "e": "admin",
        "f": ["editor"],
        "g": "b-1",
        "l": "acme",
        "m": "beta",
    }
    assert await said() == of_customer
    world.connection.execute("UPDATE service_customers SET shares_directory = true")
    shared = await said()
    assert shared == of_customer | {"h": "theirs", "i": "Theirs", "j": "Of Beta"}
    assert not shows(str(shared), SECRET)
    # The groups are those that the customer's record names.
    team = Team(world, customer, "beta")
    insert_scim_token(world, customer, TOKEN, groups="directory")
    team.ids["ada"] = world.user_id(EMAIL)
    group = await Directory(team).create_group("Sales", "ada")
    assert "k" not in await said()
    world.connection.execute("UPDATE service_customers SET groups = %s", ([UUID(group)],))
    assert (await said())["k"] == [{"id": group, "name": "Sales"}]
    for form, told in (("names", ["Sales"]), ("ids", [group])):
        world.connection.execute("UPDATE services SET groups_as = %s", (form,))
        tokens = await world.sign_in(EMAIL, org_slug="acme", service_slug="shop", customer="beta")
        claims = claims_of(tokens.access_token)
        # The product's own claim, and the groups that the customer's record names.
        assert (claims["k"], claims["groups"]) == (told, told)


async def test_a_customer_does_not_say_what_the_products_own_groups_mean(shop: Shop, world: World) -> None:
    customer = world.organization("beta")
    world.member(customer, world.user_id(EMAIL), "admin")
    world.serve_customers(shop.service, "editor")
    world.customer(shop.service, customer)
    team = Team(world, customer, "beta")
    insert_scim_token(world, customer, TOKEN, groups="directory")
    team.ids["ada"] = world.user_id(EMAIL)
    group = await Directory(team).create_group("admins", "ada")
    world.connection.execute(
        "UPDATE service_customers SET groups = %s, metadata = %s", ([UUID(group)], Jsonb({"of": "gold"}))
    )

    async def said() -> list[Any]:
        signed_in = (await world.log_in(EMAIL, org_slug="acme", service_slug="shop", customer="beta")).json
        token = signed_in["access_token"]
        info = await world.client.get("/auth/userinfo", token=token)
        told = [
            (await shop.party.post("/auth/introspect", {"token": signed_in[kind]})).json
            for kind in ("access_token", "refresh_token")
        ]
        return [one.get("groups") for one in (claims_of(token), info.json, *told)]

    assert await said() == [[{"id": group, "name": "admins"}]] * 4
    await shop.say(groups="customer.metadata.of")
    assert await said() == [["gold"]] * 4
    await shop.say(groups="customer.metadata.missing")
    assert await said() == [None] * 4


async def test_the_vendors_context_says_nothing_of_a_customer_of_which_the_person_is_a_member(
    shop: Shop, world: World
) -> None:
    customer = world.organization("beta")
    world.member(customer, world.user_id(EMAIL), "admin")
    shop.profile(customer, external_id=SECRET, display_name=SECRET)
    world.serve_customers(shop.service, individuals="all")
    world.customer(shop.service, customer, shares_directory=True, external_id=SECRET)
    world.connection.execute(f'UPDATE service_customers SET metadata = \'{{"of": "{SECRET}"}}\''.encode())
    sources = ("customer.external_id", "customer.metadata.of", "directory.external_id", "directory.display_name")
    await shop.say(**{f"x{number}": source for number, source in enumerate((*sources, "customer.slug", "user.name"))})

    asked = await world.log_in(EMAIL, org_slug="acme", service_slug="shop")
    alone = {"customer_token": asked.json["customer_token"], "customer": None}
    signed_in = await world.client.post("/api/auth/customer", body=alone)
    assert signed_in.status == 200, signed_in.text

    said = claims_of(signed_in.json["access_token"])

    assert not [name for name in said if name.startswith(("x", "customer"))]


async def test_what_another_service_notes_is_in_no_claim(shop: Shop, world: World) -> None:
    sister = world.service(shop.party.organization_id, "sister")
    other = insert_relying_party(world, slug="globex", service_slug="other")
    for service_id, organization_id in (
        (sister.id, shop.party.organization_id),
        (other.service_id, other.organization_id),
    ):
        shop.note(service_id, organization_id, {"n": SECRET})
    world.connection.execute("UPDATE organizations SET metadata = %s WHERE slug = 'globex'", (Jsonb({"n": SECRET}),))
    await shop.say(x="service_user.metadata.n", y="organization.metadata.n")

    tokens = await shop.party.tokens(scope="openid")

    assert not {"x", "y"} & claims_of(tokens["id_token"]).keys()


async def test_a_membership_that_does_not_count_says_nothing(shop: Shop, world: World) -> None:
    shop.profile(shop.party.organization_id, external_id="e-1", display_name="Ada L.")
    await shop.say(x="membership.role", y="directory.external_id")
    tokens = await shop.party.tokens(scope="openid")
    assert claims_of(tokens["access_token"])["y"] == "e-1"

    world.connection.execute("UPDATE memberships SET suspended_at = now() WHERE user_id = %s", (world.user_id(EMAIL),))

    told = (await shop.party.post("/auth/introspect", {"token": tokens["access_token"]})).json
    assert not {"x", "y"} & told.keys()


@pytest.mark.parametrize(
    "name",
    [
        *("sub", "iss", "aud", "act", "cnf", "scope", "sid", "amr", "SUB", "Act", "client_id", "role", "email"),
        *("trust_anchor", "resOwnerId", "resownerid", "consumerPlmnId"),
        *("gatehouse_admin", "s\u0443b", "sub\u200b", "nul\0", "<a>", ""),
    ],
)
async def test_a_claim_that_has_a_meaning_or_an_odd_name_is_refused(shop: Shop, name: str) -> None:
    refused = await shop.claim({"claim": name, "from": "user.id"})

    assert refused.status == 400, refused.text
    assert refused.json["details"][0]["field"].startswith("claims")


async def test_claims_are_the_members_to_set(shop: Shop, world: World) -> None:
    good = {"claim": "x", "from": "user.id", "in_access_token": False}
    for claims in (
        [{"claim": "x", "from": "user.password"}],
        [{"claim": "x"}],
        [{"claim": "x", "source": "user.id"}],
        [good, good],
        [{"claim": f"c{number}", "from": "user.id"} for number in range(31)],
    ):
        assert (await shop.claim(*claims)).status == 400, claims
    shop.team.add("viewer", "member")
    refused = await shop.team.request("viewer", "PATCH", "/services/shop", body={"claims": [good]})
    assert refused.status == 403
    answer = await shop.claim(good)
    assert answer.json["claims"] == [good]
    assert (await shop.team.request("owner", "GET", "/services/shop")).json["claims"] == [good]
    [*_, (_, _, _, details)] = world.audit_entries("service.updated")
    assert details["changes"]["claims"]["to"] == [{"claim": "x", "source": "user.id", "in_access_token": False}]


async def test_groups_are_said_once(shop: Shop) -> None:
    await shop.claim({"claim": "groups", "from": "directory.groups"})

    refused = await shop.team.request("owner", "PATCH", "/services/shop", body={"group_claims": ["all"]})

    assert (refused.status, refused.json["details"][0]["field"]) == (400, "claims")
    assert (
        await shop.team.request("owner", "PATCH", "/services/shop", body={"group_claims": ["all"], "claims": []})
    ).status == 200
    assert (await shop.claim({"claim": "GROUPS", "from": "directory.groups"})).status == 400


async def test_what_does_not_fit_into_an_access_token_is_told_elsewhere(shop: Shop, world: World) -> None:
    text = "\N{GRINNING FACE}" * 1020
    shop.note(shop.party.service_id, shop.party.organization_id, {"n": text})
    await shop.say(x="service_user.metadata.n", y="user.id")

    tokens = await shop.party.tokens(scope="openid")

    access = claims_of(tokens["access_token"])
    assert claims_of(tokens["id_token"])["x"] == text
    assert ("x" in access, access["y"]) == (False, str(world.user_id(EMAIL)))
    # So the token is accepted where it was issued.
    assert (await world.client.get("/auth/userinfo", token=tokens["access_token"])).json["x"] == text
    told = await shop.party.post("/auth/introspect", {"token": tokens["access_token"]})
    assert told.json["x"] == text
