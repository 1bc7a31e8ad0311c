"""The application that signs its users in to a service by SAML, as the console of an organization sets it up.

It is the service provider of `configuration.py`, with the certificate and its latest requests. The holder of a setup
link sets where it is; the organization decides who may sign in there, and what is signed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import astuple
from datetime import datetime
from typing import TYPE_CHECKING, Any

from core.errors import Conflict
from core.key_certificates import MadeCertificate, SamlCertificate
from core.lazy_dataclasses import dataclass
from core.limits import COUNTED_MAX
from core.organizations.access import Operation
from core.saml import certificates, configuration
from core.saml.configuration import CUSTOMER_FIELDS, DEFAULT_MAPPING, SamlConfiguration, SamlNotSetUp
from core.saml.requests import LastContact
from core.services import service_access
from core.services.services import Service

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class SamlConfigurationChanged(Conflict):
    """The configuration is not as the caller has seen it."""

    default_message = (
        "Another person has changed these settings meanwhile. Load the page in another window to see how they are now,"
        " and save again to replace them."
    )


class SamlCertificateChanged(Conflict):
    """The active certificate is not the one that the caller has seen."""

    default_message = "Another person has made a certificate meanwhile. It is shown here; use it, or replace it again."


@dataclass(frozen=True, slots=True, kw_only=True)
class SamlApplication:
    """The configuration of a service with its active certificate, and the latest requests of the application.

    `is_begun` says whether there is an application or a certificate to delete.
    """

    service: Service
    configuration: SamlConfiguration
    is_begun: bool
    certificate: SamlCertificate | None
    contact: LastContact

    @property
    def state(self) -> str:
        """A short text that changes with any setting; a form sends the one that its page has shown."""
        return hashlib.sha256(repr(astuple(self.configuration)).encode()).hexdigest()[:32]

    @property
    def certificate_id(self) -> str:
        """The id of the active certificate; empty without one."""
        return str(self.certificate.id) if self.certificate is not None else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SamlEnd:
    """What is about to be deleted; `sessions` counts the live sessions there, exactly up to `COUNTED_MAX`."""

    application: SamlApplication
    sessions: int


def _application_of(uow: UnitOfWork, service: Service) -> SamlApplication:
    view = uow.saml_configurations.view(service)
    return SamlApplication(
        service=service,
        configuration=view.configuration,
        is_begun=view.is_begun,
        certificate=uow.saml_certificates.active(service.organization_id, service.id),
        contact=uow.saml_configurations.last_contact(service) or LastContact(),
    )


def _described(present: SamlConfiguration, changes: Mapping[str, Any], *, email_attribute: str) -> Mapping[str, Any]:
    if changes["entity_id"] != present.entity_id:
        # Another application has another certificate and logout address.
        changes = {"sp_certificate": None, "slo_url": None, **changes}
    mapping = {
        **(present.attribute_mapping or DEFAULT_MAPPING),
        "email": email_attribute or DEFAULT_MAPPING["email"],
    }
    return {**changes, "enabled": True, "attribute_mapping": mapping}


def show(uow: UnitOfWork, slug: str, service_slug: str, operation: Operation = Operation.SAML_READ) -> SamlApplication:
    """Return the application of a service to a caller who may do the operation."""
    return _application_of(uow, service_access.authorize(uow, slug, service_slug, operation).service)


def set_application(
    uow: UnitOfWork,
    slug: str,
    service_slug: str,
    changes: Mapping[str, Any],
    *,
    email_attribute: str,
    seen_state: str | None = None,
) -> None:
    """Set where the application is, and enable SAML; raise `SamlConfigurationChanged`.

    `email_attribute` is the name under which assertions contain the address; empty for the usual one.
    """
    shown = _locked(uow, slug, service_slug, seen_state)
    changes = _described(shown.configuration, changes, email_attribute=email_attribute)
    configuration.change(uow, shown.service, changes)


def set_details(
    uow: UnitOfWork,
    slug: str,
    service_slug: str,
    changes: Mapping[str, Any],
    *,
    attributes: Mapping[str, str],
    seen_state: str,
) -> None:
    """Set who may sign in, what is signed and what assertions contain; raise `SamlConfigurationChanged`.

    `attributes` has the names of the fields of a user in assertions; an empty name leaves the field out. Attributes
    about a customer stay as they are.
    """
    shown = _locked(uow, slug, service_slug, seen_state)
    present = shown.configuration
    mapping = {
        **{field: name for field, name in (present.attribute_mapping or {}).items() if field in CUSTOMER_FIELDS},
        "email": (present.attribute_mapping or DEFAULT_MAPPING).get("email", DEFAULT_MAPPING["email"]),
        **{field: name for field, name in attributes.items() if name},
    }
    where = {"entity_id": present.entity_id, "acs_url": present.acs_url}
    configuration.change(uow, shown.service, {**where, **changes, "attribute_mapping": mapping})


def add_certificate(
    uow: UnitOfWork,
    slug: str,
    service_slug: str,
    made: MadeCertificate,
    *,
    valid_from: datetime,
    seen_certificate: str = "",
) -> None:
    """Make a certificate the active one, in place of the one that the caller has seen.

    Most applications ask for the certificate before they show their address, so this needs no enabled configuration.
    Raise `SamlCertificateChanged` when another one is active by now.
    """
    service = service_access.authorize_and_lock(uow, slug, service_slug, Operation.SAML_CERTIFICATE_CREATE).service
    if _application_of(uow, service).certificate_id != seen_certificate:
        raise SamlCertificateChanged
    certificates.add(uow, service, made, valid_from=valid_from)


def show_end(uow: UnitOfWork, slug: str, service_slug: str) -> SamlEnd:
    """Return what the caller is about to delete; raise `SamlNotSetUp` when there is nothing."""
    shown = show(uow, slug, service_slug, Operation.SAML_REMOVE)
    if not shown.is_begun:
        raise SamlNotSetUp
    sessions = uow.saml_sessions.count_live(shown.service, counted_max=COUNTED_MAX + 1)
    return SamlEnd(application=shown, sessions=sessions)


def remove(uow: UnitOfWork, slug: str, service_slug: str, shown_entity_id: str) -> None:
    """Delete the application that the caller was shown, with the certificates; raise `SamlNotSetUp`."""
    service = service_access.authorize_and_lock(uow, slug, service_slug, Operation.SAML_REMOVE).service
    configuration.remove(uow, service, shown_entity_id)


def _locked(uow: UnitOfWork, slug: str, service_slug: str, seen_state: str | None) -> SamlApplication:
    shown = _application_of(
        uow, service_access.authorize_and_lock(uow, slug, service_slug, Operation.SAML_CHANGE).service
    )
    if seen_state not in {None, shown.state}:
        raise SamlConfigurationChanged
    return shown
