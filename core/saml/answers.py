"""The possible answers to a service provider, and what comes before; `sign_in.py` decides which answer it is."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from core.errors import Refusal
from core.key_certificates import SamlSigningKey
from core.lazy_dataclasses import dataclass
from core.saml.configuration import CUSTOMER_FIELDS, DEFAULT_MAPPING
from core.saml.customer_questions import CustomerQuestion
from core.saml.messages import Response
from core.saml.providers import ProviderUnknown, SamlProvider
from core.secrets import Secret
from core.sign_in.admission import AddedBy

if TYPE_CHECKING:
    from core.deferred import Deferred
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseToPost:
    """A response to sign and to post to the service provider.

    The browser gets the `device_token` when a session has begun; `problem` is set when the user should read why they
    are not signed in before the response is posted.
    """

    response: Response
    key: SamlSigningKey
    relay_state: str | None
    organization_id: UUID
    service_name: str
    organization_name: str
    device_token: Secret | None = None
    problem: Refusal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthenticationRequired:
    """The user has to authenticate, or to authenticate again, before the request can be answered.

    `connection_id` is the connection by which the customer requires it; `is_anew` says that the session is confined to
    something else.
    """

    connection_id: UUID | None = None
    is_anew: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementRequired:
    """The user has to agree first, because they neither belong to the organization nor use it.

    `added_by` is what has made a membership that the answer confirms; None where there is none to confirm. `ticket` is
    as in `CustomerQuestion`.
    """

    service_name: str
    organization_name: str
    email: str
    attributes: tuple[str, ...]
    added_by: AddedBy | None = None
    ticket: Secret | None = None


Outcome = ResponseToPost | AuthenticationRequired | AgreementRequired | CustomerQuestion


def defer_signing_key(uow: UnitOfWork, organization_id: UUID, service_id: UUID) -> Deferred[SamlSigningKey]:
    """Defer reading the key that signs for a service; raise `ProviderUnknown` when it was deactivated meanwhile."""
    found = uow.saml_certificates.defer_signing_key(organization_id, service_id)
    return lambda: _required(found())


def _required(key: SamlSigningKey | None) -> SamlSigningKey:
    if key is None:
        raise ProviderUnknown
    return key


def agreement(provider: SamlProvider, email: str, added_by: AddedBy | None = None) -> AgreementRequired:
    """Return what a user who comes without a customer has to agree to."""
    mapping = provider.configuration.attribute_mapping or DEFAULT_MAPPING
    return AgreementRequired(
        service_name=provider.service_name,
        organization_name=provider.organization_name,
        email=email,
        attributes=tuple(field for field in mapping if field not in CUSTOMER_FIELDS),
        added_by=added_by,
    )


def message_id(uow: UnitOfWork) -> str:
    """Return the id of a new message or assertion."""
    return f"_{uow.randomness.token().reveal()}"
