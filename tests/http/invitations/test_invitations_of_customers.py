"""An invitation joins only the organization that has sent it, whatever the answer to it contains.

The class of CVE-2026-1529: an invitation whose content was altered, and which then joined another organization.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest

from tests.application import Answer
from tests.world.builder import PASSWORD, Service
from tests.world.signing_in import SignedInUser, claims_of
from tests.world.world import World, assert_refused

GUEST = "guest@example.com"
ACCEPT = "/api/invitations/accept"
AT_SHOP: dict[str, Any] = {"org_slug": "vendor", "service_slug": "shop"}


@dataclass
class Invitations:
    """Two customers of one service, each with an invitation of the same guest: its id, token and proof."""

    world: World
    owners: dict[str, SignedInUser]
    sent: dict[str, tuple[str, str, str]]

    async def accept(self, body: Any) -> Answer:
        """Answer an invitation."""
        return await self.world.client.post(ACCEPT, body=body, address=next(self.world.addresses))

    def organizations(self) -> list[str]:
        """List the organizations that the guest is a member of."""
        return [
            slug
            for (slug,) in self.world.rows(
                """
                SELECT   o.slug
                FROM     memberships m
                JOIN     organizations o ON o.id = m.organization_id
                JOIN     users u ON u.id = m.user_id
                WHERE    u.email = %s
                ORDER BY o.slug
                """,
                GUEST,
            )
        ]

    async def come(self, customer: str) -> Answer:
        """Sign in to the service for a customer."""
        body = {"email": GUEST, "password": PASSWORD, **AT_SHOP, "customer": customer}
        return await self.world.client.post("/api/auth/login", body=body, address=next(self.world.addresses))


@pytest.fixture
async def invitations(world: World) -> Invitations:
    """Globex and Initech, customers of the shop of a vendor, who both invite a guest with an account."""
    world.user(GUEST)
    shop: Service = world.service(world.organization("vendor"), "shop")
    world.serve_customers(shop, "editor", individuals="none")
    found = Invitations(world, {}, {})
    for slug in ("globex", "initech"):
        organization_id = world.organization(slug)
        owner_id: UUID = world.user(f"owner@{slug}.example")
        world.member(organization_id, owner_id, "owner")
        world.customer(shop, organization_id)
        owner = await world.sign_in_as(owner_id, f"owner@{slug}.example")
        answer = await owner.post(f"/api/organizations/{slug}/invitations", {"email": GUEST, "role": "member"})
        assert answer.status == 200, answer.text
        [mail] = [one for one in await world.mails() if one.values.get("token") == answer.json["token"]]
        found.owners[slug] = owner
        found.sent[slug] = (answer.json["invitation"]["id"], mail.values["token"], mail.values["proof"])
    return found


async def test_what_an_answer_names_besides_changes_neither_the_organization_nor_the_role(
    invitations: Invitations,
) -> None:
    _, token, proof = invitations.sent["globex"]
    named = {"org_slug": "initech", "organization": "initech", "organization_id": invitations.sent["initech"][0]}

    answer = await invitations.accept(
        {"token": token, "proof": proof, "role": "admin", "email": "eve@example.com", "services": ["shop"], **named}
    )
    come = await invitations.come("globex")

    assert answer.status == 200, answer.text
    assert invitations.organizations() == ["globex"]
    claims = claims_of(come.json["access_token"])
    assert (claims["customer"], claims["customer_role"]) == ("globex", "member")
    assert_refused(await invitations.come("initech"), 403, "FORBIDDEN")


async def test_a_token_with_the_proof_of_another_organizations_invitation_joins_neither(
    invitations: Invitations,
) -> None:
    (_, globex, globex_proof), (_, initech, initech_proof) = invitations.sent["globex"], invitations.sent["initech"]

    for token, proof in ((globex, initech_proof), (initech, globex_proof)):
        assert (await invitations.accept({"token": token, "proof": proof})).status == 400
    assert invitations.organizations() == []
    assert_refused(await invitations.come("globex"), 403, "FORBIDDEN")


async def test_a_token_that_is_altered_joins_nothing(invitations: Invitations) -> None:
    invitation_id, token, proof = invitations.sent["globex"]
    _, other, _ = invitations.sent["initech"]
    altered = (
        *(f"{token[:index]}{other[index:]}" for index in (8, 18, 23, 30)),
        f"{token}.{other}",
        token[:-1] + ("0" if token[-1] != "0" else "1"),
        invitation_id,
        proof,
    )

    for text in altered:
        assert (await invitations.accept({"token": text, "proof": proof})).status in {400, 404}, text
    assert invitations.organizations() == []


async def test_the_managers_of_another_customer_neither_accept_nor_change_an_invitation(
    invitations: Invitations,
) -> None:
    invitation_id, _, _ = invitations.sent["globex"]
    owner = invitations.owners["initech"]

    accepted = await owner.post(f"/api/organizations/initech/invitations/{invitation_id}/accept", {})
    elsewhere = await owner.post(f"/api/organizations/globex/invitations/{invitation_id}/accept", {})

    assert (accepted.status, elsewhere.status) == (404, 403)
    assert invitations.organizations() == []


async def test_an_invitation_that_was_withdrawn_opens_the_service_for_no_customer(invitations: Invitations) -> None:
    invitation_id, token, proof = invitations.sent["globex"]
    withdrawn = await invitations.owners["globex"].post(f"/api/organizations/globex/invitations/{invitation_id}", {})

    answer = await invitations.accept({"token": token, "proof": proof})

    assert withdrawn.status == 200, withdrawn.text
    assert answer.status >= 400
    assert_refused(await invitations.come("globex"), 403, "FORBIDDEN")
