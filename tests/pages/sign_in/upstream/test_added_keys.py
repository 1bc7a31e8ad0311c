"""Changes after which further answers sign people in, although linked people stay linked."""

from __future__ import annotations

from typing import Any

import pytest

from tests.clock import SettableClock
from tests.identity_provider import IdentityProvider
from tests.openid_provider import CLIENT_ID, CLIENT_SECRET
from tests.service_provider import key_pair
from tests.upstream_provider import serving as serving_answers
from tests.world.openid_connection import CONNECTIONS, prove_domain
from tests.world.saml_connection import SamlAcme, saml_acme
from tests.world.setups import path_of
from tests.world.signing_in import SignedInUser
from tests.world.visitor import Visitor
from tests.world.world import World, assert_refused

UPSTREAM_PART = "/app/setup/parts/upstream"


@pytest.fixture
async def acme(world: World, visitor: Visitor, clock: SettableClock) -> SamlAcme:
    """Acme, with its SAML connection and its domain."""
    return await saml_acme(world, visitor, IdentityProvider(now=clock))


async def integrator(acme: SamlAcme) -> SignedInUser:
    """Return a member who manages integrations, and neither members nor roles."""
    acme.world.custom_role(acme.organization_id, "integrator", "integrations.manage")
    return await acme.world.signed_in_member(acme.organization_id, "integrator", "insider@acme.example")


async def test_once_people_are_linked_another_key_beside_theirs_takes_the_right_to_give_every_role(
    acme: SamlAcme,
) -> None:
    insider = await integrator(acme)
    await acme.sign_in()
    grown = acme.idp.metadata(key_pair("idp of evil"))

    refused = await insider.patch(f"{CONNECTIONS}/{acme.connection_id}", {"metadata_xml": grown})

    assert_refused(refused, 403, "FORBIDDEN")
    assert (await acme.change(metadata_xml=grown)).status == 200
    assert acme.world.value("SELECT count(*) FROM identities") == 1


async def test_keys_in_place_of_theirs_do_not_and_unlink_them(acme: SamlAcme) -> None:
    insider = await integrator(acme)
    await acme.sign_in()
    evil = acme.of(key=key_pair("idp of evil"))

    replaced = await insider.patch(f"{CONNECTIONS}/{acme.connection_id}", {"metadata_xml": evil.idp.metadata()})

    assert replaced.status == 200
    assert acme.world.value("SELECT count(*) FROM identities") == 0


async def test_once_people_are_linked_an_address_of_metadata_takes_it_too(acme: SamlAcme) -> None:
    insider = await integrator(acme)
    await acme.sign_in()

    def publish(_request: Any, _path: str, _authorization: str) -> tuple[int, str, bytes]:
        return 200, "application/xml", acme.idp.metadata().encode()

    with serving_answers(publish) as url:
        refused = await insider.patch(f"{CONNECTIONS}/{acme.connection_id}", {"metadata_url": f"{url}/metadata"})

    assert_refused(refused, 403, "FORBIDDEN")


async def test_where_people_join_with_a_role_its_first_key_takes_the_right_to_give_it(
    world: World, clock: SettableClock
) -> None:
    organization_id = world.organization("acme")
    owner = await world.signed_in_member(organization_id, email="owner@acme.example")
    world.custom_role(organization_id, "deputy", "org.members.manage", "org.roles.manage", "audit_logs.view")
    world.custom_role(organization_id, "integrator", "integrations.manage")
    made = await owner.post(CONNECTIONS, {"type": "saml", "name": "Acme", "joins_as": "deputy"})
    await prove_domain(world, owner, made.json["id"])
    insider = await world.signed_in_member(organization_id, "integrator", "insider@acme.example")
    evil = IdentityProvider(now=clock, key=key_pair("idp of evil"))

    refused = await insider.patch(f"{CONNECTIONS}/{made.json['id']}", {"metadata_xml": evil.metadata()})

    assert_refused(refused, 403, "FORBIDDEN")


async def test_who_may_not_give_what_a_role_allows_lets_nobody_join_with_it(acme: SamlAcme) -> None:
    acme.world.custom_role(acme.organization_id, "auditor", "audit_logs.view")
    rights = ("integrations.manage", "org.members.manage", "org.roles.manage")
    acme.world.custom_role(acme.organization_id, "manager", *rights)
    manager = await acme.world.signed_in_member(acme.organization_id, "manager", "manager@acme.example")

    refused = await manager.patch(f"{CONNECTIONS}/{acme.connection_id}", {"joins_as": "auditor"})

    assert_refused(refused, 403, "FORBIDDEN")
    assert "allows more than yours" in refused.text


class TestSetupLink:
    async def test_its_holder_makes_no_second_connection_once_people_are_linked(self, acme: SamlAcme) -> None:
        await acme.sign_in()
        link = await acme.owner.post("/api/organizations/acme/setup-links", {"parts": ["upstream"]})
        holder = Visitor(acme.world.client)
        path = path_of(link.json)
        await holder.submit(await holder.open(path), path)
        page = await holder.open(f"{UPSTREAM_PART}?provider=oidc")
        form = {"type": "oidc", "name": "Second", "issuer": "https://idp.evil.example", "client_id": CLIENT_ID}

        refused = await holder.submit(page, UPSTREAM_PART, {**form, "client_secret": CLIENT_SECRET})

        assert refused.status == 409
        assert "People sign in by this connection already" in refused.text
        assert acme.world.value("SELECT count(*) FROM upstream_connections") == 1
