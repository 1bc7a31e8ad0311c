"""The name that a connection sends counts as the directory's, where no SCIM directory has sent one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.clock import SettableClock
from tests.identity_provider import IdentityProvider
from tests.world.openid_acme import Acme
from tests.world.saml_connection import saml_acme
from tests.world.visitor import Visitor
from tests.world.world import World

ADA = "ada@acme.example"
NAMES = "SELECT name, given_name, family_name FROM identities"


@pytest.fixture
async def members(acme: Acme) -> Acme:
    """Acme, whose connection makes members."""
    await acme.change(joins_as="member")
    return acme


async def name_of(acme: Acme) -> str | None:
    """Return what Acme calls Ada among its members."""
    listed = (await acme.owner.get("/api/organizations/acme/members")).json["members"]
    return next(one["user"]["name"] for one in listed if one["user"]["email"] == ADA)


async def sign_in(acme: Acme, **claims: Any) -> None:
    """Sign in with these claims of names."""
    acme.provider.claims = claims
    acme.visitor.cookies.clear()
    await acme.sign_in()


async def test_what_was_said_last_is_told(members: Acme) -> None:
    await sign_in(members, name="Ada Byron", given_name="Ada", family_name="Byron")
    assert await name_of(members) == "Ada Byron"

    await sign_in(members, given_name="Ada", family_name="Lovelace")
    assert await name_of(members) == "Ada Lovelace"
    # A provider that says nothing changes nothing.
    await sign_in(members)
    assert await name_of(members) == "Ada Lovelace"


async def test_another_claim_may_be_named(members: Acme) -> None:
    await members.change(attribute_mapping={"name": "display", "given_name": "first", "family_name": "last"})

    await sign_in(members, name="ada7", display="Ada Byron", first="Ada", last="Byron")

    assert members.world.rows(NAMES) == [("Ada Byron", "Ada", "Byron")]


async def test_the_directory_and_the_person_come_before_the_connection(members: Acme, world: World) -> None:
    await sign_in(members, name="Ada of the connection")
    world.connection.execute(
        """
        INSERT INTO scim_profiles (organization_id, user_id, user_name, given_name, updated_at)
        VALUES (%s, %s, %s, 'Ada of SCIM', now())
        """,
        (members.organization_id, world.user_id(ADA), ADA),
    )
    assert await name_of(members) == "Ada of SCIM"

    world.connection.execute("UPDATE scim_profiles SET given_name = NULL")
    assert await name_of(members) == "Ada of the connection"

    world.connection.execute("UPDATE users SET name = 'Ada herself' WHERE email = %s", (ADA,))
    assert await name_of(members) == "Ada herself"


async def test_tokens_of_the_organization_tell_the_name_and_no_other_organization_sees_it(
    members: Acme, world: World
) -> None:
    world.member(members.organization_id, world.user(ADA))
    members.link(ADA)
    await sign_in(members, name="Ada Byron", given_name="Ada", family_name="Byron")
    globex_id = world.organization("globex")
    world.member(globex_id, world.user_id(ADA))

    here = await world.client.get("/api/user", token=(await world.sign_in(ADA, org_slug="acme")).access_token)
    there = await world.client.get("/api/user", token=(await world.sign_in(ADA, org_slug="globex")).access_token)

    assert (here.json["name"], there.json["name"]) == ("Ada Byron", None)


async def test_the_attributes_of_an_assertion_name_a_person(
    world: World, visitor: Visitor, clock: SettableClock
) -> None:
    acme = await saml_acme(world, visitor, IdentityProvider(now=clock))
    attributes = {
        "urn:oid:1.2.840.113549.1.9.1.1": ADA,
        "urn:oid:2.5.4.42": "Ada",
        "urn:oid:2.5.4.4": "Byron",
    }

    page = await acme.of(attributes=attributes).sign_in()

    assert ADA in page.text
    assert world.rows(NAMES) == [(None, "Ada", "Byron")]


async def test_a_customer_s_product_hears_of_another_name(members: Acme, world: World) -> None:
    await sign_in(members, name="Ada Byron")
    vendor_id = world.organization("vendor")
    world.customer(world.service(vendor_id, "desk"), members.organization_id)
    world.connection.execute("DELETE FROM customer_user_checks")

    await sign_in(members, name="Ada Byron")
    assert world.value("SELECT count(*) FROM customer_user_checks") == 0
    await sign_in(members, name="Ada Lovelace")

    assert world.value("SELECT count(*) FROM customer_user_checks") > 0
