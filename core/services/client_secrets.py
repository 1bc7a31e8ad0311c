"""The secrets of confidential services: they are shown once, and replaced by a rotation."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from core.errors import BadRequest
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation
from core.secrets import Secret, hash_token
from core.services import admission, management, service_access
from core.services.admission import AssignedService

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# How long the previous secret may stay valid after a rotation.
KEEP_PREVIOUS_HOURS_MAX: Final = 168


class ServiceNotConfidential(BadRequest):
    """Mobile and desktop services cannot keep a secret."""

    default_message = "Only web and api services have a secret. Mobile and desktop services use PKCE."


class ServiceHasKeysAlone(BadRequest):
    """A service with a security profile authenticates by its keys alone."""

    default_message = (
        "This service has a security profile, so it has no secret: it authenticates by private_key_jwt. To replace its"
        " keys, change its jwks, or publish other keys at its jwks_uri."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RotatedSecret(AssignedService):
    """A service with its new secret."""

    client_secret: Secret


def rotate_secret(
    uow: UnitOfWork, slug: str, service_slug: str, *, keep_previous_hours: int = 0, seen: str | None = None
) -> RotatedSecret:
    """Replace the secret of a confidential service; the old one is refused after these hours.

    Raise `ServiceNotConfidential` or `ServiceHasKeysAlone` for a service without one, and `ServiceChanged` as
    `management.change` does.
    """
    authorized = service_access.authorize_and_lock(uow, slug, service_slug, Operation.SERVICE_SECRET_ROTATE)
    service = authorized.service
    if seen is not None:
        management.require_seen(service, seen)
    if not service.service_type.is_confidential:
        raise ServiceNotConfidential
    if not service.has_client_secret:
        raise ServiceHasKeysAlone
    secret = uow.randomness.token()
    kept_until = uow.now + timedelta(hours=keep_previous_hours) if keep_previous_hours else None
    uow.services.set_client_secret(service, hash_token(secret.reveal()), previous_until=kept_until)
    management.record_maker_of_secret(uow, service, authorized.caller.maker_id)
    kept = {"previous_secret_hours": keep_previous_hours} if keep_previous_hours else {}
    management.record(uow, AuditAction.SERVICE_UPDATED, service, change="client_secret_rotated", **kept)
    return RotatedSecret(
        service=replace(service, previous_secret_expires_at=kept_until, updated_at=uow.now),
        assignments=admission.shown(uow, authorized, service),
        client_secret=secret,
    )
