"""Setting up rules of groups with a setup link (decisions 16.4): which of the groups that arrived gives which role.

The link names the roles that its rules may give. Its holder sees the rules that give these roles, and no others, and
adds and removes them; a new one counts after all others. Its maker is that of the link.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID

from core.errors import BadRequest, NotFound
from core.lazy_dataclasses import dataclass
from core.organizations import group_rules, setup_links
from core.organizations.access import Capability, capabilities_of_role
from core.organizations.group_roles import SCIM, GroupRule, WantedRule, opens_by_word_alone
from core.organizations.group_rules import ArrivedGroups, RulesEditor
from core.organizations.setup_links import OpenSetup, Part
from core.scim import directory_groups

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class GroupRuleUnknown(NotFound):
    """The rules that the link may change do not contain this one."""

    default_message = (
        "There is no such rule any more, because the rules have changed. Look at those that there are now."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSetup:
    """The rules that the holder of a link sees, and what a new one can name."""

    setup: OpenSetup
    rules: Sequence[GroupRule]
    arrived: ArrivedGroups


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsideredRule:
    """A rule that is about to be made or removed, the name of its group, and how many people get another role.

    `needs_code` says that by the word of a connection alone the role opens after a mailed code, as powerful ones do.
    """

    setup: OpenSetup
    rule: WantedRule
    group_name: str
    people: int
    needs_code: bool = False


def show(uow: UnitOfWork, cookie: str) -> GroupSetup:
    """Return what the holder of a link sees; raise `SetupLinkDead`."""
    setup = setup_links.present(uow, cookie, Part.GROUPS)
    arrived = group_rules.arrived(uow, setup.organization_id)
    if Capability.INTEGRATIONS_MANAGE not in setup.capabilities:
        # Its maker makes no rule for a connection.
        arrived = replace(arrived, connections=(), asserted=())
    return GroupSetup(
        setup=setup, rules=[rule for rule in _rules(uow, setup) if rule.role in setup.given_roles], arrived=arrived
    )


def consider(uow: UnitOfWork, cookie: str, source: str, typed: str, role: str) -> ConsideredRule:
    """Return what a new rule would change; raise `BadRequest` where it cannot be made. Nothing changes."""
    setup = setup_links.lock(uow, cookie, Part.GROUPS)
    rule = _wanted(uow, setup, source, typed, role)
    rules = [one.wanted for one in _rules(uow, setup)]
    changes = group_rules.considered(uow, setup.organization_id, [*rules, rule], _editor(setup))
    allowed = capabilities_of_role(uow, setup.organization_id, role)
    return ConsideredRule(
        setup=setup,
        rule=rule,
        group_name=typed.strip(),
        people=group_rules.number_of(changes),
        needs_code=rule.source != SCIM and not opens_by_word_alone(role, allowed),
    )


def add(uow: UnitOfWork, cookie: str, source: str, typed: str, role: str) -> None:
    """Add a rule after all others, and apply it at once; raise `BadRequest` where it cannot be made."""
    setup = setup_links.lock(uow, cookie, Part.GROUPS)
    rule = _wanted(uow, setup, source, typed, role)
    rules = [one.wanted for one in _rules(uow, setup)]
    group_rules.store(uow, setup.organization_id, [*rules, rule], _editor(setup), **setup.recorded)


def consider_removal(uow: UnitOfWork, cookie: str, rule_id: UUID) -> ConsideredRule:
    """Return what the removal of a rule would change; raise `GroupRuleUnknown`. Nothing changes."""
    setup = setup_links.lock(uow, cookie, Part.GROUPS)
    rule, others = _split(uow, setup, rule_id)
    changes = group_rules.considered(uow, setup.organization_id, others, _editor(setup))
    return ConsideredRule(
        setup=setup, rule=rule.wanted, group_name=rule.group_name or rule.group, people=group_rules.number_of(changes)
    )


def remove(uow: UnitOfWork, cookie: str, rule_id: UUID) -> None:
    """Remove a rule, and take what it gave; raise `GroupRuleUnknown`."""
    setup = setup_links.lock(uow, cookie, Part.GROUPS)
    _, others = _split(uow, setup, rule_id)
    group_rules.store(uow, setup.organization_id, others, _editor(setup), **setup.recorded)


def _rules(uow: UnitOfWork, setup: OpenSetup) -> Sequence[GroupRule]:
    return uow.group_rules.of_organization(setup.organization_id)


def _editor(setup: OpenSetup) -> RulesEditor:
    return RulesEditor(
        user_id=setup.created_by,
        authority=setup.authority,
        own_roles=frozenset(setup.given_roles),
    )


def _wanted(uow: UnitOfWork, setup: OpenSetup, source: str, typed: str, role: str) -> WantedRule:
    """Return a rule for a group that has arrived: of the directory by its name or id, of a connection by its value."""
    if role not in setup.given_roles:
        raise BadRequest.of_field("role", "Choose one of the roles that this link may give.")
    group = typed.strip()
    if source == SCIM:
        named = directory_groups.named(uow, setup.organization_id, group)
        group = str(named) if named is not None else group
        if not uow.group_rules.known_groups(setup.organization_id, [group]):
            raise BadRequest.of_field("group", "No group with this name has arrived. Let your directory push it first.")
    elif not uow.group_rules.has_asserted(setup.organization_id, source, group):
        raise BadRequest.of_field(
            "group",
            "No sign-in has named this group lately. Let someone who is in it sign in first, or type it exactly as it"
            " arrives.",
        )
    return WantedRule(source=source, group=group, role=role)


def _split(uow: UnitOfWork, setup: OpenSetup, rule_id: UUID) -> tuple[GroupRule, Sequence[WantedRule]]:
    """Return a rule that the link may change, and all others; raise `GroupRuleUnknown`."""
    rules = _rules(uow, setup)
    found = next((one for one in rules if one.id == rule_id and one.role in setup.given_roles), None)
    if found is None:
        raise GroupRuleUnknown
    return found, [one.wanted for one in rules if one.id != rule_id]
