"""The links to services that invitations gave: none is left behind by the membership with which it came."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.tenants.model import Violation

if TYPE_CHECKING:
    from tests.tenants.neighbourhood import Neighbourhood

LINKED: Final = "was linked to a service by an invitation"
# One whose subscription is paid stays; one that was made anew since is another link.
_LEFT_BEHIND: Final = """
    SELECT
    FROM   service_users l
    WHERE  l.organization_id = %s AND l.user_id = %s AND l.first_login_at = %s
      AND  NOT EXISTS (SELECT FROM memberships m
                       WHERE  m.organization_id = l.organization_id AND m.user_id = l.user_id)
      AND  NOT EXISTS (SELECT FROM subscriptions p
                       WHERE  p.service_id = l.service_id AND p.user_id = l.user_id
                         AND  p.billing_subscription_id IS NOT NULL AND p.status IN ('active', 'past_due'))
"""


def given(hood: Neighbourhood, of: str, user_id: str, address: str) -> None:
    """Record the link that an accepted invitation gave, unless there was one; raise `Violation` when it gave none."""
    organization = hood.organizations[of]
    if address not in organization.included:
        return
    organization.included.remove(address)
    party = organization.party
    found = hood.world.rows(
        "SELECT first_login_at FROM service_users WHERE organization_id = %s AND service_id = %s AND user_id = %s",
        party.organization_id,
        party.service_id,
        user_id,
    )
    if not found:
        raise Violation("link", f"{address} accepted an invitation of {of}, and got none of its services")
    if found[0][0] == hood.world.clock():
        hood.model.links[organization.slug, user_id] = found[0][0]
        hood.explained.add(LINKED)


def judge(hood: Neighbourhood) -> None:
    """Raise `Violation` when a link that came with a membership has outlived it."""
    ids = {one.slug: one.party.organization_id for one in hood.organizations.values()}
    for (slug, user_id), since in hood.model.links.items():
        if hood.world.rows(_LEFT_BEHIND, ids[slug], user_id, since):
            raise Violation(
                "link", f"{hood.address_of(user_id)} is linked to a service of {slug} by a membership that is over"
            )
