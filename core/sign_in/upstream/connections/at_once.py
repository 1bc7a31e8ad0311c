"""Linking at once, without a mailed code, when an organization moves to another provider.

The first sign-in by a connection of a user with an account asks for a mailed code, except where the account is the
organization's own: its directory could give such an account another address as well. Such a link rests on the
connection's word alone, so it opens few roles before a mailed code (`entitlement.py`).

A person who may only set up connections must not be able to become another person. So the mail domain of the address
has to lead to the connection, and the connection has to be *vouched for*: the person who said where it leads, what of
its answers counts, or which domains lead to it, may give every role of the organization. The first change by an editor
who may not ends that (`changes.py`, `domain_routes.py`); an editor who may, and says anew where it leads, begins it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from core.accounts.users import User
from core.email_addresses import domain_of
from core.sign_in.entitlement import ConnectionStanding
from core.sign_in.upstream.connections.connection_fields import ConnectionFields, ConnectionRecord
from core.sign_in.upstream.connections.editors import Editor

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


def links(
    uow: UnitOfWork, organization_id: UUID, connection: ConnectionRecord, user: User, standing: ConnectionStanding
) -> bool:
    """Return whether a connection links the account of an address that its provider gives, without a mailed code.

    The account is locked, where a sign-in follows.
    """
    if not standing.is_in_mail_domain or standing.is_suspended or user.is_disowned:
        return False
    if not user.may_sign_in or user.closed_at is not None:
        return False
    if standing.role is None and not standing.is_end_user:
        return False
    if not uow.upstream_connections.is_vouched_for(organization_id, connection.id, at_domain=domain_of(user.email)):
        return False
    belonging = uow.own_accounts.belonging(organization_id, user.id)
    return belonging is not None and belonging.is_own_of(organization_id)


def vouch(
    uow: UnitOfWork,
    editor: Editor,
    before: ConnectionRecord,
    after: ConnectionRecord,
    given: ConnectionFields,
    *,
    gains_key: bool,
) -> None:
    """Store whether a connection is vouched for after a change, or after it was made.

    An editor who may not give every role vouches for nothing, and ends it by a change of where the connection leads or
    of what counts of its answers, and by switching it on. One who may begins it by saying where it leads.
    """
    organization_id = editor.organization_id
    if editor.may_trust:
        is_said = _says_where_it_leads(after, given)
        if is_said and uow.upstream_connections.save_vouched_for(organization_id, after.id, is_vouched_for=True):
            # What has not been vouched for may have answered a sign-in that is under way.
            uow.unfinished_sign_ins.end_by_connection(organization_id, after.id)
        return
    is_switched_on = after.enabled and not before.enabled
    if gains_key or is_switched_on or _leading(before) != _leading(after):
        uow.upstream_connections.save_vouched_for(organization_id, after.id, is_vouched_for=False)


def lead_domain(uow: UnitOfWork, editor: Editor, connection_id: UUID) -> UUID | None:
    """Store that an editor leads a mail domain to a connection; return the connection if the editor vouches for that.

    An editor who later says where the connection leads does not vouch for the domains that others have led to it.
    """
    if editor.may_trust:
        return connection_id
    uow.upstream_connections.save_vouched_for(editor.organization_id, connection_id, is_vouched_for=False)
    return None


def _says_where_it_leads(after: ConnectionRecord, given: ConnectionFields) -> bool:
    """Return whether given name the provider, and what counts of its answers where that is unusual."""
    names_provider = any(one is not None for one in (given.issuer, given.metadata_url, given.metadata_xml))
    # Another application at the same provider may get other addresses for the same people.
    names_client = after.client_id is None or given.client_id is not None
    names_mapping = not after.attribute_mapping or given.attribute_mapping is not None
    names_format = after.name_id_format is None or given.name_id_format is not None
    return names_provider and names_client and names_mapping and names_format


def _leading(connection: ConnectionRecord) -> tuple[object, ...]:
    return (
        connection.issuer,
        connection.client_id,
        connection.metadata_url,
        connection.metadata_xml,
        connection.attribute_mapping,
        # The name in this format may contain the address.
        connection.name_id_format,
    )
