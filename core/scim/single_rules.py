"""Group rules, added and removed one at a time: a group that has arrived gives a role.

The holder of a setup link changes them so. The link names the roles that its rules may give, and its holder sees only
rules that give these. A new rule counts after all others, and its maker is the maker of the link.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID

from core.errors import BadRequest, NotFound
from core.lazy_dataclasses import dataclass
from core.organizations import group_rules
from core.organizations.access import Capability, Operation
from core.organizations.authorization import authorize, authorize_and_lock, capabilities_of_role
from core.organizations.group_roles import SCIM, GroupRule, WantedRule, opens_by_word_alone
from core.organizations.group_rules import ArrivedGroups, RulesEditor
from core.scim import directory_groups

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class GroupRuleUnknown(NotFound):
    """The caller may change no such rule."""

    default_message = (
        "There is no such rule any more, because the rules have changed. Look at those that there are now."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeableRules:
    """The rules that a caller changes, and what a new one can name."""

    rules: Sequence[GroupRule]
    arrived: ArrivedGroups


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsideredRule:
    """A rule that is about to be made or removed, the name of its group, and how many people get another role.

    `needs_code` says that the role is too powerful to open by a connection's word alone, without a mailed code.
    """

    rule: WantedRule
    group_name: str
    people: int
    needs_code: bool = False


def show(uow: UnitOfWork, slug: str) -> ChangeableRules:
    """Return the rules that the caller changes."""
    authorized = authorize(uow, slug, Operation.GROUPS_READ)
    organization_id, editor = authorized.organization.id, RulesEditor.of(authorized)
    arrived = group_rules.arrived(uow, organization_id)
    if Capability.INTEGRATIONS_MANAGE not in authorized.capabilities:
        # Such a caller makes no rule for a connection.
        arrived = replace(arrived, connections=(), asserted=())
    rules = uow.group_rules.of_organization(organization_id)
    return ChangeableRules(rules=[rule for rule in rules if editor.is_own(rule.role)], arrived=arrived)


def consider(uow: UnitOfWork, slug: str, source: str, typed: str, role: str) -> ConsideredRule:
    """Return what a new rule would change; raise `BadRequest` where it cannot be made. Nothing changes."""
    organization_id, editor = _locked(uow, slug)
    rule = _wanted(uow, organization_id, editor, source, typed, role)
    changes = group_rules.considered(uow, organization_id, [*_rules(uow, organization_id), rule], editor)
    allowed = capabilities_of_role(uow, organization_id, role)
    return ConsideredRule(
        rule=rule,
        group_name=typed.strip(),
        people=group_rules.number_of(changes),
        needs_code=rule.source != SCIM and not opens_by_word_alone(role, allowed),
    )


def add(uow: UnitOfWork, slug: str, source: str, typed: str, role: str) -> None:
    """Add a rule after all others, and apply it at once; raise `BadRequest` where it cannot be made."""
    organization_id, editor = _locked(uow, slug)
    rule = _wanted(uow, organization_id, editor, source, typed, role)
    group_rules.store(uow, organization_id, [*_rules(uow, organization_id), rule], editor)


def consider_removal(uow: UnitOfWork, slug: str, rule_id: UUID) -> ConsideredRule:
    """Return what the removal of a rule would change; raise `GroupRuleUnknown`. Nothing changes."""
    organization_id, editor = _locked(uow, slug)
    rule, others = _split(uow, organization_id, editor, rule_id)
    changes = group_rules.considered(uow, organization_id, others, editor)
    return ConsideredRule(
        rule=rule.wanted, group_name=rule.group_name or rule.group, people=group_rules.number_of(changes)
    )


def remove(uow: UnitOfWork, slug: str, rule_id: UUID) -> None:
    """Remove a rule, and take the roles that it gave; raise `GroupRuleUnknown`."""
    organization_id, editor = _locked(uow, slug)
    _, others = _split(uow, organization_id, editor, rule_id)
    group_rules.store(uow, organization_id, others, editor)


def _locked(uow: UnitOfWork, slug: str) -> tuple[UUID, RulesEditor]:
    """Authorize the caller for a change of the rules, and lock the organization; return both."""
    authorized = authorize_and_lock(uow, slug, Operation.GROUP_RULES_CHANGE)
    return authorized.organization.id, RulesEditor.of(authorized)


def _rules(uow: UnitOfWork, organization_id: UUID) -> Sequence[WantedRule]:
    return [rule.wanted for rule in uow.group_rules.of_organization(organization_id)]


def _wanted(
    uow: UnitOfWork, organization_id: UUID, editor: RulesEditor, source: str, typed: str, role: str
) -> WantedRule:
    """Return a rule for a group that has arrived: a directory's by its name or id, a connection's by its value."""
    if not editor.is_own(role):
        raise BadRequest.of_field("role", "Choose one of the roles that this link may give.")
    group = typed.strip()
    if source == SCIM:
        named = directory_groups.named(uow, organization_id, group)
        group = str(named) if named is not None else group
        if not uow.group_rules.known_groups(organization_id, [group]):
            raise BadRequest.of_field("group", "No group with this name has arrived. Let your directory push it first.")
    elif not uow.group_rules.has_asserted(organization_id, source, group):
        raise BadRequest.of_field(
            "group",
            "No sign-in has named this group lately. Let someone who is in it sign in first, or type it exactly as it"
            " arrives.",
        )
    return WantedRule(source=source, group=group, role=role)


def _split(
    uow: UnitOfWork, organization_id: UUID, editor: RulesEditor, rule_id: UUID
) -> tuple[GroupRule, Sequence[WantedRule]]:
    """Return a rule that the editor may change, and all others; raise `GroupRuleUnknown`."""
    rules = uow.group_rules.of_organization(organization_id)
    found = next((one for one in rules if one.id == rule_id and editor.is_own(one.role)), None)
    if found is None:
        raise GroupRuleUnknown
    return found, [one.wanted for one in rules if one.id != rule_id]
