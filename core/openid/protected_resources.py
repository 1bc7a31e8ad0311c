"""The APIs of services as protected resources (RFC 9728): the audiences in their records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.errors import NotFound

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class AudienceUnknown(NotFound):
    """No service of an active organization has one of these audiences, or none of the custom domain's organization."""

    default_message = "No service has this audience. Register it with the service first."


def find(uow: UnitOfWork, candidates: Sequence[str]) -> str:
    """Return the address that is the audience of a service; raise `AudienceUnknown` when none is."""
    host = uow.origin.custom_host
    audience = uow.clients.audience_among(candidates, host.organization_id if host is not None else None)
    if audience is None:
        raise AudienceUnknown
    return audience
