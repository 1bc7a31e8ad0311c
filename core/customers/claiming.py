"""Claiming: the reader of a mailed link becomes the owner of an organization that a vendor made (ops/decisions/0114).

Only the reader of the mail sees the link. It proves nothing by itself: the claimer has signed in to an account with the
proved address that the vendor named. What the vendor has made for the customer stays as it is, except open setup links,
which end. The owner chooses what the vendor may go on setting up.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.customers import customers, relation_log
from core.customers.customers import ServiceCustomer, Vendor, VendorPath
from core.customers.relation_log import CustomerSide, Relation
from core.email_addresses import domain_of, normalize_email
from core.errors import BadRequest, Conflict, Forbidden, all_valid
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.mail import mail
from core.mail.mail import MailTemplate
from core.organizations import management
from core.organizations.access import Operation
from core.organizations.management import AddressNotVerified, SlugTaken
from core.organizations.organizations import OWNER, Membership, checked_name
from core.secrets import hash_token
from core.services.api_keys import Permission
from core.sessions import callers
from core.sessions.caller_limits import Act
from core.sessions.callers import Caller
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

LIFETIME: Final = timedelta(days=7)


class SetupPart(StrEnum):
    """A part that a vendor sets up for a customer if the owner of the customer allows it."""

    UPSTREAM = "upstream"
    MAIL_DOMAIN = "mail_domain"
    SCIM = "scim"
    GROUPS = "groups"


class NotUnclaimed(Conflict):
    """The customer's organization has an owner, or the vendor has not made it."""

    default_message = "Only a customer that you have made, and that no person owns yet, gets an owner by a link."


class ClaimUnusable(BadRequest):
    """The link is unknown, expired, used or replaced, or the customer has ended; the answer does not tell which."""

    default_message = (
        "This link is not valid any more. It was used, it has expired, or a later one replaced it. Ask the company that"
        " sent it for a new one."
    )


class ClaimOfOther(Forbidden):
    """The link was sent to another address than that of the caller's account."""

    default_message = (
        "The address of your account does not match this link. Sign out, and sign in with the address to which the link"
        " was sent."
    )


