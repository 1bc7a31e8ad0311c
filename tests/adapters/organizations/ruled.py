"""An organization whose groups give roles, as values: drawn, stored, and decided member by member.

`decided` is a second reader of the rules. It asks each rule for each member; the product asks PostgreSQL for many
members at once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final
from uuid import UUID, uuid5

from hypothesis import strategies as st

from core.organizations import access
from core.organizations.access import Capability
from core.organizations.authority import Authority
from core.organizations.group_roles import SCIM, may_set
from core.organizations.organizations import BUILT_IN_ROLES
from tests.world.builder import Builder

CUSTOM: Final[Mapping[str, Sequence[str]]] = {
    "viewer": ["services.view"],
    "auditor": ["audit_logs.view"],
    "manager": ["org.members.manage", "org.roles.manage", "services.view"],
    "connector": ["integrations.manage", "org.roles.manage", "audit_logs.view"],
}
# A rule may name a role that was deleted.
ROLES: Final = ("admin", "member", *CUSTOM, "gone")
GROUPS, CONNECTIONS, MEMBERS = 4, 2, 9
VALUES: Final = ("Sales", "Support")
AUTHORITIES: Final = (
    Authority(role="owner", permissions=None),
    Authority(role="member", permissions=None),
    Authority(role="manager", permissions=list(CUSTOM["manager"])),
    Authority(role=None, permissions=None),
    Authority(role="owner", permissions=None, link_roles=["auditor", "viewer"]),
    Authority.of_link(["viewer"], access.implied_by(CUSTOM["viewer"])),
)
# The roles of the setup link that made a rule, by its place; the others are of members.
LINKS: Final[Mapping[int, Sequence[str]]] = {2: ["viewer"], 5: ["auditor", "viewer", "connector"]}

Given = tuple[str, tuple[str, str] | None]


@dataclass(frozen=True)
class Ruled:
    """The organization: each member, group and connection is a number, and the data about it stand at that place.

    `places` has the authority of each member in each group, `asserted` what each connection said of each member; a rule
    is the number of a group, or of a connection with a value, its role, and the number of the member who made it.
    """

    roles: Sequence[tuple[str, int | None, bool, int]]
    places: Mapping[tuple[int, int], int]
    asserted: Mapping[tuple[int, int], Sequence[str]]
    enabled: Sequence[bool]
    rules: Sequence[tuple[int | tuple[int, str], str, int | None]]
    by: Authority | None


@st.composite
def ruled(draw: st.DrawFn) -> Ruled:
    """Draw an organization; its first member is the owner, its second one may give some roles."""
    groups, members = st.integers(0, GROUPS - 1), st.integers(0, MEMBERS - 1)
    named = groups | st.tuples(st.integers(0, CONNECTIONS - 1), st.sampled_from(VALUES))
    rules = draw(
        st.lists(
            st.tuples(named, st.sampled_from(ROLES), st.sampled_from((0, 1)) | st.none() | members),
            min_size=2,
            max_size=8,
            unique_by=lambda rule: rule[:2],
        )
    )
    # The role of a rule for many: another one is given by hand, or by a rule that is gone.
    role = st.sampled_from(ROLES[:-1])
    sources = st.none() | st.integers(0, len(rules))
    others = draw(
        st.lists(st.tuples(role, sources, st.booleans(), st.integers(0, 3)), min_size=4, max_size=MEMBERS - 2)
    )
    present = [
        (rules[source][1], source, is_suspended, joined)
        if source is not None and source < len(rules) and rules[source][1] != "gone" and joined
        else (role, source, is_suspended, joined)
        for role, source, is_suspended, joined in others
    ]
    return Ruled(
        roles=[("owner", None, False, 0), ("manager", None, False, 0), *present],
        places=draw(
            st.dictionaries(st.tuples(groups, members), st.integers(0, len(AUTHORITIES) - 1), min_size=8, max_size=24)
        ),
        asserted=draw(
            st.dictionaries(
                st.tuples(st.integers(0, CONNECTIONS - 1), members),
                st.lists(st.sampled_from((*VALUES, "Other")), unique=True),
                min_size=4,
                max_size=12,
            )
        ),
        enabled=draw(st.tuples(*[st.booleans()] * CONNECTIONS)),
        rules=rules,
        by=draw(st.none() | st.sampled_from(AUTHORITIES)),
    )


@dataclass(frozen=True)
class Stored:
    """The ids of a stored organization, by the numbers of its parts."""

    organization_id: UUID
    members: Sequence[UUID]
    groups: Sequence[UUID]
    connections: Sequence[UUID]

    def source(self, named: int | tuple[int, str]) -> tuple[str, str]:
        """Return the source and the group of a rule as a membership has them."""
        return (
            (SCIM, str(self.groups[named])) if isinstance(named, int) else (str(self.connections[named[0]]), named[1])
        )


def stored(builder: Builder, state: Ruled) -> Stored:
    """Put an organization into the tables."""
    organization_id = builder.organization()
    execute = builder.connection.execute
    for slug, permissions in CUSTOM.items():
        builder.custom_role(organization_id, slug, *permissions)
    ids = Stored(
        organization_id,
        members=[builder.user(f"{number}@example.com") for number in range(len(state.roles))],
        groups=[_id(organization_id, f"group {number}") for number in range(GROUPS)],
        connections=[_id(organization_id, f"connection {number}") for number in range(CONNECTIONS)],
    )
    for user_id, (role, source, is_suspended, joined) in zip(ids.members, state.roles, strict=True):
        at = builder.clock() + timedelta(minutes=joined)
        execute(
            """
            INSERT INTO memberships (id, organization_id, user_id, role, role_source, role_group, suspended_at,
                                     created_at, confirmed_at)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)
            """,
            (
                builder.new_id(),
                organization_id,
                user_id,
                role,
                *(_source(state, ids, source) or (None, None)),
                at if is_suspended else None,
                at,
                at,
            ),
        )
    for number, group_id in enumerate(ids.groups):
        execute(
            """
            INSERT INTO directory_groups (id, organization_id, display_name, created_at, updated_at)
            VALUES (%s, %s, %s, now(), now())
            """,
            (group_id, organization_id, f"Group {number}"),
        )
    for number, is_enabled in enumerate(state.enabled):
        execute(
            """
            INSERT INTO upstream_connections (id, organization_id, type, name, issuer, scopes, attribute_mapping,
                                              trust_mfa, enabled, created_at, updated_at)
            VALUES (%s, %s, 'saml', %s, 'https://idp.example', '{}', '{}', false, %s, now(), now())
            """,
            (ids.connections[number], organization_id, f"Connection {number}", is_enabled),
        )
    for number, authority in enumerate(AUTHORITIES):
        execute(
            """
            INSERT INTO directory_authorities (id, organization_id, maker_role, maker_permissions, link_roles)
            VALUES (%s, %s, %s, %s, %s)
            """,
            (
                _authority_id(organization_id, number),
                organization_id,
                authority.role,
                authority.permissions,
                authority.link_roles,
            ),
        )
    _store_places(builder, state, ids)
    return ids


def _store_places(builder: Builder, state: Ruled, ids: Stored) -> None:
    organization_id, execute = ids.organization_id, builder.connection.execute
    for (group, member), authority in state.places.items():
        if member < len(ids.members):
            execute(
                """
                INSERT INTO directory_group_members (organization_id, group_id, user_id, authority_id)
                VALUES (%s, %s, %s, %s)
                """,
                (organization_id, ids.groups[group], ids.members[member], _authority_id(organization_id, authority)),
            )
    for (connection, member), groups in state.asserted.items():
        if member < len(ids.members):
            execute(
                """
                INSERT INTO identities (id, user_id, provider, subject, connection_id, organization_id, groups,
                                        linked_at, used_at)
                VALUES (%s, %s, 'saml', %s, %s, %s, %s, now(), now())
                """,
                (
                    builder.new_id(),
                    ids.members[member],
                    str(member),
                    ids.connections[connection],
                    organization_id,
                    list(groups),
                ),
            )
    for place, (named, role, maker) in enumerate(state.rules):
        group, (connection, value) = (named, (None, None)) if isinstance(named, int) else (None, named)
        execute(
            """
            INSERT INTO group_rules (id, organization_id, place, group_id, connection_id, asserted_group, role, made_by,
                                     link_roles, created_at)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, now())
            """,
            (
                builder.new_id(),
                organization_id,
                place,
                ids.groups[group] if group is not None else None,
                ids.connections[connection] if connection is not None else None,
                value,
                role,
                ids.members[maker] if maker is not None and maker < len(ids.members) else None,
                _link_roles(place, role),
            ),
        )


def decided(state: Ruled, ids: Stored, chosen: Collection[int] | None) -> Sequence[Given]:
    """Return the role of each member and what gave it, after the rules were applied to some, or to all."""
    outcome: dict[int, Given] = {}
    for member, (role, source, _, _) in enumerate(state.roles):
        before = (role, _source(state, ids, source))
        outcome[member] = before
        if role != "owner" and (chosen is None or member in chosen):
            given, maker = _decided(state, ids, member, before)
            judges = [state.by, maker if source is None else None]
            if all(_may_give(one, name) for one in judges if one is not None for name in {role, given[0]}):
                outcome[member] = given
    return list(outcome.values())


def _decided(state: Ruled, ids: Stored, member: int, before: Given) -> tuple[Given, Authority | None]:
    """Return what the first fitting rule gives, and who made the rule."""
    for place, (named, role, maker) in enumerate(state.rules):
        if isinstance(named, int):
            fits = (named, member) in state.places
            authority = AUTHORITIES[state.places[named, member]] if fits else None
        else:
            fits = state.enabled[named[0]] and named[1] in state.asserted.get((named[0], member), ())
            authority = None
        given = (role, ids.source(named))
        held = replace(_authority_of(state, maker), link_roles=_link_roles(place, role))
        gives = role in {"admin", "member", *CUSTOM} and may_set(held, ids.source(named)[0], role, _allowed(role))
        if fits and (before == given or (gives and (authority is None or _may_give(authority, role)))):
            return given, held
    return (before, None) if before[1] is None else (("member", None), None)


def _authority_of(state: Ruled, maker: int | None) -> Authority:
    """Return what the maker of a rule may do now; nothing when suspended or gone."""
    if maker is None or maker >= len(state.roles) or state.roles[maker][2]:
        return Authority(role=None, permissions=None)
    role = state.roles[maker][0]
    return Authority(role=role, permissions=list(CUSTOM[role]) if role in CUSTOM else None)


def _link_roles(place: int, role: str) -> list[str] | None:
    """Return the roles of the setup link that made a rule, its own among them; None for a member's."""
    return sorted({*LINKS[place], role}) if place in LINKS else None


