"""Rules by which groups give roles: groups of a directory, or groups that a connection asserts (ops/decisions/0064).

The first rule that fits a member gives the role (`group_roles.py`). A rule keeps its maker as long as source, group and
role stay, and gives its role only while the maker could give it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final, Self
from uuid import UUID

from core.errors import BadRequest, Conflict, FieldError, Forbidden
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.organizations import access, group_roles
from core.organizations.access import Capability, Operation
from core.organizations.authority import Authority
from core.organizations.authorization import OrganizationAccess, authorize, authorize_and_lock
from core.organizations.group_roles import SCIM, AlikeMembers, GroupRule, MadeRule, WantedRule, may_set
from core.organizations.organizations import ADMIN, MEMBER
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# An organization that has more since an earlier version keeps them, and may save as many as it has.
RULES_MAX: Final = 200
GROUP_CHARACTERS_MAX: Final = 255
# How many members the page names before the rules are saved.
PREVIEWED_MAX: Final = 100
# How many groups of the directory it offers by name.
GROUPS_NAMED_MAX: Final = 500


class RulesChanged(Conflict):
    """Another person has changed the rules since the caller saw them."""

    default_message = (
        "Another person has changed the rules meanwhile. Check what is shown now, and make your change again if you"
        " still want it."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonOfRules:
    """A member that rules concern."""

    user_id: UUID
    email: str
    name: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleChange(PersonOfRules):
    """A member whose role rules would change."""

    old_role: str
    new_role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrivedGroups:
    """What a new rule can name: groups of the directory, connections, and the values that these asserted lately.

    Connections and groups of the directory are named by their ids; of many groups and values, only the first are here.
    """

    group_names: Mapping[str, str]
    connections: Sequence[tuple[str, str]]
    asserted: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesOverview:
    """The rules of an organization, and what a new one can name: groups that arrived, and roles."""

    rules: Sequence[GroupRule]
    arrived: ArrivedGroups
    roles: Sequence[str]
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesEditor:
    """The member who changes rules and becomes the maker of new ones, and what this member may do.

    With `own_roles`, the editor makes only rules that give one of these roles, and renews no other rule whose maker
    lost the right. A key of the organization makes no rule for admins, who could create keys that outlive it.
    """

    user_id: UUID
    authority: Authority
    own_roles: Collection[str] | None = None
    is_key: bool = False

    @classmethod
    def of(cls, authorized: OrganizationAccess) -> Self:
        """Return an authorized caller as an editor; the holder of a setup link has the roles of the link."""
        caller, capabilities = authorized.caller, authorized.capabilities
        link = caller.limits.link
        if link is None:
            authority = Authority.holding(capabilities)
        else:
            authority = Authority.of_caller(authorized).limited_to(link.roles)
        return cls(
            user_id=caller.maker_id,
            authority=authority,
            own_roles=frozenset(link.roles or (MEMBER,)) if link is not None else None,
            is_key=caller.limits.key_id is not None,
        )

    def is_own(self, role: str) -> bool:
        """Return whether the editor looks after rules that give a role."""
        return self.own_roles is None or role in self.own_roles

    def may_set(self, rule: WantedRule, allowed_by_role: frozenset[Capability]) -> bool:
        """Return whether the editor may make a rule whose role allows `allowed_by_role`."""
        is_closed = self.is_key and rule.role == ADMIN
        return (
            self.is_own(rule.role)
            and not is_closed
            and may_set(self.authority, rule.source, rule.role, allowed_by_role)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesPreview:
    """The first members whose role rules would change, and their number; `state` is of the stored rules."""

    changes: Sequence[RoleChange]
    total: int
    state: str


def list_all(uow: UnitOfWork, slug: str) -> Sequence[GroupRule]:
    """List the rules of an organization in the order in which they count."""
    organization = authorize(uow, slug, Operation.GROUPS_READ).organization
    return uow.group_rules.of_organization(organization.id)


def show(uow: UnitOfWork, slug: str) -> RulesOverview:
    """Return the rules of an organization with what a new one can name."""
    organization = authorize(uow, slug, Operation.GROUPS_READ).organization
    rules = uow.group_rules.of_organization(organization.id)
    return RulesOverview(
        rules=rules,
        arrived=arrived(uow, organization.id),
        roles=[ADMIN, MEMBER, *(role.slug for role in uow.roles.of_organization(organization.id))],
        state=state_of(rules),
    )


def arrived(uow: UnitOfWork, organization_id: UUID) -> ArrivedGroups:
    """Return the groups that the directory and the connections of an organization have named."""
    groups = uow.directory_groups.found(organization_id, part="", after=None, limit=GROUPS_NAMED_MAX)
    return ArrivedGroups(
        group_names={str(group.id): group.display_name for group in groups},
        connections=[(str(one.id), one.name) for one in uow.upstream_connections.of_organization(organization_id)],
        asserted=uow.group_rules.asserted(organization_id, limit=GROUPS_NAMED_MAX),
    )


def save(
    uow: UnitOfWork, slug: str, wanted: Sequence[WantedRule], *, seen_state: str | None = None
) -> Sequence[GroupRule]:
    """Replace the rules of an organization, and apply them at once.

    Raise one `BadRequest` of all rules that are not valid, `Forbidden` for a new rule that the caller may not make, and
    `RulesChanged` when the rules are not in the state that the caller has seen.
    """
    authorized = authorize_and_lock(uow, slug, Operation.GROUP_RULES_CHANGE)
    if seen_state not in {None, state_of(uow.group_rules.of_organization(authorized.organization.id))}:
        raise RulesChanged
    return store(uow, authorized.organization.id, wanted, RulesEditor.of(authorized))


def store(
    uow: UnitOfWork, organization_id: UUID, wanted: Sequence[WantedRule], editor: RulesEditor
) -> Sequence[GroupRule]:
    """Do what `save` does, for an editor who was authorized and has locked the organization."""
    before = uow.group_rules.of_organization(organization_id)
    after = _made(uow, organization_id, wanted, before, editor)
    if after == [rule.made for rule in before]:
        # The rules stay, but a change by a caller with fewer rights may have left roles for this one to apply.
        group_roles.apply(uow, organization_id, None, by=editor.authority)
        return before
    uow.group_rules.replace(organization_id, [(uow.randomness.new_id(), one) for one in after])
    uow.record(
        AuditAction.ORGANIZATION_UPDATED,
        organization_id,
        organization_id=organization_id,
        audit_only={"group_rules": [_recorded(one.wanted) for one in after]},
        change="group_rules_changed",
    )
    group_roles.apply(uow, organization_id, None, by=editor.authority)
    return uow.group_rules.of_organization(organization_id)


def preview(uow: UnitOfWork, slug: str, wanted: Sequence[WantedRule], *, seen_state: str | None = None) -> RulesPreview:
    """Return whose role the rules that the caller is about to save would change; raise as `save`. Nothing changes."""
    authorized = authorize_and_lock(uow, slug, Operation.GROUP_RULES_CHANGE)
    organization_id = authorized.organization.id
    state = state_of(uow.group_rules.of_organization(organization_id))
    if seen_state not in {None, state}:
        raise RulesChanged
    changes = considered(uow, organization_id, wanted, RulesEditor.of(authorized))
    shown = _first_moved(changes)
    people = uow.group_rules.people(organization_id, sorted(shown))
    return RulesPreview(
        changes=[
            RoleChange(user_id=one.user_id, email=one.email, name=one.name, old_role=old, new_role=new)
            for one in people
            for old, new in [shown[one.user_id]]
        ],
        total=number_of(changes),
        state=state,
    )


def considered(
    uow: UnitOfWork, organization_id: UUID, wanted: Sequence[WantedRule], editor: RulesEditor
) -> Sequence[AlikeMembers]:
    """Return the members whose role `store` would change; raise as it does. Nothing changes."""
    before = uow.group_rules.of_organization(organization_id)
    after = _made(uow, organization_id, wanted, before, editor)
    # Stored for the statement that finds the members that they fit, and taken back in the same transaction.
    uow.group_rules.replace(organization_id, [(uow.randomness.new_id(), one) for one in after])
    decided = group_roles.decide(uow, organization_id, None, by=editor.authority)
    uow.group_rules.replace(organization_id, [(rule.id, rule.made) for rule in before])
    return [one for one in decided if one.moves]


def number_of(alike: Iterable[AlikeMembers]) -> int:
    """Return how many members these are."""
    return sum(len(one.user_ids) for one in alike)


def _first_moved(alike: Iterable[AlikeMembers]) -> Mapping[UUID, tuple[str, str]]:
    """Return the present and the new role of the members that the page names."""
    moved = ((user_id, (one.role, one.given.role)) for one in alike for user_id in one.user_ids)
    return dict(islice(moved, PREVIEWED_MAX))


def state_of(rules: Sequence[GroupRule]) -> str:
    """Return a text that each change of the rules changes."""
    text = "\x00".join("\x00".join(rule.key) for rule in rules)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()


def _made(
    uow: UnitOfWork,
    organization_id: UUID,
    wanted: Sequence[WantedRule],
    before: Sequence[GroupRule],
    editor: RulesEditor,
) -> Sequence[MadeRule]:
    """Return the rules with their makers and the times of their making; raise for rules that cannot be made."""
    _require_few(wanted, before)
    _require_valid(uow, organization_id, wanted)
    known = {rule.key: rule for rule in before}
    custom = {role.slug: access.implied_by(role.permissions) for role in uow.roles.of_organization(organization_id)}
    made: list[MadeRule] = []
    for rule in wanted:
        present = known.get(rule.key)
        is_theirs = editor.may_set(rule, _allowed(custom, rule.role))
        if present is not None and (present.gives_role or not is_theirs):
            made.append(present.made)
        elif is_theirs:
            # Also renews a rule whose maker has lost the right, so that it gives its role again.
            made.append(
                MadeRule(
                    wanted=rule, made_by=editor.user_id, link_roles=editor.authority.link_roles, created_at=uow.now
                )
            )
        else:
            raise Forbidden(
                Wording(
                    "You may not make a rule that gives the role %(role)s: its group would give more than your own role"
                    " allows, or you may not change the sign-in that it relies on. Ask an owner or admin.",
                    role=rule.role,
                )
            )
    return made


def _recorded(rule: WantedRule) -> Mapping[str, str]:
    return {"source": rule.source, "group": rule.group, "role": rule.role}


def _allowed(custom: Mapping[str, frozenset[Capability]], role: str) -> frozenset[Capability]:
    return custom[role] if role in custom else access.capabilities_of(role, None)


def _require_few(wanted: Sequence[WantedRule], before: Sequence[GroupRule]) -> None:
    if len(wanted) <= max(RULES_MAX, len(before)):
        return
    if len(before) <= RULES_MAX:
        raise BadRequest.of_field("rules", Wording("An organization has at most %(maximum)s rules.", maximum=RULES_MAX))
    raise BadRequest.of_field(
        "rules",
        Wording(
            "An organization has at most %(maximum)s rules. This one has %(present)s since an earlier version: it keeps"
            " them, and can save no more than it has.",
            maximum=RULES_MAX,
            present=len(before),
        ),
    )


def _require_valid(
    uow: UnitOfWork,
    organization_id: UUID,
    wanted: Sequence[WantedRule],
) -> None:
    """Raise one `BadRequest` of all rules that name what does not exist, or the same twice."""
    roles = {role.slug for role in uow.roles.of_organization(organization_id)} | {ADMIN, MEMBER}
    connections = {str(one.id) for one in uow.upstream_connections.of_organization(organization_id)}
    named = [rule.group for rule in wanted if rule.source == SCIM]
    groups = {str(one) for one in uow.group_rules.known_groups(organization_id, named)}
    problems: list[FieldError] = []
    seen: set[tuple[str, str, str]] = set()
    for index, rule in enumerate(wanted):
        if rule.source != SCIM and rule.source not in connections:
            problems.append(_problem(index, "source", "This must be scim, or the id of a connection."))
        elif rule.source == SCIM and rule.group not in groups:
            problems.append(_problem(index, "group", "The directory has no group with this id."))
        elif not 0 < len(rule.group) <= GROUP_CHARACTERS_MAX or not rule.group.isprintable():
            problems.append(_problem(index, "group", "1 to 255 characters, exactly as the connection asserts them."))
        if rule.role not in roles:
            problems.append(
                _problem(index, "role", "This must be admin, member, or the slug of a role of this organization.")
            )
        if rule.key in seen:
            problems.append(_problem(index, "group", "The same rule is there twice."))
        seen.add(rule.key)
    if problems:
        raise BadRequest.of_fields(problems)


def _problem(index: int, field: str, message: str) -> FieldError:
    return FieldError(field=f"rules[{index}].{field}", message=message)
