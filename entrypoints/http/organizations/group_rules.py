"""The rules by which groups give roles in an organization."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Final
from uuid import UUID

import msgspec

from core.errors import BadRequest, Forbidden
from core.limits import LARGE_BODY_BYTES_MAX
from core.organizations import group_rules
from core.organizations.access import Operation
from core.organizations.group_roles import GroupRule, WantedRule
from entrypoints.web.serving.admission.credentials import in_organization
from entrypoints.web.serving.answering.bodies import Record
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

# An organization may still have this many, from before the limit was lower.
READ_MAX: Final = 500

routes = Routes(
    "group rules",
    "Which role the members of a group have. The first rule that fits gives the role; when none fits any longer, the"
    " role is `member`. A rule adds no members and does not change the owner.",
)

Source = Annotated[
    str, msgspec.Meta(description="`scim` for a group of the directory, or the id of an upstream connection.")
]


class GroupRuleInput(msgspec.Struct, kw_only=True):
    """A rule: who is in the group has the role."""

    source: Source
    group: str
    role: str


class GroupRulesInput(msgspec.Struct, kw_only=True):
    """All rules, the one that counts first at the beginning."""

    rules: list[GroupRuleInput]


class GroupRuleItem(Record):
    """A rule of the organization."""

    source: Source
    group: str
    group_name: str | None
    role: str
    made_by: UUID | None
    gives_role: bool
    created_at: datetime


class GroupRuleList(msgspec.Struct, kw_only=True):
    """The rules of the organization, in the order in which they count."""

    rules: list[GroupRuleItem]


@routes.get("/api/organizations/:slug/group-rules")
@in_organization(Operation.GROUPS_READ)
async def list_group_rules(call: Call, slug: str) -> GroupRuleList:
    """List the rules, the one that counts first at the beginning."""
    return _answered(await call.read(group_rules.list_all, slug))


@routes.put(
    "/api/organizations/:slug/group-rules", body_bytes_max=LARGE_BODY_BYTES_MAX, refuses=(BadRequest, Forbidden)
)
@in_organization(Operation.GROUP_RULES_CHANGE)
async def save_group_rules(call: Call, slug: str, body: GroupRulesInput) -> GroupRuleList:
    """Replace all rules, and apply them at once to the members.

    A rule keeps its maker as long as its source, group and role stay. A new one gives a role that allows no more than
    yours, and one by a connection also takes `integrations.manage`.
    """
    # With more than any organization has they are refused, whatever they are.
    sent = body.rules[: READ_MAX + 1]
    wanted = [WantedRule(source=rule.source, group=rule.group, role=rule.role) for rule in sent]
    return _answered(await call.transact(group_rules.save, slug, wanted))


def _answered(rules: Sequence[GroupRule]) -> GroupRuleList:
    return GroupRuleList(rules=[GroupRuleItem.of(rule) for rule in rules])
