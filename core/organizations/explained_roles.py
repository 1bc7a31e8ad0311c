"""Where the role of a member comes from, and what becomes of each group rule that fits; nothing changes.

The rules themselves are applied in `group_roles.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.organizations.group_roles import FittedMember, GroupRule, gives
from core.organizations.organizations import RoleSource

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class RuleOutcome(StrEnum):
    """What becomes of a rule that fits a member."""

    GIVES = "gives"
    EARLIER_RULE = "earlier_rule"
    MAKER_LOST_RIGHT = "maker_lost_right"
    TOKEN_MAY_NOT = "token_may_not"  # noqa: S105 - the name of an outcome
    # It fits, and its role waits for a change by a caller who may take the present role.
    WAITS = "waits"
    # No rule gives the role any longer; it stays until a caller who may take it changes the group or saves the rules.
    STAYS = "stays"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedGroupRule:
    """A rule that fits a member, and what becomes of it."""

    source: str
    group: str
    group_name: str | None
    role: str
    outcome: RuleOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedRole:
    """The role of a member, the rule that gave it, and the rules that fit.

    `groups_overage` says that a provider said last that there are too many groups to name, so that earlier ones count.
    """

    role: str
    role_source: RoleSource | None
    rules: Sequence[ExplainedGroupRule]
    groups_overage: bool


def explain(uow: UnitOfWork, organization_id: UUID, user_id: UUID) -> ExplainedRole | None:
    """Return where the role of a member comes from, and what becomes of the rules that fit; None for no member."""
    present = uow.members.find(organization_id, user_id)
    if present is None:
        return None
    rules = uow.group_rules.of_organization(organization_id)
    member = uow.group_rules.fitted(organization_id, user_id)
    return ExplainedRole(
        role=present.membership.role,
        role_source=present.role_source,
        rules=_explained(member, rules) if member is not None else (),
        groups_overage=uow.group_rules.has_overage(organization_id, user_id),
    )


def _explained(member: FittedMember, rules: Iterable[GroupRule]) -> Sequence[ExplainedGroupRule]:
    """Return each rule that fits a member, with the reason why it gives its role or does not.

    A rule that gave the present role and gives it no longer comes last.
    """
    explained: list[ExplainedGroupRule] = []
    is_given = False
    for rule in rules:
        if rule.id not in member.fitting:
            continue
        is_giving = gives(rule, member)
        if is_given:
            outcome = RuleOutcome.EARLIER_RULE
        elif is_giving:
            is_given_now = (member.role, member.role_source) == (rule.role, rule.role_source)
            outcome = RuleOutcome.GIVES if is_given_now else RuleOutcome.WAITS
        elif not rule.gives_role:
            outcome = RuleOutcome.MAKER_LOST_RIGHT
        else:
            outcome = RuleOutcome.TOKEN_MAY_NOT
        is_given = is_given or is_giving
        explained.append(
            ExplainedGroupRule(
                source=rule.source, group=rule.group, group_name=rule.group_name, role=rule.role, outcome=outcome
            )
        )
    if member.role_source is not None and all(one.outcome is not RuleOutcome.GIVES for one in explained):
        source, group = member.role_source.source, member.role_source.group
        name = next((rule.group_name for rule in rules if rule.role_source == member.role_source), None)
        explained.append(
            ExplainedGroupRule(source=source, group=group, group_name=name, role=member.role, outcome=RuleOutcome.STAYS)
        )
    return explained
