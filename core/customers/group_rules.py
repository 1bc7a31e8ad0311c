"""Rules by which the groups of a customer's people give roles of the vendor's service, as the vendor set them up.

A group belongs to the directory that the vendor has set up for the customer, or is a value that a connection asserts
which the vendor made. Each rule is a row of its own: the roles of all rules that fit add up, with the roles that
customer and vendor give by hand. They give roles of the service in the customer's context, and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.errors import BadRequest, Conflict, NotFound, all_valid
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation
from core.organizations.authorization import authorize, authorize_and_lock
from core.organizations.group_roles import SCIM
from core.organizations.group_rules import GROUP_CHARACTERS_MAX, RULES_MAX
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# The page of a setup offers so many groups of the directory by name.
GROUPS_NAMED_MAX: Final = 500


class CustomerRuleUnknown(NotFound):
    """The customer has no rule with that id."""

    default_message = "This customer has no such rule."


class CustomerRuleTwice(Conflict):
    """There is a rule for the group already."""

    default_message = "This customer has a rule for this group already. Change that one."


class TooManyCustomerRules(BadRequest):
    """The customer has the maximum number of rules."""

    default_message = Wording("A customer can have at most %(maximum)s rules.", maximum=RULES_MAX)


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerGroupRule:
    """A rule; `group` is the id of a group of the directory if `source` is `scim`, else what that connection asserts.

    `group_name` is the name of a group of the directory.
    """

    id: UUID
    source: str
    group: str
    group_name: str | None
    service_roles: list[str]
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedGroups:
    """What a rule can name: the roles of the service, groups of the directory, and connections, by their ids."""

    roles: Sequence[str]
    groups: Sequence[tuple[str, str]]
    connections: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSetup:
    """What the page of a setup link shows: the rules, and what a new one can name."""

    rules: Sequence[CustomerGroupRule]
    named: NamedGroups


def list_all(uow: UnitOfWork, slug: str) -> Sequence[CustomerGroupRule]:
    """List the rules of a customer, the oldest first."""
    organization = authorize(uow, slug, Operation.CUSTOMER_SETUP_READ).organization
    return uow.customer_group_rules.of_customer(organization.id)


def show(uow: UnitOfWork, slug: str, rule_id: UUID) -> CustomerGroupRule:
    """Return a rule; raise `CustomerRuleUnknown`."""
    return _found(list_all(uow, slug), rule_id)


def create(uow: UnitOfWork, slug: str, *, source: str, group: str, service_roles: Sequence[str]) -> CustomerGroupRule:
    """Make a rule; raise `CustomerRuleTwice`, and one `BadRequest` for everything that it names and does not exist."""
    organization = authorize_and_lock(uow, slug, Operation.CUSTOMER_SETUP).organization
    _, roles = all_valid(
        lambda: _require_group(uow, organization.id, source, group),
        lambda: _checked_roles(uow, organization.id, service_roles),
    )
    known = uow.customer_group_rules.of_customer(organization.id)
    if len(known) >= RULES_MAX:
        raise TooManyCustomerRules
    if any((rule.source, rule.group) == (source, group) for rule in known):
        raise CustomerRuleTwice
    rule = CustomerGroupRule(
        id=uow.randomness.new_id(),
        source=source,
        group=group,
        group_name=None,
        service_roles=roles,
        created_at=uow.now,
    )
    uow.customer_group_rules.add(organization.id, rule, uow.made_through)
    _record(uow, organization.id, rule, "created")
    return show(uow, slug, rule.id)


def change(uow: UnitOfWork, slug: str, rule_id: UUID, *, service_roles: Sequence[str]) -> CustomerGroupRule:
    """Change which roles a rule gives; raise `CustomerRuleUnknown`."""
    organization = authorize_and_lock(uow, slug, Operation.CUSTOMER_SETUP).organization
    roles = _checked_roles(uow, organization.id, service_roles)
    rule = _found(uow.customer_group_rules.of_customer(organization.id), rule_id)
    after = replace(rule, service_roles=roles)
    uow.customer_group_rules.save(organization.id, after)
    _record(uow, organization.id, after, "changed")
    return after


def delete(uow: UnitOfWork, slug: str, rule_id: UUID) -> None:
    """Delete a rule, which gives its roles no longer; raise `CustomerRuleUnknown`."""
    organization = authorize_and_lock(uow, slug, Operation.CUSTOMER_SETUP).organization
    rule = _found(uow.customer_group_rules.of_customer(organization.id), rule_id)
    uow.customer_group_rules.remove(organization.id, rule_id)
    _record(uow, organization.id, rule, "deleted")


def nameable(uow: UnitOfWork, slug: str) -> NamedGroups:
    """Return what a new rule can name."""
    organization = authorize(uow, slug, Operation.CUSTOMER_SETUP_READ).organization
    groups = uow.directory_groups.found(organization.id, part="", after=None, limit=GROUPS_NAMED_MAX)
    return NamedGroups(
        roles=uow.customer_group_rules.role_names(organization.id),
        groups=[(str(group.id), group.display_name) for group in groups],
        connections=[(str(one.id), one.name) for one in uow.upstream_connections.of_organization(organization.id)],
    )


def show_setup(uow: UnitOfWork, slug: str) -> RuleSetup:
    """Return the rules of a customer to the holder of a setup link, and what a new one can name."""
    return RuleSetup(rules=list_all(uow, slug), named=nameable(uow, slug))


def _found(rules: Sequence[CustomerGroupRule], rule_id: UUID) -> CustomerGroupRule:
    rule = next((one for one in rules if one.id == rule_id), None)
    if rule is None:
        raise CustomerRuleUnknown
    return rule


def _require_group(uow: UnitOfWork, organization_id: UUID, source: str, group: str) -> None:
    if source == SCIM:
        if not uow.group_rules.known_groups(organization_id, [group]):
            raise BadRequest.of_field("group", "The directory of this customer has no group with this id.")
        return
    if source not in {str(one.id) for one in uow.upstream_connections.of_organization(organization_id)}:
        raise BadRequest.of_field("source", "This must be scim, or the id of a connection of this customer.")
    if not 0 < len(group) <= GROUP_CHARACTERS_MAX or not group.isprintable():
        raise BadRequest.of_field("group", "1 to 255 characters, exactly as the connection asserts them.")


def _checked_roles(uow: UnitOfWork, organization_id: UUID, names: Sequence[str]) -> list[str]:
    """Return the names of roles in their order, each once; raise `BadRequest` unless all are roles of the service."""
    known = uow.customer_group_rules.role_names(organization_id)
    if not names or not {*names} <= {*known}:
        raise BadRequest.of_field("service_roles", "Name at least one role, and only roles of the service.")
    return sorted({*names})


def _record(uow: UnitOfWork, organization_id: UUID, rule: CustomerGroupRule, what: str) -> None:
    said: dict[str, Any] = {"id": str(rule.id), "source": rule.source, "group": rule.group}
    uow.audit(
        AuditAction.ORGANIZATION_UPDATED,
        organization_id,
        organization_id=organization_id,
        change="customer_group_rules_changed",
        group_rule=said | {"service_roles": rule.service_roles, "action": what},
    )
