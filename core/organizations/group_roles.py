"""What the rules of an organization make of its members, in the transaction of each change (decisions 16.2).

The first rule that fits gives the role. A rule whose maker lost the right gives it to nobody more; so does a rule on a
group of the directory for a member whom a token has put in whose maker could not give the role. When none fits any
longer, what a rule gave is taken: the role is `member`. The owner is changed by no rule, and the last admin stays.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.organizations import access, inviters
from core.organizations.access import Capability
from core.organizations.authority import Authority
from core.organizations.memberships import ADMIN, MEMBER, RoleSource
from core.sessions import customer_endings

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

SCIM: Final = "scim"
# A role with one of these opens nothing by a connection's word alone, even if a rule gives it (decisions 16.2).
POWERS: Final = frozenset(
    {
        Capability.ORG_MEMBERS_MANAGE,
        Capability.ORG_ROLES_MANAGE,
        Capability.INTEGRATIONS_MANAGE,
        Capability.ORG_SETTINGS_MANAGE,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedRule:
    """A rule as it is sent: `source` is `scim` or the id of a connection."""

    source: str
    group: str
    role: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes a rule the same one."""
        return self.source, self.group, self.role

    @property
    def is_by_name(self) -> bool:
        """Whether a connection names the group, and not by an id, which no other group gets."""
        return self.source != SCIM and not _is_id(self.group)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRule:
    """A stored rule with what its maker and its role allow now.

    `group_name` is the name of a group of the directory, `maker` is without a role when the maker has left.
    `role_permissions` are those of a custom role, None for a role that was deleted.
    """

    id: UUID
    source: str
    group: str
    group_name: str | None
    role: str
    made_by: UUID | None
    maker: Authority
    role_permissions: list[str] | None
    created_at: datetime

    @property
    def wanted(self) -> WantedRule:
        """The rule as it was sent."""
        return WantedRule(source=self.source, group=self.group, role=self.role)

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes a rule the same one."""
        return self.wanted.key

    @property
    def gives_role(self) -> bool:
        """Whether the role exists, and the maker of the rule may give it."""
        exists = self.role in {ADMIN, MEMBER} or self.role_permissions is not None
        return exists and may_set(self.maker, self.source, self.role, self.allowed)

    @property
    def allowed(self) -> frozenset[Capability]:
        """What the role allows."""
        return access.capabilities_of(self.role, self.role_permissions)


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedMember:
    """A member whom rules fit, or whose role a rule gave. The owner is none.

    `fitting` has the ids of the rules, each with the authority of the token that put the member in the group, or None
    where a connection asserts the group.
    """

    user_id: UUID
    role: str
    role_source: RoleSource | None
    is_suspended: bool
    created_at: datetime
    fitting: Mapping[UUID, Authority | None]

    @property
    def present(self) -> GivenRole:
        """The role as it is."""
        return GivenRole(user_id=self.user_id, role=self.role, role_source=self.role_source)


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenRole:
    """The role that a member has, and the rule that gave it, if one did; then `allowed` is what the role allows."""

    user_id: UUID
    role: str
    role_source: RoleSource | None
    allowed: frozenset[Capability] = frozenset()

    def is_other_than(self, member: FittedMember) -> bool:
        """Whether the role, or what gave it, is another one than before."""
        return (self.role, self.role_source) != (member.role, member.role_source)


class RuleOutcome(StrEnum):
    """What becomes of a rule that fits a member."""

    GIVES = "gives"
    EARLIER_RULE = "earlier_rule"
    MAKER_LOST_RIGHT = "maker_lost_right"
    TOKEN_MAY_NOT = "token_may_not"  # noqa: S105 - the name of an outcome
    # It fits, and what it gives waits: for a change by one who may take the present role, or for another admin.
    WAITS = "waits"
    # No rule gives the role any longer, and it stays until one who may take it changes the group or saves the rules.
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


def may_set(maker: Authority, source: str, role: str, allowed_by_role: frozenset[Capability]) -> bool:
    """Return whether a member may make a rule that gives a role, which allows what the last argument lists."""
    held = maker.capabilities
    has_source = source == SCIM or Capability.INTEGRATIONS_MANAGE in held
    return has_source and Capability.ORG_ROLES_MANAGE in held and maker.may_give(role, allowed_by_role)


def apply(
    uow: UnitOfWork, organization_id: UUID, user_ids: Collection[UUID] | None, *, by: Authority | None = None
) -> Sequence[GivenRole]:
    """Give members of a locked organization the roles of its rules; None for all whom rules concern.

    `by` is what the caller may do who makes the change, for a SCIM token what its maker could do: where that is too
    little, the role stays. Return what rules decide of these members.
    """
    allowed, decided = decide(uow, organization_id, user_ids, by=by)
    _give(uow, organization_id, allowed, [(member, given) for member, given in decided if given.is_other_than(member)])
    return [given for _, given in decided]


def decide(
    uow: UnitOfWork, organization_id: UUID, user_ids: Collection[UUID] | None, *, by: Authority | None = None
) -> tuple[Mapping[str, frozenset[Capability]], Sequence[tuple[FittedMember, GivenRole]]]:
    """Return what `apply` would make of members, and what the roles allow that it knows."""
    deferred_rules = uow.group_rules.defer_of_organization(organization_id)
    members = uow.group_rules.fitted(organization_id, None if user_ids is None else sorted(user_ids))
    rules = deferred_rules()
    decided = [(member, _decided(member, rules)) for member in members]
    allowed = {rule.role: rule.allowed for rule in rules}
    outcome: list[tuple[FittedMember, GivenRole]] = []
    makers = {rule.key: rule.maker for rule in rules}
    for member, given in decided:
        authorities = [by] if by is not None else []
        if given.role_source is not None and member.role_source is None:
            # A rule takes a role that was given by hand only from those to whom its maker could give it.
            authorities.append(makers[given.role_source.source, given.role_source.group, given.role])
        is_theirs = all(_may_change(uow, organization_id, one, allowed, member, given) for one in authorities)
        outcome.append((member, given if is_theirs else member.present))
    kept = _last_admin(uow, organization_id, outcome)
    if kept is not None:
        stays = GivenRole(user_id=kept, role=ADMIN, role_source=None)
        outcome = [(member, stays if member.user_id == kept else given) for member, given in outcome]
    return allowed, outcome


def explain(uow: UnitOfWork, organization_id: UUID, user_id: UUID) -> ExplainedRole | None:
    """Return where the role of a member comes from, and what becomes of the rules that fit; None for who is none."""
    present = uow.members.find(organization_id, user_id)
    if present is None:
        return None
    rules = uow.group_rules.of_organization(organization_id)
    found = {member.user_id: member for member in uow.group_rules.fitted(organization_id, [user_id])}
    member = found.get(user_id)
    return ExplainedRole(
        role=present.membership.role,
        role_source=present.role_source,
        rules=_explained(member, rules) if member is not None else (),
        groups_overage=uow.group_rules.has_overage(organization_id, user_id),
    )


def is_held(uow: UnitOfWork, organization_id: UUID, user_id: UUID) -> bool:
    """Return whether a rule that fits a member gives the role that the member has."""
    rules = uow.group_rules.of_organization(organization_id)
    return any(
        member.role_source == RoleSource(source=rule.source, group=rule.group) and rule.role == member.role
        for member in uow.group_rules.fitted(organization_id, [user_id])
        for rule in rules
        if rule.id in member.fitting
    )


def _explained(member: FittedMember, rules: Iterable[GroupRule]) -> Sequence[ExplainedGroupRule]:
    """Return each rule that fits a member, with the reason why it gives its role or does not.

    The rule comes last that gave the role of a member whom none gives it any longer.
    """
    explained: list[ExplainedGroupRule] = []
    is_given = False
    for rule in rules:
        if rule.id not in member.fitting:
            continue
        is_giving = _gives(rule, member)
        if is_given:
            outcome = RuleOutcome.EARLIER_RULE
        elif is_giving:
            is_given_now = (member.role, member.role_source) == (rule.role, _source(rule))
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
        name = next((rule.group_name for rule in rules if _source(rule) == member.role_source), None)
        explained.append(
            ExplainedGroupRule(source=source, group=group, group_name=name, role=member.role, outcome=RuleOutcome.STAYS)
        )
    return explained


def _source(rule: GroupRule) -> RoleSource:
    return RoleSource(source=rule.source, group=rule.group)


def follow_unlinking(uow: UnitOfWork, user_id: UUID) -> None:
    """Take from a user what rules gave by groups that a connection asserted whose identity was unlinked."""
    for organization_id in uow.group_rules.ruled_by_connections(user_id):
        uow.organizations.lock(organization_id)
        apply(uow, organization_id, [user_id])


def opens_by_word_alone(role: str, allowed: frozenset[Capability]) -> bool:
    """Return whether a role that a rule gave opens by the word of the connection that asserted the group."""
    return role != ADMIN and POWERS.isdisjoint(allowed)


def _is_id(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def _decided(member: FittedMember, rules: Iterable[GroupRule]) -> GivenRole:
    for rule in rules:
        if rule.id in member.fitting and _gives(rule, member):
            return GivenRole(user_id=member.user_id, role=rule.role, role_source=_source(rule), allowed=rule.allowed)
    if member.role_source is None:
        # No rule ever fitted: the role was given by hand.
        return member.present
    return GivenRole(user_id=member.user_id, role=MEMBER, role_source=None)


def _gives(rule: GroupRule, member: FittedMember) -> bool:
    """Return whether a rule that fits a member gives its role: what it gave before stays."""
    if (member.role, member.role_source) == (rule.role, _source(rule)):
        return True
    authority = member.fitting[rule.id]
    return rule.gives_role and (authority is None or authority.may_give(rule.role, rule.allowed))


def _may_change(
    uow: UnitOfWork,
    organization_id: UUID,
    by: Authority,
    known: dict[str, frozenset[Capability]],
    member: FittedMember,
    given: GivenRole,
) -> bool:
    """Return whether a directory may take the role that a member has and give the other one."""
    for role in {member.role, given.role} if given.is_other_than(member) else ():
        if role not in known:
            known[role] = access.capabilities_of_role(uow, organization_id, role)
        if not by.may_give(role, known[role]):
            return False
    return True


def _last_admin(
    uow: UnitOfWork, organization_id: UUID, outcome: Sequence[tuple[FittedMember, GivenRole]]
) -> UUID | None:
    """Return the admin who must stay one, because no other active admin would remain; the oldest of several."""
    losing = [member for member, given in outcome if member.role == ADMIN and given.role != ADMIN]
    active = [member for member in losing if not member.is_suspended]
    has_other = any(given.role == ADMIN and not member.is_suspended for member, given in outcome)
    if not active or has_other or uow.scim_groups.has_admin_besides(organization_id, [one.user_id for one in losing]):
        return None
    return min(active, key=lambda member: (member.created_at, member.user_id)).user_id


def _give(
    uow: UnitOfWork,
    organization_id: UUID,
    known: Mapping[str, frozenset[Capability]],
    changes: Sequence[tuple[FittedMember, GivenRole]],
) -> None:
    if not changes:
        return
    uow.group_rules.give(organization_id, [given for _, given in changes])
    _narrow_sessions(uow, organization_id, [member for member, given in changes if given.role != member.role])
    moved = {member.user_id: given.role for member, given in changes if given.role != member.role}
    customer_endings.end_lost(uow, organization_id, sorted(moved))
    for inviter_id in uow.scim_groups.inviters_among(organization_id, sorted(moved)) if moved else ():
        role = moved[inviter_id]
        allowed = known[role] if role in known else access.capabilities_of_role(uow, organization_id, role)
        inviters.withdraw(uow, organization_id, inviter_id, allowed)
    alike: dict[tuple[str, str, RoleSource | None], list[UUID]] = {}
    for member, given in changes:
        alike.setdefault((member.role, given.role, given.role_source), []).append(member.user_id)
    for (old_role, new_role, source), user_ids in alike.items():
        uow.record_each(
            AuditAction.USER_ROLE_UPDATED,
            [(organization_id, user_id) for user_id in user_ids],
            old_role=old_role,
            new_role=new_role,
            role_source={"source": source.source, "group": source.group} if source is not None else None,
        )


def _narrow_sessions(uow: UnitOfWork, organization_id: UUID, losing: Iterable[FittedMember]) -> None:
    """Let sessions open a role no longer that a connection gave: it may be given later by another word."""
    held: dict[str, list[UUID]] = {}
    for member in losing:
        if member.role_source is not None and member.role_source.source != SCIM:
            held.setdefault(member.role, []).append(member.user_id)
    for role, user_ids in held.items():
        uow.sessions.narrow_to_member(organization_id, role, user_ids)
