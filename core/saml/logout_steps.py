"""A logout under way, and its next message: to a service provider, or to the provider of a connection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.key_certificates import SamlSigningKey
from core.lazy_dataclasses import dataclass
from core.organizations.organizations import OrganizationStatus
from core.saml import identity_providers
from core.saml.answers import defer_signing_key, message_id
from core.saml.identity_providers import SamlProvider
from core.saml.messages import (
    SUCCESS,
    NameId,
    NameIdFormat,
    OutgoingLogout,
    OutgoingLogoutRequest,
    OutgoingLogoutResponse,
    SamlBinding,
    SamlStatus,
    StatusOf,
)
from core.secrets import Secret
from core.sign_in.upstream.connections.connection_fields import ConnectionRecord

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

PARTIAL: Final = StatusOf(first=SamlStatus.SUCCESS, second=SamlStatus.PARTIAL_LOGOUT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Logout:
    """A logout under way. Without `message_id` the user has signed out here, and no party waits for an answer.

    The party that waits is the service provider of `service_id`, or else the identity provider of `connection_id`. The
    identity provider hears of the end of `provider_session_id`, unless it asked for the logout. `named` are the
    sessions that the request names; `to_tell` are ended sessions whose service providers are still to be told, and
    `awaited_id` is the request that was sent to the first of them, or after them to the identity provider.
    """

    id: UUID
    organization_id: UUID | None
    service_id: UUID | None = None
    message_id: str | None = None
    relay_state: str | None = None
    is_signed: bool = True
    named: Sequence[UUID] = ()
    has_begun: bool = True
    to_tell: Sequence[UUID] = ()
    status: StatusOf = SUCCESS
    awaited_id: str | None = None
    created_at: datetime
    expires_at: datetime
    connection_id: UUID | None = None
    provider_session_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogoutMessage:
    """A message to sign and to send by the browser; `relay_state` comes back with its answer."""

    content: OutgoingLogout
    key: SamlSigningKey
    binding: SamlBinding
    relay_state: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderMessage:
    """A message to the identity provider of a connection; the provider's metadata have its address and binding.

    Its issuer and destination are still empty, and the connection's key will sign it.
    """

    content: OutgoingLogout
    organization_id: UUID
    connection: ConnectionRecord
    relay_state: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSignOut:
    """The browser goes on to the OpenID provider of an ended session's connection, where the user signs out.

    No answer is awaited: the browser comes back by itself. The ID token says which session the provider ends; None
    where none was kept.
    """

    organization_id: UUID
    connection: ConnectionRecord
    id_token: Secret | None


@dataclass(frozen=True, slots=True)
class LogoutCompleted:
    """Everything has ended, and no party waits for an answer."""


Step = LogoutMessage | ProviderMessage | ProviderSignOut | LogoutCompleted


def next_step(uow: UnitOfWork, logout: Logout, state: str, *, base_url: str) -> Step:
    """Return the request to the next service provider that can be told, or else the end."""
    while logout.to_tell:
        session = uow.saml_sessions.find(logout.to_tell[0])
        found = _provider(uow, session.organization_id, session.service_id) if session is not None else None
        if session is None or found is None:
            logout = told(logout, is_success=False)
            continue
        provider, key = found
        logout = replace(logout, awaited_id=message_id(uow))
        uow.saml_logouts.save(logout)
        assert logout.awaited_id is not None, "the request to a service provider has no id"
        assert provider.configuration.slo_url is not None, "a service provider without a logout address is told"
        return LogoutMessage(
            content=OutgoingLogoutRequest(
                id=logout.awaited_id,
                issuer=provider.entity_id(base_url),
                destination=provider.configuration.slo_url,
                issued_at=uow.now,
                name_id=session.name_id,
                audience=session.audience,
                session_index=session.index,
            ),
            key=key,
            binding=provider.configuration.slo_binding.binding,
            relay_state=state,
        )
    if logout.provider_session_id is not None:
        signed_out = _provider_sign_out(uow, logout, logout.provider_session_id)
        if signed_out is not None:
            uow.saml_logouts.remove(logout)
            return signed_out
        asked = replace(logout, awaited_id=message_id(uow))
        step = _provider_request(uow, asked, logout.provider_session_id, state)
        if step is not None:
            uow.saml_logouts.save(asked)
            return step
    uow.saml_logouts.remove(logout)
    return _final(uow, logout, base_url)


def _provider_sign_out(uow: UnitOfWork, logout: Logout, session_id: UUID) -> ProviderSignOut | None:
    """Return how a browser signs out at the OpenID provider of an ended session; None for a connection by SAML."""
    connection, organization_id = _connection(uow, logout), logout.organization_id
    assert connection is not None, "a logout has outlived its connection"
    assert organization_id is not None, "a connection has no organization"
    if connection.is_saml:
        return None
    known = uow.provider_sessions.find(organization_id, connection.id, session_id)
    uow.provider_sessions.forget_token(organization_id, connection.id, session_id)
    return ProviderSignOut(
        organization_id=organization_id, connection=connection, id_token=known.id_token if known is not None else None
    )


def _provider_request(uow: UnitOfWork, logout: Logout, session_id: UUID, state: str) -> ProviderMessage | None:
    """Return the request to the identity provider of an ended session; None when the connection was deleted since."""
    connection, organization_id = _connection(uow, logout), logout.organization_id
    assert connection is not None, "a logout has outlived its connection"
    assert organization_id is not None, "a connection has no organization"
    known = uow.provider_sessions.find(organization_id, connection.id, session_id)
    if known is None:
        return None
    assert logout.awaited_id is not None, "the request to an identity provider has no id"
    return ProviderMessage(
        content=OutgoingLogoutRequest(
            id=logout.awaited_id,
            issuer="",
            destination="",
            issued_at=uow.now,
            name_id=NameId(value=known.name_id, format=known.name_format or NameIdFormat.UNSPECIFIED),
            name_qualifier=known.name_qualifier,
            audience=known.sp_name_qualifier,
            session_index=known.session_index,
        ),
        organization_id=organization_id,
        connection=connection,
        relay_state=state,
    )


def _connection(uow: UnitOfWork, logout: Logout) -> ConnectionRecord | None:
    """Return the connection whose provider ends the logout; None without one."""
    if logout.organization_id is None or logout.connection_id is None:
        return None
    return uow.upstream_connections.find(logout.organization_id, logout.connection_id)


def _final(uow: UnitOfWork, logout: Logout, base_url: str) -> Step:
    """Return the answer to the party that has asked for the logout, if one waits and can be answered."""
    connection = _connection(uow, logout)
    if connection is not None and logout.organization_id is not None and logout.message_id is not None:
        return ProviderMessage(
            content=_response(uow, logout, logout.message_id),
            organization_id=logout.organization_id,
            connection=connection,
            relay_state=logout.relay_state,
        )
    if logout.organization_id is None or logout.service_id is None or logout.message_id is None:
        return LogoutCompleted()
    found = _provider(uow, logout.organization_id, logout.service_id)
    if found is None:
        return LogoutCompleted()
    provider, key = found
    assert provider.configuration.slo_url is not None, "a service provider without a logout address is answered"
    return LogoutMessage(
        content=replace(
            _response(uow, logout, logout.message_id),
            issuer=provider.entity_id(base_url),
            destination=provider.configuration.slo_url,
        ),
        key=key,
        binding=provider.configuration.slo_binding.binding,
        relay_state=logout.relay_state,
    )


def _response(uow: UnitOfWork, logout: Logout, to: str) -> OutgoingLogoutResponse:
    """Return the answer to a message, before it has an issuer and a destination."""
    return OutgoingLogoutResponse(
        id=message_id(uow), issuer="", destination="", issued_at=uow.now, in_response_to=to, status=logout.status
    )


def _provider(uow: UnitOfWork, organization_id: UUID, service_id: UUID) -> tuple[SamlProvider, SamlSigningKey] | None:
    """Return the identity provider of a service and its key; None when its service provider cannot be told."""
    read_key = defer_signing_key(uow, organization_id, service_id)
    provider = uow.saml_providers.by_id(organization_id, service_id)
    return (provider, read_key()) if provider is not None and _can_be_told(provider) else None


def _can_be_told(provider: SamlProvider) -> bool:
    is_active = provider.organization_status is OrganizationStatus.ACTIVE
    return is_active and identity_providers.is_usable(provider) and provider.configuration.slo_url is not None


def told(logout: Logout, *, is_success: bool) -> Logout:
    """Return the logout after the first of the service providers was told, or could not be told."""
    status = logout.status if is_success or logout.status.first is not SamlStatus.SUCCESS else PARTIAL
    return replace(logout, to_tell=logout.to_tell[1:], awaited_id=None, status=status)
