"""The pages of a setup link for groups: the steps at the directory, the groups that arrived, and the rules for them."""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from core.errors import BadRequest, Forbidden, Refusal
from core.organizations import link_callers
from core.organizations.access import Operation
from core.organizations.group_roles import SCIM
from core.organizations.link_callers import SetupLinkDead
from core.scim import single_rules
from core.scim.single_rules import ChangeableRules, GroupRuleUnknown
from entrypoints.pages.console.setup_steps import kind_of
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.refusals import problems_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import setup_pages, shows_again
from entrypoints.pages.organizations.setup import (
    LIMITS,
    KindQuery,
    opened,
    part_page,
    sent,
)
from entrypoints.pages.scim import directory_kinds
from entrypoints.web.serving.answers import see_other
from entrypoints.web.serving.browsers import FormRefused, ProtectedForm
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import holding_setup_link

routes = setup_pages()

GROUPS: Final = "/app/setup/parts/groups"
REFUSES: Final = (SetupLinkDead, FormRefused, Forbidden)


class GroupRuleForm(ProtectedForm, kw_only=True):
    """A new rule: where its group is, the group, and the role that it gives."""

    source: str = SCIM
    group: str = ""
    role: str = ""


@routes.get(GROUPS, refuses=(SetupLinkDead,))
@holding_setup_link
async def show_group_setup(
    call: Call,
    *,
    query: KindQuery | None = None,
    form: GroupRuleForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show how groups arrive from the directory, those that arrived, and which roles they give."""
    setup, shown = await opened(call, Operation.GROUPS_READ, single_rules.show)
    sources = _sources(shown)
    return await part_page(
        call,
        "scim/single_rules.html",
        setup,
        status=400 if refusal is not None else 200,
        shown=shown,
        form=form or GroupRuleForm(),
        problems=problems_of(refusal),
        problem=refusal.message if refusal is not None else "",
        sources=list(sources.items()),
        roles=[(role, role) for role in setup.given_roles],
        names=sources,
        arrived=[*shown.arrived.group_names.values(), *shown.arrived.asserted],
        kinds=directory_kinds.GROUP_KINDS,
        kind=kind_of(directory_kinds.GROUP_KINDS, query.provider if query is not None else ""),
    )


@routes.post(f"{GROUPS}/check", limits=LIMITS, refuses=(*REFUSES, BadRequest))
@holding_setup_link
@shows_again(show_group_setup, BadRequest)
async def check_group_rule(call: Call, form: GroupRuleForm) -> PageOrRedirect:
    """Show how many people get another role by a new rule, before it is saved."""
    considered = await sent(call, form, single_rules.consider, form.source, form.group, form.role)
    setup, shown = await opened(call, Operation.GROUPS_READ, single_rules.show)
    return await part_page(
        call, "scim/single_rules_check.html", setup, considered=considered, form=form, names=_sources(shown)
    )


@routes.post(GROUPS, limits=LIMITS, refuses=(*REFUSES, BadRequest))
@holding_setup_link
@shows_again(show_group_setup, BadRequest)
async def add_group_rule(call: Call, form: GroupRuleForm) -> PageOrRedirect:
    """Save a new rule; members use `PUT /api/organizations/:slug/group-rules`."""
    await sent(call, form, single_rules.add, form.source, form.group, form.role)
    return see_other(GROUPS)


@routes.get(f"{GROUPS}/:rule_id/remove", refuses=(SetupLinkDead, Forbidden, GroupRuleUnknown))
@holding_setup_link
async def ask_to_remove_group_rule(call: Call, rule_id: UUID) -> Page:
    """Show how many people lose the role of a rule, and ask whether it is to be removed."""
    considered = await call.transact(link_callers.serve, single_rules.consider_removal, rule_id)
    setup, shown = await opened(call, Operation.GROUPS_READ, single_rules.show)
    return await part_page(
        call,
        "scim/single_rules_removal.html",
        setup,
        considered=considered,
        rule_id=rule_id,
        names=_sources(shown),
    )


@routes.post(f"{GROUPS}/:rule_id/remove", limits=LIMITS, status=303, refuses=(*REFUSES, GroupRuleUnknown))
@holding_setup_link
async def remove_group_rule(call: Call, rule_id: UUID, form: ProtectedForm) -> None:
    """Remove a rule, and take the role from the people who have it by the rule."""
    await sent(call, form, single_rules.remove, rule_id)
    call.headers["Location"] = GROUPS


def _sources(shown: ChangeableRules) -> Mapping[str, str]:
    return {SCIM: marked("Groups of your directory"), **dict(shown.arrived.connections)}
