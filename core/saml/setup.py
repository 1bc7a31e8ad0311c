"""Setting up SAML with a setup link (decisions 13.7): what its holder enters, and what the application has sent since.

The holder says where the service provider is. Who may sign in there stays with the organization.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from typing import TYPE_CHECKING, Any

from core.key_certificates import MadeCertificate
from core.lazy_dataclasses import dataclass
from core.organizations import setup_links
from core.organizations.setup_links import OpenSetup, Part, SetupLinkDead
from core.saml import applications, certificates, configuration
from core.saml.applications import SamlApplication
from core.saml.configuration import SamlNotSetUp
from core.services.services import Service

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class SamlSetup(SamlApplication):
    """The service of a link with its application."""

    setup: OpenSetup


def show(uow: UnitOfWork, cookie: str) -> SamlSetup:
    """Return what the holder of a link sees; raise `SetupLinkDead`."""
    setup = setup_links.present(uow, cookie, Part.SAML)
    shown = applications.application_of(uow, _service(uow, setup))
    return SamlSetup(setup=setup, **{one.name: getattr(shown, one.name) for one in fields(shown)})


def configure(uow: UnitOfWork, cookie: str, changes: Mapping[str, Any], *, email_attribute: str) -> None:
    """Set where the service provider is, and enable SAML.

    `email_attribute` is the name under which assertions contain the address; empty for the usual one.
    """
    setup = setup_links.lock(uow, cookie, Part.SAML)
    service = _service(uow, setup)
    present = uow.saml_configurations.view(service).configuration
    changes = applications.described(present, changes, email_attribute=email_attribute)
    configuration.change(uow, service, changes, **setup.recorded)


def add_certificate(uow: UnitOfWork, cookie: str, made: MadeCertificate, *, valid_from: datetime) -> None:
    """Make a certificate the active one, unless the service has one already.

    Most applications want the certificate before they say where they are, so this needs no enabled configuration.
    """
    setup = setup_links.lock(uow, cookie, Part.SAML)
    service = _service(uow, setup)
    if uow.saml_certificates.active(service) is None:
        certificates.add(uow, service, made, valid_from=valid_from, **setup.recorded)


def show_ends(uow: UnitOfWork, cookie: str) -> SamlSetup:
    """Return what the holder of a link is about to delete; raise `SamlNotSetUp` when there is nothing."""
    shown = show(uow, cookie)
    if not shown.is_begun:
        raise SamlNotSetUp
    return shown


def remove(uow: UnitOfWork, cookie: str, shown_entity_id: str) -> None:
    """Delete the service provider that the holder was shown, with the certificates; raise `SamlNotSetUp`."""
    setup = setup_links.lock(uow, cookie, Part.SAML)
    configuration.remove(uow, _service(uow, setup), shown_entity_id, **setup.recorded)


def _service(uow: UnitOfWork, setup: OpenSetup) -> Service:
    assert setup.service_id is not None, "a link with the part saml has a service"
    service = uow.services.by_id(setup.organization_id, setup.service_id)
    if service is None:
        # It was deleted in between, and the link with it.
        raise SetupLinkDead
    return service
