"""The effects on people when an organization moves to another provider, shown before it does.

A mail domain is led to another connection, or a connection to another provider. Each person is linked at their first
sign-in there: by a mailed code, or at once (`at_once.py`). No person is named here, so that a member who may set up
connections learns numbers alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation
from core.organizations.settings.domain import DomainUnproved
from core.outbound import Network
from core.sign_in.upstream.connections import changes, connection_fields, connections
from core.sign_in.upstream.connections.connection_fields import ConnectionFields
from core.sign_in.upstream.connections.editors import Editor
from core.sign_in.upstream.domains import domain_routes
from core.sign_in.upstream.domains.domain_routes import RouteClaim
from core.sign_in.upstream.saml import SamlDescription

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# A page shows no more connections.
MOVES_MAX: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Arriving:
    """How many people would come to a connection, and how they stand.

    `people` counts those that it admits, `linked` those among them that are linked already. Of the others `fresh` have
    never proved their address, and `own` have an account of the organization's own: a word of the connection opens what
    they have. The `kept_out` are not admitted: their membership or account is deactivated, or the address not theirs.
    """

    connection_id: UUID
    name: str
    is_vouched_for: bool
    people: int
    fresh: int
    own: int
    linked: int
    kept_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveEffects:
    """The effects on people who sign in by a connection: how many are linked, linked at once, or type a mailed code.

    `kept_out` are admitted neither before nor after.
    """

    connection_id: UUID
    connection_name: str
    linked: int
    at_once: int
    by_code: int
    kept_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeEffects:
    """What a change of a connection ends: links and sessions; and how its people are linked again.

    Nothing ends where the connection still leads to the same provider, as with a new certificate beside the old one.
    """

    identities_unlinked: int
    sessions_ended: int
    at_once: int
    by_code: int
    kept_out: int

    @property
    def ends_links(self) -> bool:
        """Whether people are unlinked."""
        return self.identities_unlinked > 0


NOTHING_ENDS: Final = ChangeEffects(identities_unlinked=0, sessions_ended=0, at_once=0, by_code=0, kept_out=0)


def of_route(uow: UnitOfWork, slug: str, route_id: UUID) -> Sequence[MoveEffects]:
    """Return for each connection, the oldest first, the effects of leading a mail domain to it; raise `RouteUnknown`.

    A domain that is not proved has none: no one signs in by its route.
    """
    editor = Editor.of_reader(uow, slug, Operation.DOMAIN_ROUTES_READ)
    claim = domain_routes.found(uow, editor.organization_id, route_id)
    if not claim.is_in_force_at(uow.now):
        return []
    arriving = uow.connection_moves.of_domain(
        editor.organization_id, claim.proof.domain, connection_id=None, limit=MOVES_MAX
    )
    return [_effects(editor, claim, one) for one in arriving]


def preview_route(uow: UnitOfWork, slug: str, route_id: UUID, connection_id: UUID | None) -> MoveEffects:
    """Return the effects of leading a mail domain to a connection, or without one the effects of where it leads now.

    Raise as `domain_routes.change`, and `DomainUnproved` for a domain that is not proved: a claim to a domain with a
    single person would reveal the state of their account.
    """
    editor = Editor.of_reader(uow, slug, Operation.DOMAIN_ROUTES_CHANGE)
    if connection_id is not None:
        domain_routes.require_connection(uow, editor.organization_id, connection_id)
    claim = domain_routes.found(uow, editor.organization_id, route_id)
    if not claim.is_in_force_at(uow.now):
        raise DomainUnproved
    [arriving] = uow.connection_moves.of_domain(
        editor.organization_id, claim.proof.domain, connection_id=connection_id or claim.connection_id, limit=1
    )
    return _effects(editor, claim, arriving)


def preview_change(
    uow: UnitOfWork,
    slug: str,
    connection_id: UUID,
    given: ConnectionFields,
    *,
    described: SamlDescription | None,
    allowed: Iterable[Network],
) -> ChangeEffects:
    """Return what a change of a connection ends; raise as `connections.change`."""
    editor = Editor.of_reader(uow, slug, Operation.CONNECTION_CONFIGURE)
    before = connections.found(uow.upstream_connections.find(editor.organization_id, connection_id))
    after = connection_fields.applied(uow, editor, before, given, described, tuple(allowed))
    named = changes.fingerprints(described.certificates) if described is not None else None
    found = changes.judged(uow, editor.organization_id, before, after, named)
    if found.is_elsewhere or found.gains_key:
        changes.require_allowed(uow, editor, before, after, given, keeps_people=not found.is_elsewhere)
    if not found.is_elsewhere:
        return NOTHING_ENDS
    return _effects_of_leading_elsewhere(uow, editor, connection_id)


def of_connection(uow: UnitOfWork, slug: str, connection_id: UUID) -> ChangeEffects:
    """Return what leading a connection to another provider ends; raise `ConnectionUnknown`."""
    editor = Editor.of_reader(uow, slug, Operation.CONNECTIONS_READ)
    return _effects_of_leading_elsewhere(uow, editor, connection_id)


def _effects_of_leading_elsewhere(uow: UnitOfWork, editor: Editor, connection_id: UUID) -> ChangeEffects:
    arriving = connections.found(uow.connection_moves.of_linked(editor.organization_id, connection_id))
    identities, sessions = uow.upstream_connections.count_uses(editor.organization_id, connection_id, at=uow.now)
    at_once = arriving.fresh + (arriving.own if editor.may_trust else 0)
    return ChangeEffects(
        identities_unlinked=identities,
        sessions_ended=sessions,
        at_once=at_once,
        by_code=arriving.people - at_once,
        kept_out=arriving.kept_out,
    )


def _effects(editor: Editor, claim: RouteClaim, arriving: Arriving) -> MoveEffects:
    # A domain that already leads there need not be led there by the editor.
    is_led = editor.may_trust if arriving.connection_id != claim.connection_id else claim.is_vouched_for
    at_once = arriving.fresh + (arriving.own if arriving.is_vouched_for and is_led else 0)
    return MoveEffects(
        connection_id=arriving.connection_id,
        connection_name=arriving.name,
        linked=arriving.linked,
        at_once=at_once,
        by_code=arriving.people - arriving.linked - at_once,
        kept_out=arriving.kept_out,
    )
