"""An organization that its owner deletes and restores: nothing leads to it meanwhile, and what it had issued ended."""

from __future__ import annotations

from typing import Final

from tests.tenants import desk_rows, keyrings, living, machines, standing
from tests.tenants.acting import sign_in
from tests.tenants.judging import judge, select
from tests.tenants.model import Ended, Violation
from tests.tenants.neighbourhood import Neighbourhood, Organization, issue
from tests.tenants.taking import Story, step
from tests.world.visitor import Visitor

CLOSED: Final = "a deleted organization was closed"


@step(Story.DELETING, Story.SWITCHING)
async def works_at(hood: Neighbourhood, address: str, of: str) -> None:
    """The owner of an address works in an organization that has added them, which confirms it, and at its service."""
    person = hood.model.owner_of(address)
    assert person is not None
    held = await sign_in(hood, person, address)
    if held is not None:
        await select(hood, held, hood.organizations[of])
        living.confirmed(hood, hood.organizations[of].slug, address)
        await sign_in(hood, person, address, of)


@step(Story.DELETING, Story.SERVING)
async def owner_deletes_and_restores(hood: Neighbourhood, of: str) -> None:
    """The owner deletes the organization, where it can be restored, and restores it."""
    organization = hood.organizations[of]
    organization_id = organization.party.organization_id
    if hood.world.rows("SELECT had_other_members FROM organizations WHERE id = %s", organization_id) == [(False,)]:
        return
    answer = await hood.by_owner(of, "DELETE", "")
    assert answer.status == 204, answer.text
    hood.model.delete_organization(organization.slug)
    organization.included.clear()
    present = hood.desk.present(of) if hood.desk is not None else None
    if present is not None:
        present.is_ended = True
    await _judge_closed(hood, of)
    await _restore(hood, organization)
    await _judge_issued(hood, of)
    # Its key went with the organization.
    machine = hood.machines.pop(of, None)
    if machine is not None:
        await machines.judge_ended(hood, of, machine)
    ring = hood.keyrings.pop(of, None)
    if ring is not None:
        await keyrings.judge_ended(hood, of, ring, whole=True)
    issue(hood.world, organization)
    if present is not None and hood.desk is not None:
        desk_rows.begin(hood, hood.desk, of)


async def _judge_closed(hood: Neighbourhood, of: str) -> None:
    """Raise `Violation` when a session or a credential opens an organization that is deleted."""
    organization = hood.organizations[of]
    await _judge_issued(hood, of)
    await standing.recheck(hood)
    for held in [one for one in hood.model.sessions if not one.is_dead]:
        await judge(hood, held)
        for path in ("", "/members"):
            answer = await hood.send("GET", organization.path + path, token=held.access_token, by=held.person)
            _require_closed(answer.status, f"{held}, and opens {organization.path}{path}")
        listed = await hood.send("GET", "/api/organizations", token=held.access_token, by=held.person)
        if listed.status == 200 and any(one["organization"]["slug"] == organization.slug for one in listed.json):
            raise Violation(f"outlived {Ended.ORGANIZATION}", f"{held}, and finds {organization.slug} in their list")
    context = {"org_slug": organization.slug, "service_slug": organization.party.service_slug}
    for person in (hood.alice, hood.bob):
        body = {"email": person.addresses[0], "password": person.password}
        answer = await hood.send("POST", "/api/auth/login", body | context, by=person)
        _require_closed(answer.status, f"{person.name} signs in to the service of {organization.slug}")
    hood.explained.add(CLOSED)


async def _judge_issued(hood: Neighbourhood, of: str) -> None:
    """Raise `Violation` when a credential that an organization had issued before its deletion opens something."""
    organization = hood.organizations[of]
    for token in (organization.scim_token, organization.directory_token, organization.weak_token):
        answer = await hood.send("GET", "/scim/v2/Users", token=token)
        _require_closed(answer.status, f"a SCIM token of {organization.slug} is in force")
    answer = await hood.by_key(of, "GET", "/users")
    _require_closed(answer.status, f"a key of {organization.slug} is in force")
    for address, _, token in organization.invitations:
        answer = await hood.send("POST", "/api/invitations/accept", {"token": token})
        _require_closed(answer.status, f"an invitation of {organization.slug} to {address} is open")


async def _restore(hood: Neighbourhood, organization: Organization) -> None:
    """Restore an organization on the page of its owner."""
    browser, path = Visitor(hood.world.client), f"/app/deleted-organizations/{organization.slug}"
    await browser.sign_in(organization.owner)
    answer = await browser.submit(await browser.open(path), path)
    assert answer.status == 200, answer.text


def _require_closed(status: int, message: str) -> None:
    if status == 200:
        raise Violation(f"outlived {Ended.ORGANIZATION}", message)
