"""Invitations that include services: of the own organization, and of another one, which is refused."""

from __future__ import annotations

from tests.tenants.giving import invite
from tests.tenants.model import Violation
from tests.tenants.neighbourhood import A, B, Neighbourhood
from tests.tenants.taking import Story, step


@step(Story.GIVING, Story.LEAVING)
async def invites_to_service(hood: Neighbourhood, of: str, address: str, on_behalf: bool) -> None:
    """The owner invites to the service of the organization as well."""
    await invite(hood, of, address, on_behalf=on_behalf, services=[hood.organizations[of].party.service_slug])


@step(Story.GIVING)
async def invites_to_service_of_other(hood: Neighbourhood, of: str, address: str) -> None:
    """The owner names a service that the other organization alone has."""
    other = hood.organizations[B if of == A else A]
    body = {"email": address, "role": "member", "services": [other.only_service]}
    answer = await hood.by_owner(of, "POST", "/invitations", body)
    if answer.status == 200:
        raise Violation("link", f"{of} has invited {address} to a service of another organization")
