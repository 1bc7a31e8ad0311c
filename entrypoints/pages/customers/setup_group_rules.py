"""The page of the rules by which groups of a customer give roles of the vendor's service, as the vendor sets them."""

from typing import Final
from uuid import UUID

import msgspec

from core.customers import group_rules, setup_callers
from core.customers.group_rules import (
    CustomerRuleTwice,
    CustomerRuleUnknown,
    NamedGroups,
    TooManyCustomerRules,
)
from core.errors import BadRequest, Refusal
from core.organizations.access import Operation
from core.organizations.group_roles import SCIM
from core.organizations.link_callers import Part
from entrypoints.pages.console.frame import Program, after
from entrypoints.pages.customers.setup import GROUP_RULES, REFUSES, opened_setup, path_of, setup_page
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.web.serving.browsers import ProtectedForm
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import on_service_in_console
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

RULE: Final = f"{GROUP_RULES}/:rule_id"


class NewRuleForm(ProtectedForm, kw_only=True):
    """A new rule: where its group is, the group by its name or value, and the roles that it gives."""

    source: str = SCIM
    group: str = ""
    service_roles: list[str] = msgspec.field(default_factory=list[str])


@routes.get(GROUP_RULES, refuses=REFUSES)
@on_service_in_console(Operation.CUSTOMER_SETUP_READ)
async def show_customer_rules(
    call: Call,
    org_slug: str,
    service_slug: str,
    customer_id: UUID,
    *,
    query: DoneQuery | None = None,
    form: NewRuleForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show which roles of the service the groups of a customer give, and a form for another rule."""
    place, found = await opened_setup(
        call,
        path_of(org_slug, service_slug, customer_id),
        "group-rules",
        lambda uow, path: setup_callers.read(uow, path, Part.GROUPS, group_rules.show_setup),
    )
    sources = {SCIM: marked("Groups of the customer's directory"), **dict(found.named.connections)}
    return setup_page(
        call,
        "customers/setup_group_rules.html",
        place,
        program=Program(
            "group_rules_of_customers_create_customer_rule",
            org_slug,
            service_slug,
            customer_id,
            body={"group": "…", "service_roles": list(found.named.roles[:1])},
        ),
        done=query.done if query is not None else "",
        refusal=refusal,
        rules=found.rules,
        sources=list(sources.items()),
        names=sources,
        arrived=[name for _, name in found.named.groups],
        roles=[(role, role, "", None) for role in found.named.roles],
        typed=form or NewRuleForm(),
    )


@routes.post(GROUP_RULES, refuses=(*REFUSES, BadRequest, CustomerRuleTwice, TooManyCustomerRules))
@on_service_in_console(Operation.CUSTOMER_SETUP)
@shows_again(show_customer_rules, BadRequest, CustomerRuleTwice)
async def add_customer_rule(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, form: NewRuleForm
) -> PageOrRedirect:
    """Save a new rule; programs use `POST …/customers/:customer_id/group-rules`."""
    path = path_of(org_slug, service_slug, customer_id)
    named = await call.read(setup_callers.read, path, Part.GROUPS, group_rules.nameable)
    await call.transact(
        setup_callers.change,
        path,
        Part.GROUPS,
        group_rules.create,
        source=form.source,
        group=_group(named, form),
        service_roles=form.service_roles,
    )
    return after(call.request.path, "group-rules-saved")


@routes.post(f"{RULE}/remove", refuses=(*REFUSES, CustomerRuleUnknown))
@on_service_in_console(Operation.CUSTOMER_SETUP)
async def remove_customer_rule(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, rule_id: UUID
) -> PageOrRedirect:
    """Remove a rule; programs use `DELETE …/customers/:customer_id/group-rules/:rule_id`."""
    path = path_of(org_slug, service_slug, customer_id)
    await call.transact(setup_callers.change, path, Part.GROUPS, group_rules.delete, rule_id)
    return after(call.request.path.rsplit("/", 2)[0], "group-rules-saved")


def _group(named: NamedGroups, form: NewRuleForm) -> str:
    """Return the id of the group of a directory that has the typed name, and what was typed for any other source."""
    typed = form.group.strip()
    if form.source != SCIM:
        return typed
    return next((group_id for group_id, name in named.groups if name == typed), typed)
