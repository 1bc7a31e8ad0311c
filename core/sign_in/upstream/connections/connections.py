"""Upstream connections: identity providers of an organization, by which its people sign in.

A session by a connection is confined to the organization. A connection asserts addresses of the organization's verified
mail domains only (`domain_routes.py`), satisfies a second factor only if the organization trusts it to, and makes
members only where `joins_as` names a role that its maker may give. `connection_fields.py` says what its fields accept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final, TypeVar
from uuid import UUID

from core.errors import BadRequest, Conflict, NotFound, all_valid
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.organizations import group_roles
from core.organizations.access import Operation
from core.organizations.authorization import authorize
from core.organizations.departures import MadeCredentialKind, record_maker
from core.outbound import Network
from core.sign_in.upstream.connections import at_once, changes, connection_fields, setup_states
from core.sign_in.upstream.connections.connection_fields import ConnectionFields, ConnectionRecord, ConnectionType
from core.sign_in.upstream.connections.editors import Editor
from core.sign_in.upstream.connections.setup_states import ConnectionSetupState
from core.sign_in.upstream.saml import SamlDescription
from core.text import checked_note
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

LookedUp = TypeVar("LookedUp")
CONNECTIONS_MAX: Final = 50
SCOPES_DEFAULT: Final = ("openid", "email", "profile")


class ConnectionUnknown(NotFound):
    """The organization has no connection with that id."""

    default_message = "This organization has no such connection."


class ConnectionInForce(Conflict):
    """The holder of a setup link may not change a connection on which the organization already relies."""

    default_message = (
        "This connection is in use: it gives roles, replaces a second factor, or is enforced. Ask the person who sent"
        " you the link to change it."
    )


class ConnectionChangedSince(Conflict):
    """The connection is not as the caller has seen it."""

    default_message = (
        "Another person has changed this connection meanwhile. This page shows it as it is now: look at it again, and"
        " repeat your change if it is still right."
    )


class AdoptedUntested(Conflict):
    """The connection was adopted, and no test sign-in has succeeded with it since."""

    default_message = (
        "Your organization has adopted this connection from a vendor. Test it by a real sign-in first; after that it"
        " can be switched on."
    )


class TooManyConnections(BadRequest):
    """The organization has the maximum number of connections."""

    default_message = Wording(
        "An organization can have at most %(maximum)s connections. Delete one that is not in use.",
        maximum=CONNECTIONS_MAX,
    )


def list_all(uow: UnitOfWork, slug: str) -> Sequence[ConnectionRecord]:
    """List the connections of an organization, the oldest first."""
    organization = authorize(uow, slug, Operation.CONNECTIONS_READ).organization
    return uow.upstream_connections.of_organization(organization.id)


def show(uow: UnitOfWork, slug: str, connection_id: UUID) -> ConnectionRecord:
    """Return a connection; raise `ConnectionUnknown`."""
    organization = authorize(uow, slug, Operation.CONNECTIONS_READ).organization
    return found(uow.upstream_connections.find(organization.id, connection_id))


def require_may_change(uow: UnitOfWork, slug: str) -> UUID:
    """Authorize a caller who names metadata, before Gatehouse fetches them; return the organization."""
    return authorize(uow, slug, Operation.CONNECTION_CONFIGURE).organization.id


def create(
    uow: UnitOfWork,
    slug: str,
    kind: str,
    given: ConnectionFields,
    *,
    described: SamlDescription | None,
    allowed: Iterable[Network],
) -> ConnectionRecord:
    """Create a connection. `described` is the content of the metadata that the caller has named.

    A connection by OpenID Connect takes a name, an issuer, a client id and a client secret. One by SAML takes a name;
    it is enabled if it has metadata. Its identity provider may make those only after it knows ours, so they may follow.
    A connection that the holder of a setup link makes is off until it was tested (`enabling.py`).
    """
    editor = Editor.of_caller(uow, slug, Operation.CONNECTION_CONFIGURE)
    require_may_make(uow, editor)
    if editor.is_link:
        given = replace(given, enabled=False)
    connection = checked(uow, editor, kind, given, described, tuple(allowed))
    if uow.upstream_connections.count(editor.organization_id) >= CONNECTIONS_MAX:
        raise TooManyConnections
    uow.upstream_connections.add(editor.organization_id, connection, connection_fields.secret(given))
    at_once.vouch(uow, editor, connection, connection, given, gains_key=True)
    changes.vouch_for_certificates(uow, editor, replace(connection, metadata_url=None), connection, given)
    _record_maker(uow, editor, connection)
    if described is not None:
        named = changes.fingerprints(described.certificates)
        uow.upstream_connections.save_certificates(editor.organization_id, connection.id, named)
    changes.record(uow, editor, AuditAction.UPSTREAM_CONNECTION_CREATED, connection)
    if editor.is_for_customer:
        setup_states.begin(uow, editor.organization_id, connection.id)
    return connection


def change(
    uow: UnitOfWork,
    slug: str,
    connection_id: UUID,
    given: ConnectionFields,
    *,
    described: SamlDescription | None,
    allowed: Iterable[Network],
    seen: datetime | None = None,
) -> ConnectionRecord:
    """Change the given fields of a connection; `changes.py` says what ends with that, and who may make it.

    Raise `ConnectionChangedSince` when it is not as the caller has seen it, by its last change, and
    `ConnectionInForce`. The holder of a setup link switches nothing on or off with it.
    """
    editor = Editor.of_caller(uow, slug, Operation.CONNECTION_CONFIGURE)
    before = uow.upstream_connections.find(editor.organization_id, connection_id)
    if before is not None:
        require_seen(before, seen)
        require_may_change_it(uow, editor, before)
    if editor.is_link:
        given = replace(given, enabled=None)
    return _change(uow, editor, before, given, described, tuple(allowed))


def switch(
    uow: UnitOfWork, editor: Editor, before: ConnectionRecord, *, is_on: bool, allowed: Iterable[Network]
) -> ConnectionRecord:
    """Switch a connection whose organization the editor has locked; `enabling.py` says whether they may."""
    return _change(uow, editor, before, ConnectionFields(enabled=is_on), None, tuple(allowed))


def delete(uow: UnitOfWork, slug: str, connection_id: UUID, *, seen: datetime | None = None, note: str = "") -> None:
    """Delete a connection, its identities and its domain routes; the sessions that began by it end.

    Raise `ConnectionChangedSince` when it is not as the caller has seen it, by its last change. Only the audit log
    keeps the note. The holder of a setup link deletes only a connection by which no person has signed in and that is
    not in force, so that every person keeps their ways to sign in; raise `ConnectionInForce` or `IdentitiesLinked`.
    """
    editor = Editor.of_caller(uow, slug, Operation.CONNECTIONS_CHANGE)
    connection = found(uow.upstream_connections.find(editor.organization_id, connection_id))
    require_seen(connection, seen)
    require_may_change_it(uow, editor, connection)
    if editor.is_link and uow.upstream_connections.has_identities(editor.organization_id, connection_id):
        raise changes.IdentitiesLinked
    note = checked_note(note)
    ended = changes.end_sessions(uow, editor.organization_id, connection.id)
    uow.upstream_connections.remove(editor.organization_id, connection.id)
    # Its rules and its assertions go with it.
    group_roles.apply(uow, editor.organization_id, None)
    noted = {"audit_only": {"note": note}} if note else {}
    changes.record(uow, editor, AuditAction.UPSTREAM_CONNECTION_DELETED, connection, sessions_ended=ended, **noted)
    if editor.is_for_customer:
        setup_states.end(uow, editor.organization_id, connection.id)


def find_to_test(uow: UnitOfWork, slug: str, connection_id: UUID) -> tuple[UUID, ConnectionRecord]:
    """Return an organization and its connection whose provider is to be asked; raise `ConnectionUnknown`."""
    organization = authorize(uow, slug, Operation.CONNECTIONS_CHANGE).organization
    return organization.id, found(uow.upstream_connections.find(organization.id, connection_id))


def require_may_make(uow: UnitOfWork, editor: Editor) -> None:
    """Raise `IdentitiesLinked` where the holder of a setup link may neither make a connection nor switch one on."""
    if editor.is_link and uow.upstream_connections.have_identities(editor.organization_id):
        # It would assert addresses of the organization's domains, beside the connection that people already use.
        raise changes.IdentitiesLinked


def require_may_change_it(uow: UnitOfWork, editor: Editor, connection: ConnectionRecord) -> None:
    """Raise `ConnectionInForce` where the holder of a setup link may not change a connection."""
    if editor.is_link and is_in_force(uow, editor.organization_id, connection):
        raise ConnectionInForce


def is_in_force(uow: UnitOfWork, organization_id: UUID, connection: ConnectionRecord) -> bool:
    """Return whether the organization already relies on a connection."""
    return (
        connection.joins_as is not None
        or connection.trust_mfa
        or uow.domain_routes.is_enforced(organization_id, connection.id)
        or bool(uow.group_rules.roles_of_connection(organization_id, connection.id))
    )


def require_seen(connection: ConnectionRecord, seen: datetime | None) -> None:
    """Raise `ConnectionChangedSince` unless a connection was last changed at this time, which its caller has seen."""
    if seen is not None and seen != connection.updated_at:
        raise ConnectionChangedSince


def found(looked_up: LookedUp | None) -> LookedUp:
    """Return a connection that was looked up, or a part of it; raise `ConnectionUnknown` without one."""
    if looked_up is None:
        raise ConnectionUnknown
    return looked_up


def checked(
    uow: UnitOfWork,
    editor: Editor,
    kind: str,
    given: ConnectionFields,
    described: SamlDescription | None,
    allowed: Sequence[Network],
) -> ConnectionRecord:
    """Return a new connection with these fields, which is not stored; raise one `BadRequest` for all its problems."""
    if kind not in set(ConnectionType):
        raise BadRequest.of_field("type", "This must be oidc or saml.")
    empty = _empty(uow, ConnectionType(kind))
    _, connection = all_valid(
        lambda: connection_fields.require_complete(empty, given),
        lambda: connection_fields.applied(uow, editor, empty, given, described, allowed, is_new=True),
    )
    return connection


def _change(
    uow: UnitOfWork,
    editor: Editor,
    before: ConnectionRecord | None,
    given: ConnectionFields,
    described: SamlDescription | None,
    allowed: Sequence[Network],
) -> ConnectionRecord:
    # Invalid input is refused before an unknown connection.
    unknown = _empty(uow, ConnectionType.OIDC if described is None else ConnectionType.SAML)
    after = connection_fields.applied(uow, editor, before or unknown, given, described, allowed)
    before = found(before)
    after = replace(after, updated_at=uow.now)
    if after.enabled and not before.enabled:
        _require_tested_if_adopted(uow, editor.organization_id, after)
    named = changes.fingerprints(described.certificates) if described is not None else None
    details = changes.apply(uow, editor, before, after, given, named)
    _record_maker(uow, editor, after)
    changes.record(uow, editor, AuditAction.UPSTREAM_CONNECTION_UPDATED, after, **details)
    if editor.is_for_customer:
        setup_states.change(uow, editor.organization_id, after.id, _setup_state(uow, editor, after))
    return after


def _setup_state(uow: UnitOfWork, editor: Editor, after: ConnectionRecord) -> ConnectionSetupState:
    """Return the state of a connection after a change: a trial outlasts another name, and switching it on."""
    trial = uow.trial_sign_ins.last(editor.organization_id, after.id)
    is_tested = trial is not None and trial.has_succeeded(after)
    return ConnectionSetupState.TESTED if is_tested else ConnectionSetupState.CONFIGURED


def _empty(uow: UnitOfWork, kind: ConnectionType) -> ConnectionRecord:
    return ConnectionRecord(
        id=uow.randomness.new_id(),
        type=kind,
        name="",
        issuer=None,
        client_id=None,
        has_secret=kind is ConnectionType.OIDC,
        scopes=list(SCOPES_DEFAULT) if kind is ConnectionType.OIDC else [],
        metadata_url=None,
        metadata_xml=None,
        metadata_valid_until=None,
        signs_requests=False,
        attribute_mapping={},
        joins_as=None,
        trust_mfa=False,
        enabled=kind is ConnectionType.OIDC,
        created_at=uow.now,
        updated_at=uow.now,
    )


def _require_tested_if_adopted(uow: UnitOfWork, organization_id: UUID, after: ConnectionRecord) -> None:
    """Raise `AdoptedUntested` unless a trial has succeeded with an adopted connection as it is."""
    if not uow.upstream_connections.awaits_trial(organization_id, after.id):
        return
    trial = uow.trial_sign_ins.last(organization_id, after.id)
    if trial is None or not trial.has_succeeded(after):
        raise AdoptedUntested


def _record_maker(uow: UnitOfWork, editor: Editor, connection: ConnectionRecord) -> None:
    assert editor.user_id is not None, "a connection is changed by no person"
    record_maker(uow, MadeCredentialKind.CONNECTION, editor.organization_id, connection.id, editor.user_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionEnds:
    """A connection with what ends when it is deleted: accounts that it signs in, sessions, and mail domains.

    `without_other_way` is how many of the accounts have no password, no passkey and no other provider, so that only a
    mailed link signs them in afterwards. `is_open`: the holder of a setup link may delete it, because no one has signed
    in by it and the organization does not rely on it.
    """

    connection: ConnectionRecord
    identities: int
    without_other_way: int
    sessions: int
    domains: Sequence[str]
    is_open: bool


def show_ends(uow: UnitOfWork, slug: str, connection_id: UUID) -> ConnectionEnds:
    """Return what ends with a connection; raise `ConnectionUnknown`."""
    organization_id = authorize(uow, slug, Operation.CONNECTIONS_CHANGE).organization.id
    connection = found(uow.upstream_connections.find(organization_id, connection_id))
    identities, sessions = uow.upstream_connections.count_uses(organization_id, connection_id, at=uow.now)
    routes = uow.domain_routes.of_organization(organization_id)
    return ConnectionEnds(
        connection=connection,
        identities=identities,
        without_other_way=uow.upstream_connections.count_without_other_way(organization_id, connection_id),
        sessions=sessions,
        domains=[one.proof.domain for one in routes if one.connection_id == connection_id],
        is_open=identities == 0 and not is_in_force(uow, organization_id, connection),
    )
