"""Applies the group rules of an organization to its members, in the transaction of each change (ops/decisions/0064).

The first rule that fits gives the role. A rule gives its role to no further member once its maker lost the right, nor
to a member that a SCIM token put in the group while the token's maker could not give the role. When none fits any
longer, the role that a rule gave is taken, and the member is a plain `member`. No rule changes the owner.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.events.actions import AlikeTargets, AuditAction
from core.lazy_dataclasses import dataclass
from core.organizations import access, inviters
from core.organizations.access import Capability
from core.organizations.authority import Authority
from core.organizations.authorization import capabilities_of_role
from core.organizations.organizations import ADMIN, MEMBER, RoleSource
from core.parts import ROWS_AT_ONCE_MAX, in_parts, read_in_parts
from core.sessions import customer_endings

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

SCIM: Final = "scim"
# A connection's word alone opens no role with one of these, even if a rule gives it: the person first types a code that
# was mailed to the account's address.
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
        """Whether a connection names the group by a name, which another group may get, and not by an id."""
        return self.source != SCIM and not _is_id(self.group)


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeRule:
    """A rule with its maker and the time of its making.

    `link_roles` are the roles of the setup link with which it was made; None for a member.
    """

    wanted: WantedRule
    made_by: UUID | None
    link_roles: list[str] | None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRule:
    """A stored rule with what its maker and its role allow now.

    `group_name` is the name of a group of the directory. `maker` has no role when the maker has left, and is limited to
    the roles of the setup link with which the rule was made. `role_permissions` are the permissions of a custom role,
    None for a role that was deleted.
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
    def role_source(self) -> RoleSource:
        """What gave a role that this rule gives."""
        return RoleSource(source=self.source, group=self.group)

    @property
    def made(self) -> MadeRule:
        """The rule with its maker."""
        return MadeRule(
            wanted=self.wanted, made_by=self.made_by, link_roles=self.maker.link_roles, created_at=self.created_at
        )

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
    """A member that rules fit, or whose role a rule gave; never the owner.

    `fitting` has the ids of the rules, each with the authority of the token that put the member in the group, or None
    where a connection asserts the group.
    """

    user_id: UUID
    role: str
    role_source: RoleSource | None
    created_at: datetime
    fitting: Mapping[UUID, Authority | None]

    @property
    def present(self) -> GivenRole:
        """The role as it is."""
        return GivenRole(role=self.role, role_source=self.role_source)


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenRole:
    """The role of a member, the rule that gave it, if one did, and what the role allows then."""

    role: str
    role_source: RoleSource | None
    allowed: frozenset[Capability] = frozenset()


