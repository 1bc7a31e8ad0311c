"""What vendors have made for an organization: its owner lists, removes and adopts it.

Vendors make things for their customers in internal organizations (`setup_callers.py`), where they have power
in one relation alone. An adopted thing becomes the organization's own, as if it had made it, with other secrets: the
vendor neither reads nor changes it any more, and it outlives the relation. Adopting makes no members. People that a
thing has admitted to the vendor's service stay admitted there.

Each kind has its own rules. A connection requires that the organization has proved its mail domains itself, and is off
until it is tested anew. A mail domain requires that proof alone. A SCIM token gets another secret. A rule for a group
becomes an assignment of the product, if the organization's own directory has that group. A setup link is not adopted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.customers import products
from core.customers.customers import Relation
from core.customers.relation_log import CustomerSide
from core.errors import Conflict, NotFound
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.organizations import group_roles
from core.organizations.access import Operation
from core.organizations.authorization import OrganizationAccess, authorize, authorize_and_lock
from core.organizations.departures import MadeCredentialKind, record_maker
from core.organizations.organizations import Organization
from core.scim import tokens
from core.secrets import Secret
from core.sign_in.upstream.connections import changes, connections, setup_states
from core.sign_in.upstream.connections.connections import CONNECTIONS_MAX, ConnectionRecord, TooManyConnections
from core.sign_in.upstream.connections.editors import Editor
from core.sign_in.upstream.domains import domain_routes
from core.sign_in.upstream.domains.domain_routes import DomainLoss
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# More are on further pages of the list.
THINGS_SHOWN: Final = 100


class ThingKind(StrEnum):
    """What a vendor makes for a customer."""

    CONNECTION = "connection"
    MAIL_DOMAIN = "mail_domain"
    SCIM_TOKEN = "scim_token"  # noqa: S105 - a kind of thing
    GROUP_RULE = "group_rule"
    SETUP_LINK = "setup_link"


class MadeThingUnknown(NotFound):
    """No vendor has made a thing with that id for the organization, or it was adopted or removed."""

    default_message = "No vendor has made this for your organization, or it was adopted or removed already."


class MailDomainNotProved(Conflict):
    """The organization has not proved a mail domain itself, which adopting takes."""

    def __init__(self, domain: str | None) -> None:
        if domain is None:
            super().__init__(
                "Prove a mail domain of your organization first, under “Sign-in rules and connections”: a connection"
                " asserts addresses of proved mail domains alone. Without a connection of your own, create one by SAML"
                " with a name alone for it."
            )
            return
        super().__init__(
            Wording(
                "Prove the mail domain %(domain)s for your organization first, under “Sign-in rules and connections”:"
                " what the vendor has proved does not count. Without a connection of your own, create one by SAML with"
                " a name alone for it.",
                domain=domain,
            )
        )


class TokenExpired(Conflict):
    """A SCIM token that has expired cannot be adopted."""

    default_message = (
        "This SCIM token has expired. Remove it, and create one of your organization under “Provisioning”."
    )


class GroupMissing(Conflict):
    """The organization's own directory has no group with the name of a rule."""

    def __init__(self, name: str) -> None:
        super().__init__(
            Wording(
                "The directory of your organization has no group %(name)s. Let your directory create it first, or"
                " assign the product to people on its page, and remove this rule.",
                name=name,
            )
        )


class RuleOfConnection(Conflict):
    """A rule for what a connection asserts has no counterpart in the organization."""

    default_message = (
        "This rule is for a group that a connection names at sign-in. Products are assigned to groups of your"
        " directory, to roles and to people. Assign the product on its page, and remove this rule."
    )


