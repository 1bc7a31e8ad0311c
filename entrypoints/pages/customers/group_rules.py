"""Which roles of a service the groups of a customer give, on the page of a setup link, and on the vendor's own page."""

from typing import Final
from uuid import UUID

import msgspec

from core.customers import group_rules, setup_callers
from core.customers.group_rules import CustomerRuleTwice, CustomerRuleUnknown, NamedGroups, TooManyCustomerRules
from core.errors import BadRequest, Conflict, Refusal
from core.organizations.access import Operation
from core.organizations.group_roles import SCIM
from core.organizations.link_callers import Part, SetupLinkDead
from entrypoints.pages.console.frame import Program, after
from entrypoints.pages.customers.setup_callers import GROUP_RULES as BY_VENDOR
from entrypoints.pages.customers.setup_callers import REFUSES as REFUSES_TO_VENDOR
from entrypoints.pages.customers.setup_callers import opened_setup, path_of, require_change, setup_page
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, setup_pages, shows_again
from entrypoints.pages.organizations.setup import LIMITS, PartQuery, done, opened, part_page, sent
from entrypoints.web.serving.admission.browsers import FormRefused, ProtectedForm
from entrypoints.web.serving.admission.credentials import holding_setup_link, on_service_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = setup_pages()
console_routes: Routes = console_pages()

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


@console_routes.get(BY_VENDOR, refuses=REFUSES_TO_VENDOR)
@on_service_in_console(Operation.CUSTOMER_SETUP_READ)
async def show_customer_rules(
    call: Call,
    org_slug: str,
    service_slug: str,
    customer_id: UUID,
    *,
    query: DoneQuery | None = None,
    form: CustomerRuleForm | None = None,
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
        "customers/group_rules_by_vendor.html",
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
        typed=form or CustomerRuleForm(),
    )


@console_routes.post(BY_VENDOR, refuses=(*REFUSES_TO_VENDOR, BadRequest, CustomerRuleTwice, TooManyCustomerRules))
@on_service_in_console(Operation.CUSTOMER_SETUP)
@shows_again(show_customer_rules, BadRequest, CustomerRuleTwice)
async def add_customer_rule(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, form: CustomerRuleForm
) -> PageOrRedirect:
    """Save a new rule; programs use `POST …/customers/:customer_id/group-rules`."""
    await require_change(call, org_slug, service_slug, customer_id)
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


@console_routes.post(f"{BY_VENDOR}/:rule_id/remove", refuses=(*REFUSES_TO_VENDOR, CustomerRuleUnknown))
@on_service_in_console(Operation.CUSTOMER_SETUP)
async def remove_customer_rule(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, rule_id: UUID
) -> PageOrRedirect:
    """Remove a rule; programs use `DELETE …/customers/:customer_id/group-rules/:rule_id`."""
    path = path_of(org_slug, service_slug, customer_id)
    await call.transact(setup_callers.change, path, Part.GROUPS, group_rules.delete, rule_id)
    return after(call.request.path.rsplit("/", 2)[0], "group-rules-saved")


def _group(named: NamedGroups, form: CustomerRuleForm) -> str:
    """Return the id of the group of a directory that has the typed name, and what was typed for any other source."""
    typed = form.group.strip()
    if form.source != SCIM:
        return typed
    return next((group_id for group_id, name in named.groups if name == typed), typed)
