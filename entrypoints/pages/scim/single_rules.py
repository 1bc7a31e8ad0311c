"""The pages of a setup link for groups: the steps at the directory, the groups that arrived, and the rules for them."""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from core.errors import BadRequest, Forbidden, Refusal
from core.organizations import link_callers
from core.organizations.access import Operation
from core.organizations.group_roles import SCIM
from core.organizations.link_callers import Part, SetupLinkDead
from core.scim import single_rules
from core.scim.single_rules import ChangeableRules, GroupRuleUnknown
from entrypoints.pages.console.setup_steps import kind_of
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import setup_pages, shows_again
from entrypoints.pages.organizations.setup import (
    LIMITS,
    PartQuery,
    done,
    opened,
    part_page,
    sent,
    steps_of_page,
)
from entrypoints.pages.scim import directory_kinds
from entrypoints.web.serving.admission.browsers import FormRefused, ProtectedForm
from entrypoints.web.serving.admission.credentials import holding_setup_link
from entrypoints.web.serving.calls import Call

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
    query: PartQuery | None = None,
    form: GroupRuleForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show how groups arrive from the directory, those that arrived, and which roles they give."""
    setup, shown = await opened(call, Operation.GROUPS_READ, single_rules.show)
    sources = _sources(shown)
    arrived = [*shown.arrived.group_names.values(), *shown.arrived.asserted]
    query = query or PartQuery()
    chosen = "rules" if form is not None else "arrival" if query.provider else query.step
    return await part_page(
        call,
        "scim/single_rules.html",
        setup,
        Part.GROUPS,
        query=query,
        refusal=refusal,
        shown=shown,
        form=form or GroupRuleForm(),
        sources=list(sources.items()),
        roles=[(role, role) for role in setup.holder.given_roles],
        names=sources,
        arrived=arrived,
        kinds=directory_kinds.GROUP_KINDS,
        kind=kind_of(directory_kinds.GROUP_KINDS, query.provider),
        **steps_of_page({"arrival": bool(arrived), "rules": bool(shown.rules)}, chosen),
    )


@routes.post(f"{GROUPS}/check", limits=LIMITS, refuses=(*REFUSES, BadRequest))
@holding_setup_link
@shows_again(show_group_setup, BadRequest)
async def check_group_rule(call: Call, form: GroupRuleForm) -> PageOrRedirect:
    """Show how many people get another role by a new rule, before it is saved."""
    considered = await sent(call, form, single_rules.consider, form.source, form.group, form.role)
    setup, shown = await opened(call, Operation.GROUPS_READ, single_rules.show)
    return await part_page(
        call,
        "scim/single_rules_check.html",
        setup,
        Part.GROUPS,
        considered=considered,
        form=form,
        names=_sources(shown),
    )


@routes.post(GROUPS, limits=LIMITS, refuses=(*REFUSES, BadRequest))
@holding_setup_link
@shows_again(show_group_setup, BadRequest)
async def add_group_rule(call: Call, form: GroupRuleForm) -> PageOrRedirect:
    """Save a new rule; members use `PUT /api/organizations/:slug/group-rules`."""
    await sent(call, form, single_rules.add, form.source, form.group, form.role)
    return done(GROUPS, "group-rules-saved")


@routes.get(f"{GROUPS}/:rule_id/remove", refuses=(SetupLinkDead, Forbidden, GroupRuleUnknown))
@holding_setup_link
async def ask_to_remove_group_rule(call: Call, rule_id: UUID) -> Page:
    """Show how many people lose the role of a rule, and ask whether it is to be removed."""
    considered = await call.transact(link_callers.serve, single_rules.consider_removal, rule_id)
    setup, shown = await opened(call, Operation.GROUPS_READ, single_rules.show)
    return await part_page(
        call,
        "scim/single_rules_check.html",
        setup,
        Part.GROUPS,
        considered=considered,
        form=None,
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
