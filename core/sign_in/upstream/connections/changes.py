"""Changes of where a connection leads, and what ends with them.

A connection leads elsewhere with another issuer (or entity id), another client id, another mapping of the id or another
format of the names that are the ids, or when none of the certificates stays by which assertions were verified. Then its
ids may mean other people: its identities are unlinked, its sessions end, and so do the sign-ins that are under way.
Switching a connection off, and no longer trusting it with the second factor, end its sessions too.

Certificates stay that the connection's own metadata address publishes for the same entity id: over https, at an address
that has not changed since the last sign-in by it, and that was set by an editor who may give every role. They are taken
over within the hour (`actors/certificates.py`) and at the first answer that they sign, and the owner gets a mail.

All ways to change a connection lead through here: a member, the holder of a setup link, and metadata that have changed
when they are read again. An editor who adds a certificate, or another place to read metadata from, can sign in as every
person who is linked. So once people are linked, that takes the right to give every role, even though they stay linked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from core.errors import BadRequest, Conflict
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.mail import mail
from core.mail.mail import MailTemplate
from core.organizations import group_roles
from core.sessions import sessions
from core.sign_in.reasons import SignInReason
from core.sign_in.upstream.connections import at_once, connection_fields
from core.sign_in.upstream.connections.connection_fields import ConnectionFields, ConnectionRecord
from core.sign_in.upstream.connections.editors import Editor
from core.sign_in.upstream.provider_answers import UpstreamFailed
from core.sign_in.upstream.saml import SamlMetadata

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class IdentitiesLinked(Conflict):
    """The holder of a setup link would unlink accounts with which people already sign in."""

    default_message = (
        "People sign in by this connection already, and this change would unlink their accounts. Ask the person who"
        " sent you the link to make it."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedMetadata:
    """Where the metadata of a connection are published, and the SHA-256 of the certificates by which it verifies."""

    organization_id: UUID
    connection_id: UUID
    metadata_url: str
    issuer: str | None
    certificates: list[str] | None

    @property
    def metadata(self) -> SamlMetadata:
        """The metadata of its identity provider, which must not become another's unnoticed."""
        return SamlMetadata(url=self.metadata_url, xml=None, entity_id=self.issuer)

    def names(self, certificates: Iterable[str]) -> frozenset[str] | None:
        """Return the SHA-256 of certificates that are published now; None if they are those by which it verifies."""
        named = fingerprints(certificates)
        return None if self.certificates is not None and named == frozenset(self.certificates) else named


def published_metadata(uow: UnitOfWork, after: UUID | None, limit: int) -> Sequence[PublishedMetadata]:
    """Return connections whose metadata are to be read again, in the order of their ids."""
    return uow.upstream_connections.with_published_metadata(after, limit)


def fingerprints(certificates: Iterable[str]) -> frozenset[str]:
    """Return the SHA-256 of certificates."""
    return frozenset(hashlib.sha256(certificate.encode()).hexdigest() for certificate in certificates)


