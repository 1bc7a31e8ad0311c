"""The SAML configuration of a service: where its service provider is, and the content of an assertion for it.

A service has at most one configuration. Certificates are in `certificates.py`; the public endpoints read the
configuration and the certificate together, as `identity_providers.py` has them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import asdict, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.errors import BadRequest, NotFound, all_valid
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation
from core.saml.messages import NameIdFormat, SamlBinding
from core.services import own_claims, redirect_uris, service_access
from core.services.services import Service
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

ENTITY_ID_CHARACTERS_MAX: Final = 1024  # saml-core-2.0, 8.3.6
ATTRIBUTE_NAME_CHARACTERS_MAX: Final = 255
# What an assertion can say about the customer of the service for which its user comes.
CUSTOMER_FIELDS: Final = (
    *("customer.id", "customer.slug", "customer.name", "customer.role", "customer.external_id"),
    "customer.service_roles",
)
# What an assertion can say about a user; name, role and groups only about members.
SOURCE_FIELDS: Final = ("email", "id", "name", "role", "groups", *CUSTOMER_FIELDS)

# When no mapping is set.
DEFAULT_MAPPING: Final = {"email": "email", "id": "id"}

_NO_BLANKS: Final = re.compile(r"[\x21-\x7e]+")
_SHORT_FORMATS: Final = {one.value.rpartition(":")[2]: one for one in NameIdFormat}


class SamlNotSetUp(NotFound):
    """The service has neither a service provider nor a certificate, or another service provider than was shown."""

    default_message = "There is no such application here. It may be deleted or replaced already."


class LogoutBinding(StrEnum):
    """The binding of messages to the logout address of a service provider, as it is configured."""

    REDIRECT = "redirect"
    POST = "post"

    @property
    def binding(self) -> SamlBinding:
        """The same as a binding of SAML."""
        return SamlBinding.POST if self is LogoutBinding.POST else SamlBinding.REDIRECT


@dataclass(frozen=True, slots=True, kw_only=True)
class SamlConfiguration:
    """The configuration of a service.

    With `sp_certificate` the signatures of requests are verified and required. With `members_only` only members and end
    users that a key has linked to the service get an assertion (`visits.py`).
    """

    organization_id: UUID
    service_id: UUID
    enabled: bool = False
    entity_id: str | None = None
    acs_url: str | None = None
    slo_url: str | None = None
    slo_binding: LogoutBinding = LogoutBinding.REDIRECT
    name_id_format: NameIdFormat | None = None
    attribute_mapping: dict[str, str] | None = None
    sign_assertions: bool = True
    sign_response: bool = True
    sp_certificate: str | None = None
    members_only: bool = True

    @property
    def attribute_names(self) -> Collection[str]:
        """The names of the attributes in assertions, by the mapping or its default."""
        return (self.attribute_mapping or DEFAULT_MAPPING).values()

    @property
    def effective_format(self) -> NameIdFormat:
        """The format of the user's name in assertions."""
        return self.name_id_format or NameIdFormat.EMAIL_ADDRESS

    def require_valid(self) -> None:
        """Raise `BadRequest` for fields that are missing or invalid."""
        all_valid(
            self._check_entity_id, self._check_acs_url, self._check_slo_url, self._check_mapping, self._check_signing
        )

    def _check_entity_id(self) -> None:
        if self.entity_id is None:
            if self.enabled:
                raise BadRequest.of_field("entity_id", "The entity id of the service provider is required.")
        elif len(self.entity_id) > ENTITY_ID_CHARACTERS_MAX or not _NO_BLANKS.fullmatch(self.entity_id):
            raise BadRequest.of_field(
                "entity_id",
                Wording(
                    "An entity id has 1 to %(maximum)s characters of ASCII, without blanks.",
                    maximum=ENTITY_ID_CHARACTERS_MAX,
                ),
            )

    def _check_acs_url(self) -> None:
        if self.acs_url is not None:
            redirect_uris.require_web_uri(self.acs_url, "acs_url")
        elif self.enabled:
            raise BadRequest.of_field("acs_url", "The address of the assertion consumer service is required.")

    def _check_slo_url(self) -> None:
        if self.slo_url is not None:
            redirect_uris.require_web_uri(self.slo_url, "slo_url")

    def _check_mapping(self) -> None:
        mapping = self.attribute_mapping or {}
        unknown = sorted(mapping.keys() - set(SOURCE_FIELDS))
        if unknown:
            raise BadRequest.of_field(
                "attribute_mapping",
                Wording(
                    "%(name)s is no field of a user. The fields are %(names)s.",
                    name=unknown[0],
                    names=", ".join(SOURCE_FIELDS),
                ),
            )
        if len(set(mapping.values())) < len(mapping):
            raise BadRequest.of_field("attribute_mapping", "Two fields have the same attribute name.")
        if not all(
            len(name) <= ATTRIBUTE_NAME_CHARACTERS_MAX and _NO_BLANKS.fullmatch(name) for name in mapping.values()
        ):
            raise BadRequest.of_field(
                "attribute_mapping",
                Wording(
                    "An attribute name has 1 to %(maximum)s characters of ASCII, without blanks.",
                    maximum=ATTRIBUTE_NAME_CHARACTERS_MAX,
                ),
            )

    def _check_signing(self) -> None:
        if not (self.sign_assertions or self.sign_response):
            raise BadRequest.of_field(
                "sign_response", "Sign the assertion, the response, or both: anyone could forge an unsigned answer."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigurationView:
    """A configuration, and whether the service has an active certificate."""

    configuration: SamlConfiguration
    has_certificate: bool

    @property
    def is_begun(self) -> bool:
        """Whether there is a service provider or a certificate."""
        return self.configuration.entity_id is not None or self.has_certificate

    @property
    def attribute_names(self) -> Collection[str]:
        """The names of the attributes that the mapping gives assertions; none before SAML is set up."""
        is_set_up = self.is_begun or self.configuration.attribute_mapping is not None
        return self.configuration.attribute_names if is_set_up else ()


def show(uow: UnitOfWork, slug: str, service_slug: str) -> ConfigurationView:
    """Return the configuration of a service; the defaults when none was set."""
    service = service_access.authorize(uow, slug, service_slug, Operation.SAML_READ).service
    return uow.saml_configurations.view(service)


def require_changeable(uow: UnitOfWork, slug: str, service_slug: str) -> None:
    """Authorize the caller for a change before slow work on its input."""
    service_access.authorize(uow, slug, service_slug, Operation.SAML_CHANGE)


def configure(uow: UnitOfWork, slug: str, service_slug: str, changes: Mapping[str, Any]) -> None:
    """Change the named fields of the configuration, `enabled` among them.

    A change of an enabled configuration names its entity id and the address of its assertion consumer service. Enabling
    one may leave them out if they are stored already, as after an import of metadata.
    """
    service = service_access.authorize_and_lock(uow, slug, service_slug, Operation.SAML_CHANGE).service
    change(uow, service, changes)


def change(uow: UnitOfWork, service: Service, changes: Mapping[str, Any]) -> None:
    """Do what `configure` does for an authorized caller."""
    before = uow.saml_configurations.view(service).configuration
    if changes["enabled"] and before.enabled:
        changes = {"entity_id": None, "acs_url": None, **changes}
    after = replace(before, **_checked(changes))
    after.require_valid()
    _require_apart(service, after)
    _save(uow, service, before, after, change="saml_configured")


def import_metadata(uow: UnitOfWork, slug: str, service_slug: str, fields: Mapping[str, Any]) -> ConfigurationView:
    """Set the fields that the metadata of a service provider have; the others and `enabled` stay."""
    service = service_access.authorize_and_lock(uow, slug, service_slug, Operation.SAML_CHANGE).service
    before = uow.saml_configurations.view(service)
    after = replace(before.configuration, **_checked(fields))
    after.require_valid()
    _require_apart(service, after)
    _save(uow, service, before.configuration, after, change="saml_metadata_imported")
    return replace(before, configuration=after)


def disable(uow: UnitOfWork, slug: str, service_slug: str) -> None:
    """Disable the configuration and deactivate all certificates; the other settings stay."""
    service = service_access.authorize_and_lock(uow, slug, service_slug, Operation.SAML_REMOVE).service
    before = uow.saml_configurations.view(service).configuration
    uow.saml_certificates.deactivate_all(service.organization_id, service.id)
    _save(uow, service, before, replace(before, enabled=False), change="saml_disabled")


def remove(uow: UnitOfWork, service: Service, shown_entity_id: str) -> None:
    """Forget where the service provider is and what assertions tell it, and deactivate all certificates.

    The decisions of the organization stay: who may sign in there, and what is signed. `shown_entity_id` is what the
    authorized caller has seen; empty without one. Raise `SamlNotSetUp` for another one, and when there is neither a
    service provider nor a certificate.
    """
    view = uow.saml_configurations.view(service)
    before = view.configuration
    if not view.is_begun or (before.entity_id or "") != shown_entity_id:
        raise SamlNotSetUp
    after = SamlConfiguration(
        organization_id=service.organization_id,
        service_id=service.id,
        sign_assertions=before.sign_assertions,
        sign_response=before.sign_response,
        members_only=before.members_only,
    )
    uow.saml_certificates.deactivate_all(service.organization_id, service.id)
    _save(uow, service, before, after, change="saml_deleted", deleted_entity_id=before.entity_id)


def _require_apart(service: Service, configuration: SamlConfiguration) -> None:
    """Raise `BadRequest` if an attribute has the name of a claim of the service."""
    taken = own_claims.clashing_claim(service.claims, configuration.attribute_names)
    if taken is not None:
        raise BadRequest.of_field(
            "attribute_mapping",
            Wording("%(name)s is a claim of the service already, which assertions have.", name=taken),
        )


def _checked(changes: Mapping[str, Any]) -> dict[str, Any]:
    checked = dict(changes)
    name_format = checked.get("name_id_format")
    if name_format is not None:
        checked["name_id_format"] = _format(name_format)
    for name in ("sign_assertions", "sign_response", "members_only"):
        if checked.get(name, ...) is None:
            # Null stands for the default, which is on.
            checked[name] = True
    if checked.get("slo_binding", ...) is None:
        checked["slo_binding"] = LogoutBinding.REDIRECT
    return checked


def _format(text: str) -> NameIdFormat:
    """Return the format of that name, in its long or its short form."""
    found = _SHORT_FORMATS.get(text.rpartition(":")[2])
    if found is None or text not in {found.value, found.value.rpartition(":")[2]}:
        names = ", ".join(one.value for one in NameIdFormat)
        raise BadRequest.of_field("name_id_format", Wording("This must be one of %(names)s.", names=names))
    return found


def _save(
    uow: UnitOfWork, service: Service, before: SamlConfiguration, after: SamlConfiguration, **recorded: Any
) -> None:
    uow.saml_configurations.save(after, at=uow.now)
    old, new = asdict(before), asdict(after)
    changes = {name: {"from": old[name], "to": new[name]} for name in old if old[name] != new[name]}
    uow.record(
        AuditAction.SAML_CONFIGURATION_UPDATED,
        service.id,
        organization_id=service.organization_id,
        audit_only={"changes": changes},
        event_only={"service_id": str(service.id)},
        service_slug=service.slug,
        enabled=after.enabled,
        entity_id=after.entity_id,
        acs_url=after.acs_url,
        **recorded,
    )
