"""What disconnecting an application of a person ends, and what it keeps."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest

from core.organizations.departures import LinkOrigin
from core.services.applications import Application

NOW = datetime(2026, 2, 3, tzinfo=UTC)


def application(origin: LinkOrigin, *, sessions: int = 0, is_subscribed: bool = False) -> Application:
    """Return an application whose link came with something."""
    return Application(
        id=UUID(int=1),
        client_id=UUID(int=2),
        client_name="Shop",
        organization_id=UUID(int=3),
        org_slug="acme",
        organization_name="Acme",
        service_slug="shop",
        is_saml=False,
        scopes=[],
        created_at=NOW,
        last_used_at=NOW,
        sessions=sessions,
        origin=origin,
        is_subscribed=is_subscribed,
    )


def test_the_link_that_a_person_has_made_ends_unless_they_have_subscribed() -> None:
    assert not application(LinkOrigin.SELF).is_kept
    assert application(LinkOrigin.SELF, is_subscribed=True).is_kept


@pytest.mark.parametrize("origin", [LinkOrigin.MEMBERSHIP, LinkOrigin.KEY])
def test_the_link_that_an_organization_gave_stays(origin: LinkOrigin) -> None:
    assert application(origin).is_kept


def test_an_application_with_a_link_that_stays_can_be_disconnected_while_it_has_sessions() -> None:
    assert application(LinkOrigin.KEY, sessions=1).can_be_disconnected
    assert not application(LinkOrigin.KEY).can_be_disconnected
    assert application(LinkOrigin.SELF).can_be_disconnected