def leads_elsewhere(
    before: ConnectionRecord, after: ConnectionRecord, *, known: frozenset[str] | None, named: frozenset[str] | None
) -> bool:
    """Return whether a connection leads elsewhere than before.

    `known` are the certificates that verify now, None for unknown ones; `named` are in new metadata, None without.
    """
    if before.issuer is None:
        return False
    is_other_key = named is not None and (known is None or known.isdisjoint(named))
    return is_other_key or any(
        old != new
        for old, new in (
            (before.issuer, after.issuer),
            (before.client_id, after.client_id),
            (before.attribute_mapping.get("id"), after.attribute_mapping.get("id")),
            # Names of another format may mean other people, too.
            *(() if after.maps_id else ((before.name_id_format, after.name_id_format),)),
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What a change does to a connection: whether it leads elsewhere, and whether other certificates verify."""

    is_elsewhere: bool
    gains_key: bool


def judged(
    uow: UnitOfWork,
    organization_id: UUID,
    before: ConnectionRecord,
    after: ConnectionRecord,
    named: frozenset[str] | None,
) -> Judged:
    """Return what a change does to a connection; `named` are the certificates of new metadata, None without."""
    known = uow.upstream_connections.certificates_of(organization_id, before.id)
    is_same_address = after.metadata_url is not None and after.metadata_url == before.metadata_url
    if known is not None and named is not None and is_same_address and _takes_certificates(uow, organization_id, after):
        known |= named
    return Judged(
        is_elsewhere=leads_elsewhere(before, after, known=known, named=named),
        gains_key=gains_key(before, after, known=known, named=named),
    )


def gains_key(
    before: ConnectionRecord, after: ConnectionRecord, *, known: frozenset[str] | None, named: frozenset[str] | None
) -> bool:
    """Return whether other certificates verify assertions from now on, or may do so when metadata are read again."""
    is_other_place = after.metadata_url is not None and after.metadata_url != before.metadata_url
    return is_other_place or (named is not None and (known is None or not named <= known))


def require_allowed(
    uow: UnitOfWork,
    editor: Editor,
    before: ConnectionRecord,
    after: ConnectionRecord,
    given: ConnectionFields,
    *,
    keeps_people: bool,
) -> None:
    """Raise unless the editor may let a connection lead elsewhere, or take other answers for the people who are linked.

    Where it gives a role or replaces a second factor, that takes the right to do so; so does keeping people linked. The
    secret for one issuer is never sent to another.
    """
    has_identities = uow.upstream_connections.has_identities(editor.organization_id, before.id)
    if editor.is_link and has_identities:
        raise IdentitiesLinked
    for role in _given_roles(uow, editor.organization_id, before):
        editor.require_may_keep(uow, role)
    if before.trust_mfa or (has_identities and keeps_people):
        editor.require_may_trust()
    if not before.is_saml and after.issuer != before.issuer and given.client_secret is None:
        raise BadRequest.of_field("client_secret", "Another issuer takes the client secret that it has given you.")


def apply(
    uow: UnitOfWork,
    editor: Editor,
    before: ConnectionRecord,
    after: ConnectionRecord,
    given: ConnectionFields,
    named: frozenset[str] | None,
) -> dict[str, Any]:
    """Store the new state of a connection whose organization is locked, and end what ends with the change.

    Return the details to record.
    """
    organization_id = editor.organization_id
    known = uow.upstream_connections.certificates_of(organization_id, before.id)
    found = judged(uow, organization_id, before, after, named)
    is_elsewhere = found.is_elsewhere
    if is_elsewhere or found.gains_key:
        require_allowed(uow, editor, before, after, given, keeps_people=not is_elsewhere)
    if before.attribute_mapping.get("groups") != after.attribute_mapping.get("groups"):
        # From now on other values decide who has the roles of rules.
        for role in uow.group_rules.roles_of_connection(organization_id, before.id):
            editor.require_may_keep(uow, role)
        # Groups from another claim, which its people may be able to write themselves, must not count for this one; nor
        # must the groups that a sign-in under way carries.
        uow.upstream_connections.forget_groups(organization_id, before.id)
        uow.unfinished_sign_ins.end_by_connection(organization_id, before.id)
        group_roles.apply(uow, organization_id, None)
    uow.upstream_connections.save(organization_id, after, connection_fields.secret(given))
    at_once.vouch(uow, editor, before, after, given, gains_key=found.gains_key)
    vouch_for_certificates(uow, editor, before, after, given)
    if named is not None:
        uow.upstream_connections.save_certificates(organization_id, after.id, named)
        if known is not None and not found.gains_key and not named <= known:
            _tell_of_certificates(uow, organization_id, after, known, named)
    if is_elsewhere:
        return _lead_elsewhere(uow, organization_id, after.id)
    if before.enabled and not after.enabled:
        uow.upstream_connections.forget_groups(organization_id, after.id)
        group_roles.apply(uow, organization_id, None)
    gives_less = before.joins_as is not None and after.joins_as != before.joins_as
    if (before.enabled and not after.enabled) or (before.trust_mfa and not after.trust_mfa) or gives_less:
        return {"sessions_ended": end_sessions(uow, organization_id, after.id)}
    if after.enabled and not before.enabled:
        return {"sessions_ended": enforce_routes(uow, organization_id, after.id)}
    return {}


def certificates_of(uow: UnitOfWork, organization_id: UUID, connection_id: UUID) -> frozenset[str] | None:
    """Return the SHA-256 of the certificates of a connection; None while they are not known."""
    return uow.upstream_connections.certificates_of(organization_id, connection_id)


def vouch_for_certificates(
    uow: UnitOfWork, editor: Editor, before: ConnectionRecord, after: ConnectionRecord, given: ConnectionFields
) -> None:
    """Store whether new certificates at the address of the metadata are taken over, where an editor names it."""
    if given.metadata_url is None:
        return
    if editor.may_vouch_for_certificates or after.metadata_url != before.metadata_url:
        uow.upstream_connections.save_taking(
            editor.organization_id, after.id, takes_certificates=editor.may_vouch_for_certificates
        )


def follow_metadata(uow: UnitOfWork, organization_id: UUID, connection_id: UUID, named: frozenset[str]) -> bool:
    """Take over the certificates of metadata that were read again; return whether sign-ins may go on.

    If none of the certificates before is among them, and the new ones do not count as staying, the connection leads
    elsewhere. That ends its sessions, and this sign-in with them. Where the connection gives a role or replaces a
    second factor, it changes nothing: raise `UpstreamFailed` until a member who may do so sets the metadata again.
    """
    if take_published(uow, organization_id, connection_id, named):
        return True
    connection = uow.upstream_connections.find(organization_id, connection_id)
    if connection is None:
        return False
    if connection.trust_mfa or _given_roles(uow, organization_id, connection):
        raise UpstreamFailed(
            "The identity provider has replaced all its certificates at once. Ask an administrator of your organization"
            " to set its metadata again, which confirms the new ones."
        ).because(SignInReason.CERTIFICATES_REPLACED)
    uow.upstream_connections.save_certificates(organization_id, connection_id, named)
    details = _lead_elsewhere(uow, organization_id, connection_id)
    editor = Editor(organization_id=organization_id)
    record(uow, editor, AuditAction.UPSTREAM_CONNECTION_UPDATED, connection, cause="metadata", **details)
    return False


def take_published(uow: UnitOfWork, organization_id: UUID, connection_id: UUID, named: frozenset[str]) -> bool:
    """Take over the certificates that the metadata of a connection publish now, where that ends no link.

    Return whether they count from now on; False also for a connection that is gone. New ones are mailed to the owner.
    """
    uow.organizations.lock(organization_id)
    connection = uow.upstream_connections.find(organization_id, connection_id)
    if connection is None or not would_take(uow, organization_id, connection, named):
        return False
    known = uow.upstream_connections.certificates_of(organization_id, connection_id)
    uow.upstream_connections.save_certificates(organization_id, connection_id, named)
    if known is not None and not named <= known:
        _tell_of_certificates(uow, organization_id, connection, known, named)
    return True


def take_if_stored(uow: UnitOfWork, organization_id: UUID, connection_id: UUID, named: frozenset[str]) -> bool:
    """Do what `take_published` does, for a check; True also for a connection that is gone, which has no problem."""
    is_taken = take_published(uow, organization_id, connection_id, named)
    return is_taken or uow.upstream_connections.find(organization_id, connection_id) is None


def would_take(uow: UnitOfWork, organization_id: UUID, connection: ConnectionRecord, named: frozenset[str]) -> bool:
    """Return whether certificates that the metadata of a connection publish now end no link."""
    known = uow.upstream_connections.certificates_of(organization_id, connection.id)
    return known is None or not known.isdisjoint(named) or _takes_certificates(uow, organization_id, connection)


def _takes_certificates(uow: UnitOfWork, organization_id: UUID, connection: ConnectionRecord) -> bool:
    url = connection.metadata_url
    return (
        url is not None
        and connection_fields.is_protected(url)
        and uow.upstream_connections.takes_certificates(organization_id, connection.id)
    )


def _tell_of_certificates(
    uow: UnitOfWork,
    organization_id: UUID,
    connection: ConnectionRecord,
    known: frozenset[str],
    named: frozenset[str],
) -> None:
    """Record that other certificates verify from now on, and mail the owner."""
    uow.record(
        AuditAction.CONNECTION_CERTIFICATES_REPLACED,
        organization_id,
        organization_id=organization_id,
        provider_id=str(connection.id),
        provider_name=connection.name,
        issuer=connection.issuer,
        certificates_added=len(named - known),
        certificates_removed=len(known - named),
    )
    owner = uow.mail_servers.find_owner(organization_id)
    if owner is not None:
        mail.send(
            uow,
            owner.email,
            MailTemplate.CONNECTION_CERTIFICATES_REPLACED,
            organization_id=organization_id,
            organization=owner.organization_name,
            connection=connection.name,
            at=uow.now.strftime("%Y-%m-%d %H:%M UTC"),
        )


def end_sessions(uow: UnitOfWork, organization_id: UUID, connection_id: UUID) -> int:
    """End the sessions of a connection and its sign-ins that are under way; return how many sessions ended.

    The organization is locked, so that none begins in the meantime.
    """
    uow.unfinished_sign_ins.end_by_connection(organization_id, connection_id)
    ended = list(uow.sessions.revoke_by_connection(organization_id, connection_id))
    # A statement of its own: it finds what began while the ones above waited for a lock.
    ended += uow.sessions.revoke_by_connection(organization_id, connection_id)
    sessions.record_ended_of(uow, ended, organization_id, connection_id=str(connection_id))
    return len(ended)


def record(uow: UnitOfWork, editor: Editor, action: AuditAction, connection: ConnectionRecord, **details: Any) -> None:
    """Record a change of a connection."""
    editor.record(
        uow,
        action,
        provider_id=str(connection.id),
        provider_name=connection.name,
        issuer=connection.issuer,
        joins_as=connection.joins_as,
        trust_mfa=connection.trust_mfa,
        **({"token_issuer": connection.token_issuer} if connection.token_issuer is not None else {}),
        **({"name_id_format": connection.name_id_format} if connection.name_id_format is not None else {}),
        **({"signs_out_at_provider": True} if connection.signs_out_at_provider else {}),
        enabled=connection.enabled,
        **details,
    )


def _lead_elsewhere(uow: UnitOfWork, organization_id: UUID, connection_id: UUID) -> dict[str, Any]:
    ended = end_sessions(uow, organization_id, connection_id)
    unlinked = uow.upstream_connections.unlink_all(organization_id, connection_id)
    # Its earlier assertions no longer count.
    group_roles.apply(uow, organization_id, None)
    return {"leads_elsewhere": True, "identities_unlinked": unlinked, "sessions_ended": ended}


def _given_roles(uow: UnitOfWork, organization_id: UUID, connection: ConnectionRecord) -> Sequence[str]:
    """Return the roles that a connection gives: to people who join by it, and by rules."""
    joins_as = [connection.joins_as] if connection.joins_as is not None else []
    return [*joins_as, *uow.group_rules.roles_of_connection(organization_id, connection.id)]


def enforce_domain(uow: UnitOfWork, organization_id: UUID, connection_id: UUID, domain: str) -> int:
    """End the sessions of addresses of a domain that did not begin by a connection; return how many.

    They are sessions of members and end users, on the platform or in the organization's context; its owner and platform
    owners are exempt. The route is locked; sign-ins of such addresses wait for it, and are refused from then on
    (`core/accounts/single_sign_on.py`).
    """
    ended = list(uow.sessions.revoke_not_by_connection(organization_id, connection_id, domain=domain))
    # A statement of its own: it finds the children that began while the one above waited for their parents.
    ended += uow.sessions.revoke_not_by_connection(organization_id, connection_id, domain=domain)
    sessions.record_ended_of(uow, ended, organization_id, reason="sso_enforced")
    return len(ended)


def enforce_routes(uow: UnitOfWork, organization_id: UUID, connection_id: UUID) -> int:
    """Do what `enforce_domain` does, for every route that enforces a connection which is switched on again."""
    return sum(
        enforce_domain(uow, organization_id, connection_id, claim.proof.domain)
        for claim in uow.domain_routes.enforced_to(organization_id, connection_id)
    )
