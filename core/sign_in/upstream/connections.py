"""Upstream connections: identity providers of an organization, by which its people sign in (decisions 13.5 and 10.8).

A session by a connection is confined to the organization. A connection asserts addresses of the organization's verified
mail domains only (`domain_routes.py`), satisfies a second factor only if the organization trusts it to, and makes
members only where `joins_as` names a role that its maker may give.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import datetime  # noqa: TC003 - the reference is made from the fields of `Connection`
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit
from uuid import UUID  # noqa: TC003 - likewise

from core.errors import BadRequest, NotFound
from core.organizations import access
from core.organizations.access import Capability, Operation, authorize, authorize_and_lock
from core.organizations.memberships import BUILT_IN_ROLES, MEMBER
from core.outbound import checked_url
from core.secrets import Secret
from core.text import checked_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from core.organizations.access import OrganizationAccess
    from core.outbound import Network
    from core.sign_in.upstream.flows import ProviderClient
    from ports.unit_of_work import UnitOfWork

CONNECTIONS_MAX: Final = 50
SCOPES_DEFAULT: Final = ("openid", "email", "profile")
SCOPES_MAX: Final = 20
CLAIM_CHARACTERS_MAX: Final = 255
# What an attribute mapping may name: where the stable id and the address are.
MAPPED: Final = frozenset({"id", "email"})
_THIS_MACHINE: Final = frozenset({"127.0.0.1", "::1", "localhost"})
_PRINTABLE: Final = re.compile(r"[\x21-\x7e]{1,500}")
_SCOPE: Final = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]{1,255}")


class ConnectionUnknown(NotFound):
    """The organization has no connection with that id."""

    default_message = "This organization has no such connection."


class TooManyConnections(BadRequest):
    """The organization has the maximum number of connections."""

    default_message = f"An organization can have at most {CONNECTIONS_MAX} connections. Delete one that is not in use."


class ConnectionType(StrEnum):
    """The protocol of a connection."""

    OIDC = "oidc"


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """A connection, without its secret."""

    id: UUID
    type: ConnectionType
    name: str
    issuer: str
    client_id: str
    has_secret: bool
    scopes: list[str]
    attribute_mapping: dict[str, str]
    joins_as: str | None
    trust_mfa: bool
    enabled: bool
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionWishes:
    """The fields to set; None leaves one as it is. An empty `joins_as` makes no members."""

    name: str | None = None
    issuer: str | None = None
    client_id: str | None = None
    client_secret: str | None = field(default=None, repr=False)
    scopes: Sequence[str] | None = None
    attribute_mapping: Mapping[str, str] | None = None
    joins_as: str | None = None
    trust_mfa: bool | None = None
    enabled: bool | None = None


def list_all(uow: UnitOfWork, slug: str) -> Sequence[Connection]:
    """List the connections of an organization, the oldest first."""
    organization = authorize(uow, slug, Operation.CONNECTIONS_READ).organization
    return uow.upstream_connections.of_organization(organization.id)


def show(uow: UnitOfWork, slug: str, connection_id: UUID) -> Connection:
    """Return a connection; raise `ConnectionUnknown`."""
    organization = authorize(uow, slug, Operation.CONNECTIONS_READ).organization
    return _found(uow.upstream_connections.find(organization.id, connection_id))


def create(
    uow: UnitOfWork, slug: str, kind: str, wishes: ConnectionWishes, *, allowed: Iterable[Network]
) -> Connection:
    """Create a connection; name, issuer, client id and client secret are required."""
    authorized = authorize_and_lock(uow, slug, Operation.CONNECTIONS_CHANGE)
    if kind != ConnectionType.OIDC:
        raise BadRequest.of_field("type", "This must be oidc.")
    for name in ("name", "issuer", "client_id", "client_secret"):
        if getattr(wishes, name) is None:
            raise BadRequest.of_field(name, "This is required.")
    connection = _wished(uow, authorized, _empty(uow), wishes, tuple(allowed))
    if uow.upstream_connections.count(authorized.organization.id) >= CONNECTIONS_MAX:
        raise TooManyConnections
    secret = _secret(wishes)
    assert secret is not None, "a connection is created without a secret"
    uow.upstream_connections.add(authorized.organization.id, connection, secret)
    return connection


def change(
    uow: UnitOfWork, slug: str, connection_id: UUID, wishes: ConnectionWishes, *, allowed: Iterable[Network]
) -> Connection:
    """Change the given fields of a connection. With another issuer, the identities of the one before are unlinked."""
    authorized = authorize_and_lock(uow, slug, Operation.CONNECTIONS_CHANGE)
    before = uow.upstream_connections.find(authorized.organization.id, connection_id)
    # Invalid input is refused before an unknown connection (decisions 1.6).
    after = _wished(uow, authorized, before or _empty(uow), wishes, tuple(allowed))
    before = _found(before)
    after = replace(after, updated_at=uow.now)
    uow.upstream_connections.save(authorized.organization.id, after, _secret(wishes))
    if after.issuer != before.issuer:
        # The ids of another provider are other people's.
        uow.upstream_connections.unlink_all(authorized.organization.id, connection_id)
    return after


def delete(uow: UnitOfWork, slug: str, connection_id: UUID) -> None:
    """Delete a connection, its identities and its domain routes; the sessions that began by it end."""
    organization = authorize_and_lock(uow, slug, Operation.CONNECTIONS_CHANGE).organization
    if not uow.upstream_connections.remove(organization.id, connection_id):
        raise ConnectionUnknown


def find_to_test(uow: UnitOfWork, slug: str, connection_id: UUID) -> Connection:
    """Return the connection whose provider is to be asked; raise `ConnectionUnknown`."""
    organization = authorize(uow, slug, Operation.CONNECTIONS_CHANGE).organization
    return _found(uow.upstream_connections.find(organization.id, connection_id))


def client_of(uow: UnitOfWork, organization_id: UUID, connection_id: UUID) -> ProviderClient | None:
    """Return our credentials at the provider of an enabled connection; None when it is gone."""
    return uow.upstream_connections.client_of(organization_id, connection_id)


def _empty(uow: UnitOfWork) -> Connection:
    return Connection(
        id=uow.randomness.new_id(),
        type=ConnectionType.OIDC,
        name="",
        issuer="",
        client_id="",
        has_secret=True,
        scopes=list(SCOPES_DEFAULT),
        attribute_mapping={},
        joins_as=None,
        trust_mfa=False,
        enabled=True,
        created_at=uow.now,
        updated_at=uow.now,
    )


def _found(connection: Connection | None) -> Connection:
    if connection is None:
        raise ConnectionUnknown
    return connection


def _wished(
    uow: UnitOfWork,
    authorized: OrganizationAccess,
    before: Connection,
    wishes: ConnectionWishes,
    allowed: Sequence[Network],
) -> Connection:
    joins_as = before.joins_as
    if wishes.joins_as is not None and wishes.joins_as != (before.joins_as or ""):
        joins_as = _checked_role(uow, authorized, wishes.joins_as)
    return replace(
        before,
        name=before.name if wishes.name is None else checked_name(wishes.name, characters_min=1),
        issuer=before.issuer if wishes.issuer is None else _checked_issuer(wishes.issuer, allowed),
        client_id=before.client_id if wishes.client_id is None else _checked_text(wishes.client_id, "client_id"),
        scopes=before.scopes if wishes.scopes is None else _checked_scopes(wishes.scopes),
        attribute_mapping=before.attribute_mapping
        if wishes.attribute_mapping is None
        else _checked_mapping(wishes.attribute_mapping),
        joins_as=joins_as,
        trust_mfa=before.trust_mfa if wishes.trust_mfa is None else wishes.trust_mfa,
        enabled=before.enabled if wishes.enabled is None else wishes.enabled,
    )


def _secret(wishes: ConnectionWishes) -> Secret | None:
    return None if wishes.client_secret is None else Secret(_checked_text(wishes.client_secret, "client_secret"))


def _checked_role(uow: UnitOfWork, authorized: OrganizationAccess, role: str) -> str | None:
    """Return the role that people join with; raise for one that the caller may not give."""
    if not role:
        return None
    authorized.require(Capability.ORG_MEMBERS_MANAGE)
    if role == MEMBER:
        return role
    if role in BUILT_IN_ROLES or uow.roles.by_slug(authorized.organization.id, role) is None:
        raise BadRequest.of_field("joins_as", "This must be member, or a custom role of this organization.")
    authorized.require(Capability.ORG_ROLES_MANAGE)
    capabilities = access.capabilities_of_role(uow, authorized.organization.id, role)
    authorized.require_no_less(capabilities, "let people join as")
    return role


def _checked_issuer(text: str, allowed: Sequence[Network]) -> str:
    url = checked_url(text, allowed, field="issuer")
    # Keys must not be changed on the way; only a provider on this machine needs no TLS.
    if not url.startswith("https://") and urlsplit(url).hostname not in _THIS_MACHINE:
        raise BadRequest.of_field("issuer", "This must be an https address.")
    return url


def _checked_text(text: str, name: str) -> str:
    stripped = text.strip()
    if not _PRINTABLE.fullmatch(stripped):
        raise BadRequest.of_field(name, "1 to 500 characters, without blanks.")
    return stripped


def _checked_scopes(scopes: Sequence[str]) -> list[str]:
    unique = list(dict.fromkeys(("openid", *scopes)))
    if len(unique) > SCOPES_MAX or not all(_SCOPE.fullmatch(scope) for scope in unique):
        raise BadRequest.of_field("scopes", f"At most {SCOPES_MAX} scopes, without blanks, quotes and backslashes.")
    return unique


def _checked_mapping(mapping: Mapping[str, str]) -> dict[str, str]:
    if not mapping.keys() <= MAPPED:
        raise BadRequest.of_field("attribute_mapping", f"Only {' and '.join(sorted(MAPPED))} can be mapped.")
    if not all(0 < len(claim) <= CLAIM_CHARACTERS_MAX and claim.isprintable() for claim in mapping.values()):
        raise BadRequest.of_field("attribute_mapping", f"A claim has 1 to {CLAIM_CHARACTERS_MAX} characters.")
    return dict(mapping)