def _may_give(authority: Authority, role: str) -> bool:
    return authority.may_give(role, _allowed(role))


def _allowed(role: str) -> frozenset[Capability]:
    return access.capabilities_of(role, None if role in BUILT_IN_ROLES else CUSTOM.get(role))


def _source(state: Ruled, ids: Stored, source: int | None) -> tuple[str, str] | None:
    """Return the source of a role; one past the last rule is a group that has no rule any longer."""
    if source is None:
        return None
    return ids.source(state.rules[source][0]) if source < len(state.rules) else (SCIM, str(ids.groups[0]))


def _id(organization_id: UUID, name: str) -> UUID:
    return uuid5(organization_id, name)


def _authority_id(organization_id: UUID, number: int) -> UUID:
    return uuid5(organization_id, f"authority {number}")


def changed(builder: Builder, ids: Stored) -> Sequence[UUID]:
    """Return the members about whose role there is an event."""
    rows = builder.rows(
        "SELECT data->>'user_id' FROM events WHERE organization_id = %s AND type = 'user.role_updated'",
        ids.organization_id,
    )
    return sorted(UUID(user_id) for (user_id,) in rows)


def roles_of(builder: Builder, ids: Stored) -> Sequence[Any]:
    """Return the role of each member and what gave it, as the tables have it."""
    rows = builder.rows(
        "SELECT user_id, role, role_source, role_group FROM memberships WHERE organization_id = %s", ids.organization_id
    )
    found = {user_id: (role, (source, group) if source is not None else None) for user_id, role, source, group in rows}
    return [found[user_id] for user_id in ids.members]