# What a member has when no rule fits any longer.
TAKEN: Final = GivenRole(role=MEMBER, role_source=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class GivingRules:
    """The rules of an organization in their order, and what decides which of them give their roles.

    `by_authority` has the roles that each maker of a token could give, by the ids of the authorities.
    """

    rules: Sequence[GroupRule]
    giving: frozenset[UUID]
    by_authority: Mapping[UUID, Collection[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AlikeMembers:
    """Members with the same role from the same source, for which rules decide the same other role.

    `user_ids` has at most `ROWS_AT_ONCE_MAX`, the oldest membership first, which was made at `first_joined_at`.
    """

    role: str
    role_source: RoleSource | None
    user_ids: Sequence[UUID]
    first_joined_at: datetime
    given: GivenRole
    # Who made the rule that gives the role; None where no rule fits any longer.
    maker: Authority | None

    @property
    def moves(self) -> bool:
        """Whether the role itself changes, and not only what gave it."""
        return self.given.role != self.role


def may_set(maker: Authority, source: str, role: str, allowed_by_role: frozenset[Capability]) -> bool:
    """Return whether a member may make a rule that gives a role; `allowed_by_role` is what the role allows."""
    held = maker.capabilities
    has_source = source == SCIM or Capability.INTEGRATIONS_MANAGE in held
    return has_source and Capability.ORG_ROLES_MANAGE in held and maker.may_give(role, allowed_by_role)


def apply(
    uow: UnitOfWork, organization_id: UUID, user_ids: Collection[UUID] | None, *, by: Authority | None = None
) -> None:
    """Give members of a locked organization the roles of its rules; None for all members that rules concern.

    `by` is what the caller who makes the change may do, for a SCIM token what its maker could do. Where that is too
    little, the role stays.
    """
    if user_ids is not None and len(user_ids) == 1:
        apply_to_member(uow, organization_id, *user_ids, by=by)
    else:
        _give(uow, organization_id, decide(uow, organization_id, user_ids, by=by))


def apply_to_member(
    uow: UnitOfWork, organization_id: UUID, user_id: UUID, *, by: Authority | None = None
) -> GivenRole | None:
    """Do what `apply` does for one member; return what rules decide, None for a member that no rule concerns."""
    deferred_rules = uow.group_rules.defer_of_organization(organization_id)
    member = uow.group_rules.fitted(organization_id, user_id)
    if member is None:
        return None
    rules = deferred_rules()
    given = _decided(member, rules)
    if (given.role, given.role_source) == (member.role, member.role_source):
        return given
    source = given.role_source
    alike = AlikeMembers(
        role=member.role,
        role_source=member.role_source,
        user_ids=[user_id],
        first_joined_at=member.created_at,
        given=given,
        maker=next((rule.maker for rule in rules if (rule.role_source, rule.role) == (source, given.role)), None),
    )
    settled = _settled(uow, organization_id, rules, [alike], by)
    _give(uow, organization_id, settled)
    return settled[0].given if settled else member.present


def decide(
    uow: UnitOfWork, organization_id: UUID, user_ids: Collection[UUID] | None, *, by: Authority | None = None
) -> Sequence[AlikeMembers]:
    """Return the members whose role, or its source, `apply` would change."""
    deferred_rules = uow.group_rules.defer_of_organization(organization_id)
    authorities = uow.directory_groups.authorities(organization_id)
    giving = _giving(deferred_rules(), authorities)
    alike = [
        one
        for part in _parts(uow, organization_id, user_ids)
        for one in uow.group_rules.alike(organization_id, part, giving)
    ]
    return _settled(uow, organization_id, giving.rules, alike, by)


def is_held(uow: UnitOfWork, organization_id: UUID, user_id: UUID) -> bool:
    """Return whether a rule that fits a member gives the member's present role."""
    rules = uow.group_rules.of_organization(organization_id)
    member = uow.group_rules.fitted(organization_id, user_id)
    return member is not None and any(
        (rule.role_source, rule.role) == (member.role_source, member.role)
        for rule in rules
        if rule.id in member.fitting
    )


def follow_unlinking(uow: UnitOfWork, user_id: UUID) -> None:
    """Take from a user the roles that rules gave by groups of a connection whose identity was unlinked."""
    for organization_id in uow.group_rules.ruled_by_connections(user_id):
        uow.organizations.lock(organization_id)
        apply(uow, organization_id, [user_id])


def opens_by_word_alone(role: str, allowed: frozenset[Capability]) -> bool:
    """Return whether a role that a rule gave opens by the connection's word alone, without a mailed code."""
    return role != ADMIN and POWERS.isdisjoint(allowed)


def _is_id(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def _parts(uow: UnitOfWork, organization_id: UUID, user_ids: Collection[UUID] | None) -> Iterator[Sequence[UUID]]:
    """Return the ids of these members, or of all, in parts for one statement each."""
    if user_ids is not None:
        return in_parts(sorted(user_ids, key=attrgetter("int")))
    return read_in_parts(partial(uow.group_rules.members, organization_id), lambda user_id: user_id)


def _giving(rules: Sequence[GroupRule], authorities: Mapping[UUID, Authority]) -> GivingRules:
    """Return the rules with what each maker of a token could give, judged once for each role, not for each member."""
    # Many rules have the same maker and give the same role.
    judged: dict[tuple[UUID | None, bool, str], bool] = {}
    giving: list[GroupRule] = []
    for rule in rules:
        key = rule.made_by, rule.source == SCIM, rule.role
        if key not in judged:
            judged[key] = _may_give(rule, None)
        if judged[key]:
            giving.append(rule)
    by_role = {rule.role: rule for rule in giving}
    return GivingRules(
        rules=rules,
        giving=frozenset(rule.id for rule in giving),
        by_authority={
            authority_id: [role for role, rule in by_role.items() if _may_give(rule, authority)]
            for authority_id, authority in authorities.items()
        },
    )


def _decided(member: FittedMember, rules: Iterable[GroupRule]) -> GivenRole:
    for rule in rules:
        if rule.id in member.fitting and gives(rule, member):
            return given_by(rule)
    # Without a source no rule ever fitted: the role was given by hand.
    return member.present if member.role_source is None else TAKEN


def given_by(rule: GroupRule) -> GivenRole:
    """Return the role that a rule gives."""
    return GivenRole(role=rule.role, role_source=rule.role_source, allowed=rule.allowed)


def gives(rule: GroupRule, member: FittedMember) -> bool:
    """Return whether a rule that fits a member gives its role; what it gave before stays."""
    if (member.role, member.role_source) == (rule.role, rule.role_source):
        return True
    return _may_give(rule, member.fitting[rule.id])


def _may_give(rule: GroupRule, authority: Authority | None) -> bool:
    """Return whether a rule gives its role to members that a token with this authority has put in the group."""
    return rule.gives_role and (authority is None or authority.may_give(rule.role, rule.allowed))


def _settled(
    uow: UnitOfWork,
    organization_id: UUID,
    rules: Iterable[GroupRule],
    alike: Sequence[AlikeMembers],
    by: Authority | None,
) -> Sequence[AlikeMembers]:
    """Return the changes that the caller, or the maker of the token, may make."""
    known = {rule.role: rule.allowed for rule in rules}
    return [one for one in alike if _is_theirs(uow, organization_id, one, known, by)]


def _is_theirs(
    uow: UnitOfWork,
    organization_id: UUID,
    alike: AlikeMembers,
    known: dict[str, frozenset[Capability]],
    by: Authority | None,
) -> bool:
    """Return whether the caller, and the maker where it counts, may take the members' role and give the other one."""
    # A rule takes a role that was given by hand only if its maker could also give that role.
    maker = alike.maker if alike.role_source is None else None
    for role in {alike.role, alike.given.role}:
        if role not in known:
            known[role] = capabilities_of_role(uow, organization_id, role)
        if not all(one.may_give(role, known[role]) for one in (by, maker) if one is not None):
            return False
    return True


def _give(uow: UnitOfWork, organization_id: UUID, alike: Sequence[AlikeMembers]) -> None:
    for part in _together(alike):
        _give_part(uow, organization_id, part)


def _together(alike: Iterable[AlikeMembers]) -> Iterator[Sequence[AlikeMembers]]:
    """Yield the changes in parts, each with fewer than twice as many members as get a role in one statement."""
    part: list[AlikeMembers] = []
    members = 0
    for one in alike:
        part.append(one)
        members += len(one.user_ids)
        if members >= ROWS_AT_ONCE_MAX:
            yield part
            part, members = [], 0
    if part:
        yield part


def _give_part(uow: UnitOfWork, organization_id: UUID, part: Sequence[AlikeMembers]) -> None:
    uow.group_rules.give(organization_id, part)
    moved = [one for one in part if one.moves]
    _narrow_sessions(uow, organization_id, moved)
    new_roles = {user_id: one.given.role for one in moved for user_id in one.user_ids}
    customer_endings.end_lost(uow, organization_id, list(new_roles))
    inviters.withdraw_of_moved(uow, organization_id, new_roles)
    uow.record_alike(
        AuditAction.USER_ROLE_UPDATED,
        [
            AlikeTargets(targets=[(organization_id, user_id) for user_id in one.user_ids], details=_recorded(one))
            for one in part
        ],
    )


def _recorded(alike: AlikeMembers) -> Mapping[str, Any]:
    source = alike.given.role_source
    return {
        "old_role": alike.role,
        "new_role": alike.given.role,
        "role_source": {"source": source.source, "group": source.group} if source is not None else None,
    }


def _narrow_sessions(uow: UnitOfWork, organization_id: UUID, losing: Iterable[AlikeMembers]) -> None:
    """Narrow the sessions in which a connection opened a role that is taken: it may be given otherwise later."""
    held: dict[str, list[UUID]] = {}
    for one in losing:
        if one.role_source is not None and one.role_source.source != SCIM:
            held.setdefault(one.role, []).extend(one.user_ids)
    for role, user_ids in held.items():
        uow.sessions.narrow_to_member(organization_id, role, user_ids)
