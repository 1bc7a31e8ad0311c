"""The customers of services that a takeover admitted or changed fall back, and their people lose the roles they got."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.accounts.takeover_changes import by_target, made, of_actions
from core.events.actions import AuditAction
from core.organizations import takeover_claims, takeovers
from core.organizations.organizations import RESTORABLE_FOR
from core.organizations.takeovers import REASON, Act, MadeThing
from core.parts import ROWS_AT_ONCE_MAX
from core.services.services import CustomerPolicy, Service

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# The fields of an entry about a customer that describe the customer, and not the actor.
_NAMES: Final = frozenset(
    {"by", "customer_id", "client_id", "service_slug", "external_id", "organization_slug", "organization_name"}
)
# In entries: the vendor has changed which roles the groups of a customer give.
_RULES_CHANGED: Final = "customer_group_rules_changed"


def end_customers(uow: UnitOfWork, acts: Sequence[Act]) -> Iterable[MadeThing]:
    """End the customers that were admitted, and pause those again whose pause was lifted."""
    for act in of_actions(
        acts, AuditAction.CUSTOMER_OFFERED, AuditAction.CUSTOMER_ACCEPTED, AuditAction.CUSTOMER_RESUMED
    ):
        service = _service_of(uow, act)
        customer = uow.service_customers.find(service, UUID(act.target_id), at=uow.now) if service is not None else None
        if service is None or customer is None:
            continue
        uow.services.lock(service)
        if act.action != AuditAction.CUSTOMER_RESUMED.value:
            is_restored = act.details.get("restored", False)
            yield from _ended(uow, service, [customer.id], can_be_restored=is_restored)
        elif not customer.is_paused_by_vendor:
            uow.service_customers.set_vendor_pause(service, customer.id, uow.now)
            uow.record(
                AuditAction.CUSTOMER_PAUSED,
                customer.id,
                organization_id=act.organization_id,
                **{name: value for name, value in act.details.items() if name in _NAMES},
                reason=REASON,
            )
            yield made("paused customer", act.organization_id, customer.id, f"{customer.slug} of {service.slug}")
    yield from _owners(uow, acts)
    yield from _group_rules(uow, acts)
    yield from _external_ids(uow, acts)
    for service, since in _opened(uow, acts):
        uow.services.lock(service)
        while begun := uow.service_customers.begun_since(service, since, limit=ROWS_AT_ONCE_MAX):
            yield from _ended(uow, service, begun)


def _owners(uow: UnitOfWork, acts: Sequence[Act]) -> Iterable[MadeThing]:
    """Withdraw the links that make their readers owners of customers, and take back what was claimed by them."""
    for act in of_actions(acts, AuditAction.CUSTOMER_OWNER_NAMED):
        service = _service_of(uow, act)
        customer = uow.service_customers.find(service, UUID(act.target_id), at=uow.now) if service is not None else None
        if service is None or customer is None:
            continue
        label = f"{customer.slug} of the service {service.slug}"
        if uow.customer_claims.withdraw(service, customer.id, made_since=act.at):
            yield made("link to an owner", act.organization_id, customer.id, label)
            continue
        organization_id = uow.takeover_claims.claimed_by_link(service, customer.id, mailed_at=act.at)
        organization = uow.organizations.lock(organization_id) if organization_id is not None else None
        if organization is not None:
            takeovers.suspend_organization(uow, organization)
            takeover_claims.give_back(uow, organization, reason=REASON)
            yield made("owner of a customer", act.organization_id, customer.id, label)


def _group_rules(uow: UnitOfWork, acts: Sequence[Act]) -> Iterable[MadeThing]:
    """Delete the rules, made or changed, by which groups of customers give roles."""
    for act in of_actions(acts, AuditAction.ORGANIZATION_UPDATED):
        if act.details.get("change") != _RULES_CHANGED:
            continue
        internal = uow.organizations.find_internal(UUID(act.details["customer_id"]))
        rule_id = UUID(act.details["group_rule"]["id"])
        if internal is None or all(rule.id != rule_id for rule in uow.customer_group_rules.of_customer(internal.id)):
            continue
        uow.customer_group_rules.remove(internal.id, rule_id)
        uow.audit(
            AuditAction.ORGANIZATION_UPDATED,
            act.organization_id,
            organization_id=act.organization_id,
            change=_RULES_CHANGED,
            group_rule=act.details["group_rule"] | {"action": "deleted"},
            **{name: value for name, value in act.details.items() if name in _NAMES},
            reason=REASON,
        )
        label = f"{act.details['organization_slug']} of the service {act.details['service_slug']}"
        yield made("rule of groups", act.organization_id, rule_id, f"for the customer {label}")


def _opened(uow: UnitOfWork, acts: Sequence[Act]) -> Iterable[tuple[Service, Any]]:
    """Return the services that any organization could begin to use because of the takeover, and since when.

    A service that any could use before, and that only the takeover had closed, is none of them.
    """
    of_services = by_target(acts, AuditAction.SERVICE_CREATED, AuditAction.SERVICE_UPDATED)
    for (organization_id, service_id), of in of_services.items():
        opened_at = _opened_at(of)
        service = uow.services.by_id(organization_id, UUID(service_id)) if opened_at is not None else None
        if service is not None:
            yield service, opened_at


def _opened_at(acts: Iterable[Act]) -> datetime | None:
    """Return when these acts opened a service to any organization that was not open so before."""
    before = after = None
    for act in acts:
        if act.action == AuditAction.SERVICE_CREATED.value:
            return act.at
        change = act.details.get("changes", {}).get("customers")
        if change is None:
            continue
        if change["from"] != after:
            before = change["from"]
        after = change["to"]
        if after == CustomerPolicy.ANY.value != before:
            return act.at
    return None


def _external_ids(uow: UnitOfWork, acts: Sequence[Act]) -> Iterable[MadeThing]:
    """Give customers back the external ids by which the service knew them, where these are free."""
    first: dict[str, Act] = {}
    last: dict[str, Act] = {}
    for act in of_actions(acts, AuditAction.SERVICE_UPDATED):
        if act.details.get("change") == "customer_changed":
            first.setdefault(act.details["customer_id"], act)
            last[act.details["customer_id"]] = act
    for customer_id, act in sorted(first.items()):
        service, before = _service_of(uow, act), act.details["old_external_id"]
        customer = uow.service_customers.find(service, UUID(customer_id), at=uow.now) if service is not None else None
        if service is None or customer is None or customer.external_id != last[customer_id].details["external_id"]:
            continue
        uow.services.lock(service)
        taken = uow.service_customers.taken(service, slug=None, external_id=before, other_than=customer.id, at=uow.now)
        if taken.is_external_id:
            continue
        uow.service_customers.set_external_id(service, customer.id, before)
        uow.record(
            AuditAction.SERVICE_UPDATED,
            service.id,
            organization_id=act.organization_id,
            audit_only={"old_external_id": customer.external_id},
            change="customer_changed",
            **{name: value for name, value in act.details.items() if name in _NAMES and name != "external_id"},
            external_id=before,
            reason=REASON,
        )
        yield made("external id", act.organization_id, customer.id, f"of {customer.slug} at {service.slug}")


def _ended(
    uow: UnitOfWork, service: Service, customer_ids: Sequence[UUID], *, can_be_restored: bool = False
) -> Iterable[MadeThing]:
    # No restoration brings back what the takeover itself has made.
    deletes_at = uow.now + RESTORABLE_FOR if can_be_restored else uow.now
    unclaimed = uow.service_customers.end_unclaimed(service.organization_id, customer_ids, deletes_at=deletes_at)
    for relation in (*unclaimed, *uow.service_customers.end_these(service, customer_ids)):
        relation.record_end(uow, service.organization_id, reason=REASON)
        label = f"{relation.customer_slug} of the service {service.slug}"
        yield made("customer", service.organization_id, relation.customer_id, label)


def take_roles(uow: UnitOfWork, acts: Sequence[Act]) -> Iterable[MadeThing]:
    """Take away the vendor's own roles that people of customers were given."""
    given: dict[tuple[UUID, str, str], tuple[Act, set[str]]] = {}
    for act in of_actions(acts, AuditAction.CUSTOMER_USER_CHANGED):
        customer_id = act.details.get("customer_id")
        if customer_id is None or "own_roles" not in act.details:
            continue
        more = set(act.details["own_roles"]) - set(act.details["old_own_roles"])
        known = given.setdefault((act.organization_id, customer_id, act.target_id), (act, set()))
        known[1].update(more)
    for (organization_id, customer_id, user_id), (act, more) in given.items():
        service = _service_of(uow, act)
        if service is None:
            continue
        uow.services.lock(service)
        customer = uow.service_customers.find(service, UUID(customer_id), at=uow.now)
        is_customer = customer is not None and customer.is_accepted
        person = uow.customer_people.lock(service, customer, UUID(user_id)) if customer and is_customer else None
        if customer is None or person is None or not more & set(person.own_roles):
            continue
        kept = sorted(set(person.own_roles) - more)
        changed = uow.customer_people.set_roles(service, customer, UUID(user_id), kept)
        uow.audit(
            AuditAction.CUSTOMER_USER_CHANGED,
            changed.person.id,
            organization_id=organization_id,
            customer_id=customer_id,
            client_id=str(service.client_id),
            service_slug=service.slug,
            own_roles=kept,
            old_own_roles=person.own_roles,
            reason=REASON,
        )
        yield made("roles", organization_id, customer.id, f"of a person of {customer.slug} at {service.slug}")


def _service_of(uow: UnitOfWork, act: Act) -> Service | None:
    """Return the service that an entry about a customer names, if it is the organization's."""
    client = uow.clients.find(UUID(act.details["client_id"]))
    is_own = client is not None and client.service.organization_id == act.organization_id
    return client.service if client is not None and is_own else None