class OutsideMailDomain(BadRequest):
    """Mail domains are proved for the customer, and the address is in none of them."""

    default_message = (
        "A mail domain was proved for this customer, and this address is not in it. Name an address in the mail domain."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimLink:
    """A link to a customer that no person owns yet, or that a person has claimed by this link."""

    relation: Relation
    email: str
    expires_at: datetime
    claimed_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedOwner:
    """The person that a vendor last asked to own a customer."""

    email: str
    created_at: datetime
    expires_at: datetime
    claimed_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeThings:
    """How much a vendor has made for a customer."""

    connections: int = 0
    mail_domains: int = 0
    scim_tokens: int = 0
    group_rules: int = 0
    setup_links: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimable:
    """A link that the caller may use, and what the vendor has made.

    `claimed_slug` is the slug of the organization if the caller has claimed it already; None while the link is open.
    """

    link: ClaimLink
    made: MadeThings
    claimed_slug: str | None


def name_owner(uow: UnitOfWork, of: VendorPath, customer_id: UUID, *, email: str) -> ServiceCustomer:
    """Mail a link that makes its reader the owner of a customer's organization; it replaces an open one.

    Raise `CustomerUnknown`, `NotUnclaimed`, `OutsideMailDomain`, and `RateLimitExceeded` after too many mails.
    """
    vendor = customers.authorize_vendor(uow, of, Operation.CUSTOMER_OWNER_NAME, Permission.SETUP_CUSTOMERS)
    address = checked_address(uow, email, "email")
    customer = _lock_unclaimed(uow, vendor, customer_id)
    send_link(uow, vendor, customer, address)
    return customer


def checked_address(uow: UnitOfWork, email: str, field: str) -> str:
    """Return the normal form of the address of a future owner; raise `BadRequest` for the field."""
    return normalize_email(email, uow.domain_names.to_ascii, field)


def send_link(uow: UnitOfWork, vendor: Vendor, customer: ServiceCustomer, address: str) -> None:
    """Mail the link of an unclaimed customer to an address in its normal form."""
    _require_in_domain(uow, customer.id, address)
    token = uow.randomness.mail_token()
    owner = NamedOwner(email=address, created_at=uow.now, expires_at=uow.now + LIFETIME, claimed_at=None)
    uow.customer_claims.put(vendor.service, customer.id, owner, token_hash=hash_token(token.reveal()))
    relation = customers.relation(vendor.organization, vendor.service, customer)
    uow.record(
        AuditAction.CUSTOMER_OWNER_NAMED,
        customer.id,
        organization_id=vendor.organization.id,
        owner_email=address,
        **relation.seen_by_vendor,
    )
    assert relation.customer_organization_id is not None, "an unclaimed customer has no organization"
    # In the customer's log too, where its later owner reads which address the vendor has asked.
    uow.audit_elsewhere(
        AuditAction.CUSTOMER_OWNER_NAMED,
        customer.id,
        organization_id=relation.customer_organization_id,
        by=CustomerSide.VENDOR,
        owner_email=address,
        **relation.seen_by_customer,
    )
    mail.send(
        uow,
        address,
        MailTemplate.CUSTOMER_CLAIM,
        organization_id=vendor.organization.id,
        token=token.reveal(),
        vendor=vendor.organization.name,
        service=vendor.service.name,
        organization=customer.name or "",
    )


def inspect(uow: UnitOfWork, token: str) -> ClaimLink:
    """Return the customer of a link, and change nothing; raise `ClaimUnusable`."""
    return _find(uow, token)


def show(uow: UnitOfWork, token: str) -> Claimable:
    """Return what the caller would claim, and change nothing; raise `ClaimUnusable` and `ClaimOfOther`."""
    caller = _require_claimer(uow)
    link = _find(uow, token)
    _require_address(caller, link)
    slug = _claimed_slug(uow, caller, link)
    return Claimable(link=link, made=uow.customer_claims.made_for(link.relation.customer_id), claimed_slug=slug)


def claim(uow: UnitOfWork, token: str, *, name: str, slug: str, vendor_setup: Sequence[str]) -> str:
    """Make the caller the owner of the organization of a link, under a name and slug of their own; return the slug.

    Raise `ClaimUnusable`, `ClaimOfOther`, `OutsideMailDomain`, `SlugTaken` and `TooManyPending`. A caller who has
    claimed it by the same link already gets the slug that it has.
    """
    _require_claimer(uow)
    # The account is locked before the organization, as in `creation.create`.
    caller = callers.lock_account(uow)
    link = _find(uow, token)
    _require_address(caller, link)
    organization_id = link.relation.customer_organization_id
    assert organization_id is not None, "a link names no organization"
    organization = uow.organizations.lock(organization_id)
    # Again, behind the lock: the vendor may have ended it meanwhile, or the same person has pressed twice.
    link = _find(uow, token)
    claimed = _claimed_slug(uow, caller, link)
    if claimed is not None:
        return claimed
    name, slug, parts = all_valid(
        lambda: checked_name(name), lambda: _checked_slug(slug, link), lambda: checked_parts(vendor_setup)
    )
    _require_in_domain(uow, link.relation.customer_id, caller.account.email)
    assert organization is not None, "a locked organization is gone"
    if not organization.is_active:
        management.require_pending_room(uow, caller)
    if not uow.customer_claims.settle(link.relation, name=name, slug=slug, parts=parts):
        raise SlugTaken
    uow.products.keep_slug(slug)
    membership = Membership(
        id=uow.randomness.new_id(),
        organization_id=organization_id,
        user_id=caller.account.id,
        role=OWNER,
        created_at=uow.now,
    )
    uow.members.defer_add(membership, is_confirmed=True)
    ended = uow.customer_claims.end_setup_links(link.relation.customer_id, [part.value for part in SetupPart])
    _record(uow, link.relation, name=name, slug=slug, parts=parts, ended=ended)
    return slug


def checked_parts(names: Collection[str]) -> list[str]:
    """Return the parts with these names, each once and in their order; raise `BadRequest` for an unknown name."""
    known = [part.value for part in SetupPart]
    if not set(names) <= set(known):
        raise BadRequest.of_field(
            "vendor_setup", Wording("Name any of these parts: %(names)s.", names=", ".join(known))
        )
    return [part for part in known if part in names]


def close_parts(uow: UnitOfWork, customer_id: UUID, parts: Sequence[str]) -> None:
    """End what would let the vendor go on setting up parts that its customer has closed.

    Setup links to them end, and the secret of a SCIM token that the vendor has seen is replaced by one that no person
    knows. The organization of the customer is locked, so that the vendor makes nothing meanwhile (`setup_callers.py`).
    """
    uow.customer_claims.end_setup_links(customer_id, parts)
    if SetupPart.SCIM in parts:
        uow.customer_claims.replace_scim_tokens(customer_id)


def _record(uow: UnitOfWork, relation: Relation, *, name: str, slug: str, parts: Sequence[str], ended: int) -> None:
    organization_id = relation.customer_organization_id
    assert organization_id is not None, "a link names no organization"
    uow.record(
        AuditAction.ORGANIZATION_CLAIMED,
        organization_id,
        organization_id=organization_id,
        **relation.seen_by_customer,
        slug=slug,
        name=name,
        vendor_setup=list(parts),
        setup_links_ended=ended,
    )
    uow.record_elsewhere(
        AuditAction.CUSTOMER_CLAIMED,
        relation.customer_id,
        organization_id=relation.vendor_id,
        by=CustomerSide.CUSTOMER,
        **relation_log.renamed(relation, slug=slug, name=name).seen_by_vendor,
        vendor_setup=list(parts),
    )


def _find(uow: UnitOfWork, token: str) -> ClaimLink:
    link = uow.customer_claims.by_token(hash_token(token), at=uow.now)
    if link is None:
        raise ClaimUnusable
    return link


def _require_claimer(uow: UnitOfWork) -> Caller:
    """Return the caller, who may become an owner: in person, for the whole account, with a proved address."""
    caller = uow.caller
    caller.require(Act.WITHOUT_CONTEXT)
    caller.require(Act.LASTING)
    if not caller.account.is_verified:
        raise AddressNotVerified
    return caller


def _require_address(caller: Caller, link: ClaimLink) -> None:
    if caller.account.email != link.email:
        raise ClaimOfOther


def _claimed_slug(uow: UnitOfWork, caller: Caller, link: ClaimLink) -> str | None:
    """Return the slug of an organization that the caller has claimed by the link; None for an open link.

    Raise `ClaimUnusable` for a link by which another person has claimed it.
    """
    if link.claimed_at is None:
        return None
    organization_id = link.relation.customer_organization_id
    assert organization_id is not None, "a link names no organization"
    if uow.members.of_user(organization_id, caller.account.id) is None:
        raise ClaimUnusable
    return link.relation.customer_slug


def _checked_slug(text: str, link: ClaimLink) -> str:
    return text if text == link.relation.customer_slug else management.checked_new_slug(text)


def _lock_unclaimed(uow: UnitOfWork, vendor: Vendor, customer_id: UUID) -> ServiceCustomer:
    """Return a customer that no person can claim before the transaction ends; raise `NotUnclaimed`."""
    before = customers.find(uow, vendor.service, customer_id)
    if before.organization_id is None:
        raise NotUnclaimed
    uow.organizations.lock(before.organization_id)
    customer = customers.find(uow, vendor.service, customer_id)
    if not customer.is_unclaimed:
        raise NotUnclaimed
    return customer


def _require_in_domain(uow: UnitOfWork, customer_id: UUID, address: str) -> None:
    """Raise `OutsideMailDomain` for an address outside the mail domains that are proved for a customer."""
    domains = uow.customer_claims.mail_domains(customer_id)
    if domains and domain_of(address) not in domains:
        raise OutsideMailDomain