class LinkNotAdopted(Conflict):
    """A setup link cannot be adopted."""

    default_message = (
        "A setup link cannot be adopted: it belongs to the vendor's setup. Remove it. Your organization creates setup"
        " links of its own."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ThingForUs:
    """A thing that a vendor has made for the organization; `made_by` is a word of `MadeThrough`, None if not known."""

    id: UUID
    kind: ThingKind
    name: str
    made_at: datetime
    made_by: str | None
    internal_id: UUID
    customer_id: UUID
    client_id: UUID
    vendor_id: UUID
    vendor_slug: str
    vendor_name: str
    service_slug: str
    service_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeThingsPage:
    """A part of what vendors have made, and how much there is."""

    things: Sequence[ThingForUs]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeThingDetail:
    """A thing with what the owner looks at before adopting it.

    `connection` is the connection, and where it leads; None for any other thing. `domains` are the mail domains that
    the thing requires, each with whether the organization has proved it. `rules` are the rules that end with it.
    """

    thing: ThingForUs
    connection: ConnectionRecord | None
    domains: Sequence[tuple[str, bool]]
    rules: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Adopted:
    """The result of adopting a thing: its new id in the organization, and its secret, which is shown once."""

    kind: ThingKind
    id: UUID
    client_id: UUID
    secret: Secret | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Taking:
    """An owner who adopts or removes a thing; everything that it concerns is locked."""

    authorized: OrganizationAccess
    thing: ThingForUs
    relation: Relation

    @property
    def organization(self) -> Organization:
        return self.authorized.organization


def list_page(uow: UnitOfWork, slug: str, *, limit: int, offset: int) -> MadeThingsPage:
    """List what vendors have made for an organization, by vendor, service and kind."""
    organization = authorize(uow, slug, Operation.MADE_FOR_US_READ).organization
    return uow.made_for_us.page(organization.id, limit=limit, offset=offset)


def show(uow: UnitOfWork, slug: str, thing_id: UUID) -> MadeThingDetail:
    """Return a thing with what the owner looks at before adopting or removing it; raise `MadeThingUnknown`."""
    organization = authorize(uow, slug, Operation.MADE_FOR_US_READ).organization
    thing = _found(uow.made_for_us.find(organization.id, thing_id))
    connection = None
    if thing.kind is ThingKind.CONNECTION:
        connection = uow.upstream_connections.find(thing.internal_id, thing_id)
    return MadeThingDetail(
        thing=thing,
        connection=connection,
        domains=[
            (domain, uow.domain_routes.is_own_domain(organization.id, domain)) for domain in _domains_of(uow, thing)
        ],
        rules=[one.group for one in _rules_of(uow, thing)],
    )


def adopt(uow: UnitOfWork, slug: str, thing_id: UUID) -> Adopted:
    """Make a thing the organization's own.

    Raise `MadeThingUnknown`, `SignInTooOld`, and a `Conflict` that says what to do first.
    """
    taking = _take(uow, slug, thing_id, Operation.MADE_FOR_US_ADOPT)
    adopted = _ADOPTING[taking.thing.kind](uow, taking)
    _record(uow, taking, "adopted", {"own_id": str(adopted.id)})
    return adopted


def remove(uow: UnitOfWork, slug: str, thing_id: UUID) -> None:
    """Remove a thing, as its vendor could; raise `MadeThingUnknown` and `SignInTooOld`."""
    taking = _take(uow, slug, thing_id, Operation.MADE_FOR_US_REMOVE)
    _REMOVING[taking.thing.kind](uow, taking.thing)
    _record(uow, taking, "removed", {})


def _take(uow: UnitOfWork, slug: str, thing_id: UUID, operation: Operation) -> _Taking:
    """Authorize the owner, and lock the organization, the vendor's service, and what the vendor has made, in order."""
    authorized = authorize_and_lock(uow, slug, operation)
    products.require_recent(uow, authorized.caller)
    organization_id = authorized.organization.id
    thing = _found(uow.made_for_us.find(organization_id, thing_id))
    # Locked, so that the relation does not end meanwhile and the service loses no role.
    uow.products.lock_service(organization_id, thing.vendor_id, thing.client_id, at=uow.now)
    uow.organizations.lock_internal(thing.customer_id)
    # Again, behind the locks: of two requests at once, the second finds nothing.
    thing = _found(uow.made_for_us.find(organization_id, thing_id))
    relation = uow.service_customers.relation_of(thing.internal_id)
    assert relation is not None, "something is made for a customer that is none"
    return _Taking(authorized=authorized, thing=thing, relation=relation)


def _adopt_connection(uow: UnitOfWork, taking: _Taking) -> Adopted:
    """Make the same connection anew, under its id, which its provider knows: switched off, without its secrets."""
    thing, organization_id = taking.thing, taking.organization.id
    _require_proved(uow, taking)
    if uow.upstream_connections.count(organization_id) >= CONNECTIONS_MAX:
        raise TooManyConnections
    before = connections.found(uow.upstream_connections.find(thing.internal_id, thing.id))
    domains, editor = _domains_of(uow, thing), Editor.of(taking.authorized)
    certificates = uow.upstream_connections.certificates_of(thing.internal_id, thing.id)
    _remove_connection(uow, thing)
    after = replace(before, joins_as=None, trust_mfa=False, enabled=False, created_at=uow.now, updated_at=uow.now)
    # The vendor knows the secret that it has entered, so the organization gets another one from the provider.
    unusable = None if after.is_saml else uow.randomness.token()
    uow.upstream_connections.add(organization_id, after, unusable)
    if certificates is not None:
        uow.upstream_connections.save_certificates(organization_id, after.id, certificates)
    # The vendor has named the address of the metadata, so other certificates from there end the linked identities.
    uow.upstream_connections.save_taking(organization_id, after.id, takes_certificates=False)
    uow.upstream_connections.await_trial(organization_id, after.id)
    maker_id = taking.authorized.caller.maker_id
    record_maker(uow, MadeCredentialKind.CONNECTION, organization_id, after.id, maker_id)
    changes.record(uow, editor, AuditAction.UPSTREAM_CONNECTION_CREATED, after)
    _lead_domains(uow, editor, domains, after.id)
    return Adopted(kind=thing.kind, id=after.id, client_id=thing.client_id)


def _lead_domains(uow: UnitOfWork, editor: Editor, domains: Sequence[str], connection_id: UUID) -> None:
    """Lead the organization's own domains to an adopted connection unless they lead to an enabled one."""
    switched_on = {one.id for one in uow.upstream_connections.of_organization(editor.organization_id) if one.enabled}
    for claim in uow.domain_routes.of_organization(editor.organization_id):
        if claim.proof.domain in domains and claim.connection_id not in switched_on:
            domain_routes.lead(uow, editor, claim, connection_id)


def _adopt_domain(uow: UnitOfWork, taking: _Taking) -> Adopted:
    """Replace a mail domain by the organization's own route, which it has proved."""
    _require_proved(uow, taking)
    _remove_domain(uow, taking.thing)
    own = next(
        one
        for one in uow.domain_routes.of_organization(taking.organization.id)
        if one.proof.domain == taking.thing.name
    )
    return Adopted(kind=taking.thing.kind, id=own.id, client_id=taking.thing.client_id)


def _adopt_token(uow: UnitOfWork, taking: _Taking) -> Adopted:
    thing, organization_id = taking.thing, taking.organization.id
    if len(uow.scim_tokens.of_organization(organization_id)) >= tokens.TOKENS_MAX:
        raise tokens.TooManyTokens
    before = uow.scim_tokens.remove(thing.internal_id, thing.id)
    if before is None:
        raise MadeThingUnknown
    if before.has_expired(uow.now):
        raise TokenExpired
    token, secret = tokens.make(
        uow, taking.authorized, name=before.name, expires_at=before.expires_at, groups=before.groups
    )
    tokens.tell_vendor(uow, thing.internal_id, thing.id, "removed")
    return Adopted(kind=thing.kind, id=token.id, client_id=thing.client_id, secret=secret)


def _adopt_rule(uow: UnitOfWork, taking: _Taking) -> Adopted:
    """Assign the product to the group of the organization's directory that has the name of the group of a rule."""
    thing = taking.thing
    rule = next(one for one in uow.customer_group_rules.of_customer(thing.internal_id) if one.id == thing.id)
    if rule.group_name is None:
        raise RuleOfConnection
    group_id = uow.made_for_us.own_group(taking.organization.id, rule.group_name)
    if group_id is None:
        raise GroupMissing(rule.group_name)
    products.assign_also(uow, taking.organization, thing.client_id, f"group:{group_id}", rule.service_roles)
    uow.customer_group_rules.remove(thing.internal_id, thing.id)
    return Adopted(kind=thing.kind, id=group_id, client_id=thing.client_id)


def _adopt_link(_uow: UnitOfWork, _taking: _Taking) -> Adopted:
    raise LinkNotAdopted


def _remove_connection(uow: UnitOfWork, thing: ThingForUs) -> None:
    """Remove a connection with its identities, its mail domains and its rules; tell the vendor."""
    lost = [route for route in _routes_to(uow, thing) if route.proof.verified_at is not None]
    changes.end_sessions(uow, thing.internal_id, thing.id)
    uow.upstream_connections.remove(thing.internal_id, thing.id)
    group_roles.apply(uow, thing.internal_id, None)
    setup_states.end(uow, thing.internal_id, thing.id)
    for route in lost:
        domain_routes.tell_of_loss(uow, thing.internal_id, route.proof.domain, DomainLoss.REMOVED)


def _remove_domain(uow: UnitOfWork, thing: ThingForUs) -> None:
    claim = uow.domain_routes.lock(thing.internal_id, thing.id)
    if claim is None:
        raise MadeThingUnknown
    uow.domain_routes.remove(thing.internal_id, thing.id)
    if claim.proof.verified_at is not None:
        domain_routes.tell_of_loss(uow, thing.internal_id, claim.proof.domain, DomainLoss.REMOVED)


def _remove_token(uow: UnitOfWork, thing: ThingForUs) -> None:
    if uow.scim_tokens.remove(thing.internal_id, thing.id) is None:
        raise MadeThingUnknown
    tokens.tell_vendor(uow, thing.internal_id, thing.id, "removed")


def _remove_rule(uow: UnitOfWork, thing: ThingForUs) -> None:
    uow.customer_group_rules.remove(thing.internal_id, thing.id)


def _remove_link(uow: UnitOfWork, thing: ThingForUs) -> None:
    if uow.customer_setup_links.remove(thing.internal_id, thing.id) is None:
        raise MadeThingUnknown


_ADOPTING: Final = {
    ThingKind.CONNECTION: _adopt_connection,
    ThingKind.MAIL_DOMAIN: _adopt_domain,
    ThingKind.SCIM_TOKEN: _adopt_token,
    ThingKind.GROUP_RULE: _adopt_rule,
    ThingKind.SETUP_LINK: _adopt_link,
}
_REMOVING: Final = {
    ThingKind.CONNECTION: _remove_connection,
    ThingKind.MAIL_DOMAIN: _remove_domain,
    ThingKind.SCIM_TOKEN: _remove_token,
    ThingKind.GROUP_RULE: _remove_rule,
    ThingKind.SETUP_LINK: _remove_link,
}


def _require_proved(uow: UnitOfWork, taking: _Taking) -> None:
    """Raise `MailDomainNotProved` unless the organization has proved the mail domains that adopting requires."""
    organization_id = taking.organization.id
    domains = _domains_of(uow, taking.thing)
    for domain in domains:
        if not uow.domain_routes.is_own_domain(organization_id, domain):
            raise MailDomainNotProved(domain)
    own = uow.domain_routes.of_organization(organization_id)
    if not domains and not any(claim.is_in_force_at(uow.now) for claim in own):
        raise MailDomainNotProved(None)


def _domains_of(uow: UnitOfWork, thing: ThingForUs) -> Sequence[str]:
    """Return the mail domains that adopting a thing requires: the thing itself, or the domains that lead to it."""
    if thing.kind is ThingKind.MAIL_DOMAIN:
        return [thing.name]
    return [route.proof.domain for route in _routes_to(uow, thing)]


def _routes_to(uow: UnitOfWork, thing: ThingForUs) -> Sequence[domain_routes.RouteClaim]:
    if thing.kind is not ThingKind.CONNECTION:
        return []
    return [one for one in uow.domain_routes.of_organization(thing.internal_id) if one.connection_id == thing.id]


def _rules_of(uow: UnitOfWork, thing: ThingForUs) -> Sequence[Any]:
    if thing.kind is not ThingKind.CONNECTION:
        return []
    return [one for one in uow.customer_group_rules.of_customer(thing.internal_id) if one.source == str(thing.id)]


def _record(uow: UnitOfWork, taking: _Taking, action: str, own: dict[str, str]) -> None:
    """Record in both logs what was adopted or removed; the vendor's log names no person."""
    thing = taking.thing
    said = {"id": str(thing.id), "kind": thing.kind.value, "name": thing.name, "action": action}
    uow.record(
        AuditAction.PRODUCT_ACCESS_UPDATED,
        thing.customer_id,
        organization_id=taking.organization.id,
        by=CustomerSide.CUSTOMER,
        **taking.relation.seen_by_customer,
        changes={},
        made_for_us=said | own,
    )
    uow.record_elsewhere(
        AuditAction.CUSTOMER_CHANGED,
        thing.customer_id,
        organization_id=thing.vendor_id,
        by=CustomerSide.CUSTOMER,
        **taking.relation.seen_by_vendor,
        made_for_customer=said,
    )


def _found(thing: ThingForUs | None) -> ThingForUs:
    if thing is None:
        raise MadeThingUnknown
    return thing
