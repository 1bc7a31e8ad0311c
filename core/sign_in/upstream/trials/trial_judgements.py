"""The result for the person that a provider has signed in for a trial, if the sign-in were real, as things are now.

It follows the rules of a sign-in by a connection (`sign_in.py`, `core/sign_in/entitlement.py`), and says of people only
what lies in the organization: only signing in reveals whether another account has the address.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING
from uuid import UUID

from core.accounts.sign_in_methods import Provider
from core.email_addresses import domain_of, normalize_email
from core.errors import BadRequest
from core.lazy_dataclasses import dataclass
from core.organizations import members
from core.organizations.organizations import Organization
from core.sign_in.identities import IdentityContext
from core.sign_in.upstream import by_connection, sign_in
from core.sign_in.upstream.connections import at_once
from core.sign_in.upstream.connections.connection_fields import ConnectionRecord
from core.sign_in.upstream.trials.trials import TrialAnswer

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class TrialVerdict(StrEnum):
    """What a sign-in of the person would lead to."""

    # Refused
    NO_ADDRESS = "no_address"
    NOT_AN_ADDRESS = "not_an_address"
    FOREIGN_DOMAIN = "foreign_domain"
    DOMAIN_PENDING = "domain_pending"
    NOT_ADMITTED = "not_admitted"
    ORGANIZATION_FULL = "organization_full"
    # Admitted
    LINKED = "linked"
    TO_LINK = "to_link"
    JOINS = "joins"
    USER = "user"
    # The holder of a setup link learns no more.
    ACCEPTED = "accepted"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialJudgement:
    """The verdict, the address as it is understood, and the role; None where there is none.

    `links_at_once`: an account is linked without a sign-in to it (`at_once.py`).
    """

    verdict: TrialVerdict
    email: str | None
    is_own_domain: bool
    role: str | None = None
    links_at_once: bool = False


def judged(
    uow: UnitOfWork,
    organization: Organization,
    connection: ConnectionRecord,
    answer: TrialAnswer,
    *,
    is_for_link: bool = False,
) -> TrialJudgement | None:
    """Return the result for the person of a trial; None when it has brought no person.

    The holder of a setup link does not learn what a person has here.
    """
    if answer.problem is not None or answer.subject is None:
        return None
    email = _address(uow, answer.email)
    refused = _refused_for_address(uow, organization.id, email, answer.email)
    if is_for_link:
        return TrialJudgement(verdict=refused or TrialVerdict.ACCEPTED, email=email, is_own_domain=refused is None)
    verdict, role = _verdict(uow, organization, connection, answer.subject, email, refused)
    return TrialJudgement(
        verdict=verdict,
        email=email,
        is_own_domain=refused is None,
        role=role,
        links_at_once=verdict is TrialVerdict.TO_LINK and _links_at_once(uow, organization.id, connection, email),
    )


def _verdict(
    uow: UnitOfWork,
    organization: Organization,
    connection: ConnectionRecord,
    subject: str,
    email: str | None,
    refused: TrialVerdict | None,
) -> tuple[TrialVerdict, str | None]:
    context = IdentityContext(organization_id=organization.id, connection_id=connection.id)
    identity = uow.identities.find(Provider.UPSTREAM, subject, context)
    if identity is not None:
        return _of_linked(uow, organization.id, connection.id, identity.user_id)
    back = by_connection.standing_of_id(uow, organization.id, connection, subject)
    if back is not None:
        return TrialVerdict.LINKED, back.role
    if refused is not None:
        return refused, None
    assert email is not None, "a person without an address was taken"
    known = uow.sign_ins.affiliated(organization.id, email)
    membership = uow.members.of_user(organization.id, known) if known is not None else None
    if membership is not None:
        return TrialVerdict.TO_LINK, membership.role
    role = by_connection.role_to_join(uow, organization.id, connection)
    if role is None:
        return TrialVerdict.USER, None
    if not members.defer_room(uow, organization, joining=1)():
        return TrialVerdict.ORGANIZATION_FULL, None
    return TrialVerdict.JOINS, role


def _links_at_once(uow: UnitOfWork, organization_id: UUID, connection: ConnectionRecord, email: str | None) -> bool:
    user = uow.users.by_email(email or "")
    standing = uow.identities.standing(user.id, organization_id, connection.id) if user is not None else None
    return user is not None and standing is not None and at_once.links(uow, organization_id, connection, user, standing)


def _refused_for_address(
    uow: UnitOfWork, organization_id: UUID, email: str | None, given: str | None
) -> TrialVerdict | None:
    """Return why a person who is not linked is refused for the address; None for one that is taken.

    `given` is what the provider has sent in its place.
    """
    if email is None:
        return TrialVerdict.NOT_AN_ADDRESS if given else TrialVerdict.NO_ADDRESS
    if sign_in.vouches_for(uow, organization_id, email):
        return None
    claimed = {claim.proof.domain for claim in uow.domain_routes.of_organization(organization_id)}
    return TrialVerdict.DOMAIN_PENDING if domain_of(email) in claimed else TrialVerdict.FOREIGN_DOMAIN


def _of_linked(
    uow: UnitOfWork, organization_id: UUID, connection_id: UUID, user_id: UUID
) -> tuple[TrialVerdict, str | None]:
    standing = uow.identities.standing(user_id, organization_id, connection_id)
    if standing is None or not standing.may_sign_in:
        return TrialVerdict.NOT_ADMITTED, None
    return TrialVerdict.LINKED, standing.role


def _address(uow: UnitOfWork, given: str | None) -> str | None:
    """Return an address as it is stored; None for none, and for one that cannot be one."""
    try:
        return normalize_email(given or "", uow.domain_names.to_ascii)
    except BadRequest:
        return None
