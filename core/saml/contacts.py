"""The latest requests of a service's service provider, for the people who set it up."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from core.lazy_dataclasses import dataclass
from core.saml.messages import MessageRefused
from core.saml.providers import SamlProvider

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# Strangers can send refused messages too, so one in this time is kept.
ERROR_KEPT_EVERY: Final = timedelta(seconds=1)
# The precision of the time of the last request; more often would make the configuration of a service a busy row.
REQUEST_KEPT_EVERY: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class LastContact:
    """When the service provider last sent an acceptable request, and the last one that was refused."""

    last_request_at: datetime | None = None
    last_error: str | None = None
    last_error_at: datetime | None = None


def record_request(uow: UnitOfWork, provider: SamlProvider) -> None:
    """Record that a request of the service provider was accepted."""
    uow.saml_configurations.record_request(provider, at=uow.now, unless_since=uow.now - REQUEST_KEPT_EVERY)


def record_refusal(uow: UnitOfWork, provider: SamlProvider, refused: MessageRefused) -> None:
    """Record why a request to the identity provider of a service was refused."""
    uow.saml_configurations.record_error(provider, refused.problem, at=uow.now, unless_since=uow.now - ERROR_KEPT_EVERY)
