"""A caller for tests of core: an account and a session, without a context and limits; `changed` gives it others."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from core.sessions.caller_limits import CallerLimits
from core.sessions.callers import Caller, CallerAccount, CallerSession
from core.sessions.places import CallerPlace, CallerService

START: Final = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
ADA: Final = Caller(
    account=CallerAccount(id=UUID(int=1), email="ada@example.com", email_verified_at=START, created_at=START),
    session=CallerSession(id=UUID(int=2), amr=["pwd"], authenticated_at=START),
    place=CallerPlace(),
    limits=CallerLimits(),
)
IN_ORGANIZATION: Final = replace(
    ADA, place=CallerPlace(organization_id=UUID(int=3), organization_slug="acme", organization_status="active")
)
AT_SERVICE: Final = replace(
    IN_ORGANIZATION,
    place=replace(
        IN_ORGANIZATION.place, service=CallerService(id=UUID(int=4), slug="shop", client_id=UUID(int=5), is_user=True)
    ),
)


def changed(caller: Caller, **parts: dict[str, Any]) -> Caller:
    """Return a caller with other values of its parts; the fields of its service are passed as `service`."""
    place = replace(caller.place, **parts.pop("place", {}))
    if "service" in parts:
        assert place.service is not None
        place = replace(place, service=replace(place.service, **parts.pop("service")))
    return replace(caller, place=place, **{name: replace(getattr(caller, name), **of) for name, of in parts.items()})
