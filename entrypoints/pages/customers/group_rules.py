"""The page of a setup link that a vendor made for a customer: which roles of the service groups give."""

from typing import Final
from uuid import UUID

import msgspec

from core.customers import group_rules
from core.customers.group_rules import CustomerRuleUnknown, NamedGroups
from core.errors import BadRequest, Conflict, Refusal
from core.organizations.access import Operation
from core.organizations.group_roles import SCIM
from core.organizations.link_callers import Part, SetupLinkDead
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import setup_pages, shows_again
from entrypoints.pages.organizations.setup import LIMITS, PartQuery, done, opened, part_page, sent
from entrypoints.web.serving.browsers import FormRefused, ProtectedForm
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import holding_setup_link

routes = setup_pages()

SERVICE_ROLES: Final = "/app/setup/parts/service-roles"
REFUSES: Final = (SetupLinkDead, FormRefused)


class CustomerRuleForm(ProtectedForm, kw_only=True):
    """A new rule: where its group is, the group by its name or value, and the roles that it gives."""

    source: str = SCIM
    group: str = ""
    service_roles: list[str] = msgspec.field(default_factory=list[str])


@routes.get(SERVICE_ROLES, refuses=(SetupLinkDead,))
@holding_setup_link
async def show_rule_setup(
    call: Call,
    *,
    query: PartQuery | None = None,
    form: CustomerRuleForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show which roles groups give, and a form for another rule."""
    setup, shown = await opened(call, Operation.CUSTOMER_SETUP_READ, group_rules.show_setup)
    sources = {SCIM: marked("Groups of your directory"), **dict(shown.named.connections)}
    return await part_page(
        call,
        "customers/group_rules.html",
        setup,
        Part.GROUPS,
        query=query,
        refusal=refusal,
        rules=shown.rules,
        sources=list(sources.items()),
        names=sources,
        arrived=[name for _, name in shown.named.groups],
        roles=[(role, role, "", None) for role in shown.named.roles],
        form=form or CustomerRuleForm(),
    )


@routes.post(SERVICE_ROLES, limits=LIMITS, refuses=(*REFUSES, BadRequest, Conflict))
@holding_setup_link
@shows_again(show_rule_setup, BadRequest, Conflict)
async def add_rule(call: Call, form: CustomerRuleForm) -> PageOrRedirect:
    """Save a new rule."""
    _, named = await opened(call, Operation.CUSTOMER_SETUP_READ, group_rules.nameable)
    await sent(
        call,
        form,
        group_rules.create,
        source=form.source,
        group=_group(named, form),
        service_roles=form.service_roles,
    )
    return done(SERVICE_ROLES, "group-rules-saved")


@routes.post(f"{SERVICE_ROLES}/:rule_id/remove", limits=LIMITS, refuses=(*REFUSES, CustomerRuleUnknown))
@holding_setup_link
async def remove_rule(call: Call, rule_id: UUID, form: ProtectedForm) -> PageOrRedirect:
    """Remove a rule, whose group gives its roles no longer."""
    await sent(call, form, group_rules.delete, rule_id)
    return done(SERVICE_ROLES, "group-rules-saved")


def _group(named: NamedGroups, form: CustomerRuleForm) -> str:
    """Return the id of the group of a directory that has the typed name, and what was typed for any other source."""
    typed = form.group.strip()
    if form.source != SCIM:
        return typed
    return next((group_id for group_id, name in named.groups if name == typed), typed)
