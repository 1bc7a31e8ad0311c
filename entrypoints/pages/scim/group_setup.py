"""The pages of a setup link for groups: the steps at the directory, the groups that arrived, and the rules for them."""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from core.errors import BadRequest, Forbidden, Refusal
from core.organizations.group_roles import SCIM
from core.organizations.setup_links import SetupLinkDead
from core.scim import group_setup
from core.scim.group_setup import GroupRuleUnknown, GroupSetup
from entrypoints.pages.console.setup_steps import kind_of
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.refusals import problems_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import setup_pages, shows_again
from entrypoints.pages.organizations.setup import (
    LIMITS,
    KindQuery,
    SetupForm,
    part_page,
    protected_cookie,
    setup_cookie,
)
from entrypoints.pages.scim import directory_kinds
from entrypoints.web.serving.answers import see_other
from entrypoints.web.serving.browsers import FormRefused
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import public

routes = setup_pages()

GROUPS: Final = "/app/setup/parts/groups"
REFUSES: Final = (SetupLinkDead, FormRefused, Forbidden)


class GroupRuleForm(SetupForm, kw_only=True):
    """A new rule: where its group is, the group, and the role that it gives."""

    source: str = SCIM
    group: str = ""
    role: str = ""


@routes.get(GROUPS, refuses=(SetupLinkDead,))
@public
async def show_group_setup(
    call: Call,
    *,
    query: KindQuery | None = None,
    form: GroupRuleForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show how groups arrive from the directory, those that arrived, and which roles they give."""
    shown = await call.read(group_setup.show, setup_cookie(call))
    sources = _sources(shown)
    return await part_page(
        call,
        "scim/group_setup.html",
        shown.setup,
        status=400 if refusal is not None else 200,
        shown=shown,
        form=form or GroupRuleForm(),
        problems=problems_of(refusal),
        problem=refusal.message if refusal is not None else "",
        sources=list(sources.items()),
        roles=[(role, role) for role in shown.setup.given_roles],
        names=sources,
        arrived=[*shown.arrived.group_names.values(), *shown.arrived.asserted],
        kinds=directory_kinds.GROUP_KINDS,
        kind=kind_of(directory_kinds.GROUP_KINDS, query.provider if query is not None else ""),
    )


@routes.post(f"{GROUPS}/check", limits=LIMITS, refuses=(*REFUSES, BadRequest))
@public
@shows_again(show_group_setup, BadRequest)
async def check_group_rule(call: Call, form: GroupRuleForm) -> PageOrRedirect:
    """Show how many people get another role by a new rule, before it is saved."""
    cookie = protected_cookie(call, form)
    considered = await call.transact(group_setup.consider, cookie, form.source, form.group, form.role)
    shown = await call.read(group_setup.show, cookie)
    return await part_page(
        call, "scim/group_setup_check.html", considered.setup, considered=considered, form=form, names=_sources(shown)
    )


@routes.post(GROUPS, limits=LIMITS, refuses=(*REFUSES, BadRequest))
@public
@shows_again(show_group_setup, BadRequest)
async def add_group_rule(call: Call, form: GroupRuleForm) -> PageOrRedirect:
    """Save a new rule; members use `PUT /api/organizations/:slug/group-rules`."""
    await call.transact(group_setup.add, protected_cookie(call, form), form.source, form.group, form.role)
    return see_other(GROUPS)


@routes.get(f"{GROUPS}/:rule_id/remove", refuses=(SetupLinkDead, Forbidden, GroupRuleUnknown))
@public
async def ask_to_remove_group_rule(call: Call, rule_id: UUID) -> Page:
    """Show how many people lose the role of a rule, and ask whether it is to be removed."""
    cookie = setup_cookie(call)
    considered = await call.transact(group_setup.consider_removal, cookie, rule_id)
    names = _sources(await call.read(group_setup.show, cookie))
    return await part_page(
        call,
        "scim/group_setup_removal.html",
        considered.setup,
        considered=considered,
        rule_id=rule_id,
        names=names,
    )


@routes.post(f"{GROUPS}/:rule_id/remove", limits=LIMITS, status=303, refuses=(*REFUSES, GroupRuleUnknown))
@public
async def remove_group_rule(call: Call, rule_id: UUID, form: SetupForm) -> None:
    """Remove a rule, and take the role from the people who have it by the rule."""
    await call.transact(group_setup.remove, protected_cookie(call, form), rule_id)
    call.headers["Location"] = GROUPS


def _sources(shown: GroupSetup) -> Mapping[str, str]:
    return {SCIM: marked("Groups of your directory"), **dict(shown.arrived.connections)}
