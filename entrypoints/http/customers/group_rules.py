"""Rules by which the groups of a customer give roles of the vendor's service."""

from typing import Annotated
from uuid import UUID

import msgspec

from core.customers import group_rules, setup_callers
from core.customers.customers import CustomerUnknown
from core.customers.group_rules import (
    CustomerGroupRule,
    CustomerRuleTwice,
    CustomerRuleUnknown,
    TooManyCustomerRules,
)
from core.customers.setup_callers import BeyondVendorSetup, CustomerClosed, CustomerPath, MakerOfKeyGone, SetupAttempt
from core.organizations.access import Operation
from core.organizations.group_roles import SCIM
from core.organizations.link_callers import Part
from core.services.api_keys import Permission
from core.services.services import ServiceUnknown
from entrypoints.web.serving.admission.credentials import on_service, service_key
from entrypoints.web.serving.answering.bodies import Record
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "group rules of customers",
    "Which roles of your service the people of a customer have by their groups: groups of its directory, or values that"
    " a connection of the customer asserts. The roles of all rules that fit add up in `service_roles`.",
)

ServiceRoles = Annotated[list[str], msgspec.Meta(description="Names of roles of the service, at least one.")]


class CustomerRuleCreation(msgspec.Struct, kw_only=True):
    """A group, and the roles that it gives."""

    group: Annotated[
        str,
        msgspec.Meta(description="The id of a group of the directory, or exactly the value that a connection asserts."),
    ]
    service_roles: ServiceRoles
    source: Annotated[
        str,
        msgspec.Meta(description="`scim` for a group of the directory, else the id of the connection that asserts it."),
    ] = SCIM


class CustomerRuleChange(msgspec.Struct, kw_only=True):
    """The roles that the rule gives from now on."""

    service_roles: ServiceRoles


class CustomerRuleRecord(Record, of=CustomerGroupRule):
    """A rule; `group_name` is null for what a connection asserts, and `last_attempt` always: a rule is not tried."""

    last_attempt: SetupAttempt | None

    @classmethod
    def shown(cls, rule: CustomerGroupRule) -> "CustomerRuleRecord":
        """Return a rule as the vendor sees it."""
        return cls.of(rule, last_attempt=None)


class CustomerRuleList(msgspec.Struct, kw_only=True):
    """All rules of a customer, the oldest first."""

    group_rules: list[CustomerRuleRecord]
    total: int


@routes.get(
    "/api/organizations/:org_slug/services/:service_slug/customers/:customer_id/group-rules",
    refuses=(ServiceUnknown, CustomerUnknown, BeyondVendorSetup, CustomerClosed),
)
@on_service(Operation.CUSTOMER_SETUP_READ)
async def list_customer_rules(call: Call, org_slug: str, service_slug: str, customer_id: UUID) -> CustomerRuleList:
    """List the group rules of a customer, the oldest first."""
    return await _list(call, CustomerPath(customer_id=customer_id, org_slug=org_slug, service_slug=service_slug))


@routes.get(
    "/api/service/customers/:customer_id/group-rules",
    refuses=(CustomerUnknown, BeyondVendorSetup, CustomerClosed, MakerOfKeyGone),
)
@service_key(Permission.SETUP_CUSTOMERS)
async def list_customer_rules_by_key(call: Call, customer_id: UUID) -> CustomerRuleList:
    """List the group rules of a customer, the oldest first."""
    return await _list(call, CustomerPath(customer_id=customer_id))


@routes.post(
    "/api/organizations/:org_slug/services/:service_slug/customers/:customer_id/group-rules",
    refuses=(
        ServiceUnknown,
        CustomerUnknown,
        BeyondVendorSetup,
        CustomerClosed,
        CustomerRuleTwice,
        TooManyCustomerRules,
    ),
)
@on_service(Operation.CUSTOMER_SETUP)
async def create_customer_rule(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, body: CustomerRuleCreation
) -> CustomerRuleRecord:
    """Make a rule by which a group of a customer gives roles of the service."""
    return await _create(
        call, CustomerPath(customer_id=customer_id, org_slug=org_slug, service_slug=service_slug), body
    )


@routes.post(
    "/api/service/customers/:customer_id/group-rules",
    refuses=(
        CustomerUnknown,
        BeyondVendorSetup,
        CustomerClosed,
        MakerOfKeyGone,
        CustomerRuleTwice,
        TooManyCustomerRules,
    ),
)
@service_key(Permission.SETUP_CUSTOMERS)
async def create_customer_rule_by_key(call: Call, customer_id: UUID, body: CustomerRuleCreation) -> CustomerRuleRecord:
    """Make a rule by which a group of a customer gives roles of the service."""
    return await _create(call, CustomerPath(customer_id=customer_id), body)


@routes.get(
    "/api/organizations/:org_slug/services/:service_slug/customers/:customer_id/group-rules/:rule_id",
    refuses=(ServiceUnknown, CustomerUnknown, BeyondVendorSetup, CustomerClosed, CustomerRuleUnknown),
)
@on_service(Operation.CUSTOMER_SETUP_READ)
async def show_customer_rule(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, rule_id: UUID
) -> CustomerRuleRecord:
    """Show a group rule of a customer."""
    return await _show(
        call, CustomerPath(customer_id=customer_id, org_slug=org_slug, service_slug=service_slug), rule_id
    )


@routes.get(
    "/api/service/customers/:customer_id/group-rules/:rule_id",
    refuses=(CustomerUnknown, BeyondVendorSetup, CustomerClosed, MakerOfKeyGone, CustomerRuleUnknown),
)
@service_key(Permission.SETUP_CUSTOMERS)
async def show_customer_rule_by_key(call: Call, customer_id: UUID, rule_id: UUID) -> CustomerRuleRecord:
    """Show a group rule of a customer."""
    return await _show(call, CustomerPath(customer_id=customer_id), rule_id)


@routes.patch(
    "/api/organizations/:org_slug/services/:service_slug/customers/:customer_id/group-rules/:rule_id",
    refuses=(ServiceUnknown, CustomerUnknown, BeyondVendorSetup, CustomerClosed, CustomerRuleUnknown),
)
@on_service(Operation.CUSTOMER_SETUP)
async def change_customer_rule(
    call: Call, org_slug: str, service_slug: str, customer_id: UUID, rule_id: UUID, body: CustomerRuleChange
) -> CustomerRuleRecord:
    """Change which roles a group of a customer gives."""
    return await _change(
        call, CustomerPath(customer_id=customer_id, org_slug=org_slug, service_slug=service_slug), rule_id, body
    )


@routes.patch(
    "/api/service/customers/:customer_id/group-rules/:rule_id",
    refuses=(CustomerUnknown, BeyondVendorSetup, CustomerClosed, MakerOfKeyGone, CustomerRuleUnknown),
)
@service_key(Permission.SETUP_CUSTOMERS)
async def change_customer_rule_by_key(
    call: Call, customer_id: UUID, rule_id: UUID, body: CustomerRuleChange
) -> CustomerRuleRecord:
    """Change which roles a group of a customer gives."""
    return await _change(call, CustomerPath(customer_id=customer_id), rule_id, body)


@routes.delete(
    "/api/organizations/:org_slug/services/:service_slug/customers/:customer_id/group-rules/:rule_id",
    status=204,
    refuses=(ServiceUnknown, CustomerUnknown, BeyondVendorSetup, CustomerClosed, CustomerRuleUnknown),
)
@on_service(Operation.CUSTOMER_SETUP)
async def delete_customer_rule(call: Call, org_slug: str, service_slug: str, customer_id: UUID, rule_id: UUID) -> None:
    """Delete a group rule of a customer, which gives its roles no longer."""
    await _delete(call, CustomerPath(customer_id=customer_id, org_slug=org_slug, service_slug=service_slug), rule_id)


@routes.delete(
    "/api/service/customers/:customer_id/group-rules/:rule_id",
    status=204,
    refuses=(CustomerUnknown, BeyondVendorSetup, CustomerClosed, MakerOfKeyGone, CustomerRuleUnknown),
)
@service_key(Permission.SETUP_CUSTOMERS)
async def delete_customer_rule_by_key(call: Call, customer_id: UUID, rule_id: UUID) -> None:
    """Delete a group rule of a customer, which gives its roles no longer."""
    await _delete(call, CustomerPath(customer_id=customer_id), rule_id)


async def _list(call: Call, path: CustomerPath) -> CustomerRuleList:
    found = await call.read(setup_callers.read, path, Part.GROUPS, group_rules.list_all)
    return CustomerRuleList(group_rules=[CustomerRuleRecord.shown(one) for one in found], total=len(found))


async def _show(call: Call, path: CustomerPath, rule_id: UUID) -> CustomerRuleRecord:
    return CustomerRuleRecord.shown(await call.read(setup_callers.read, path, Part.GROUPS, group_rules.show, rule_id))


async def _create(call: Call, path: CustomerPath, body: CustomerRuleCreation) -> CustomerRuleRecord:
    made = await call.transact(
        setup_callers.change,
        path,
        Part.GROUPS,
        group_rules.create,
        source=body.source,
        group=body.group,
        service_roles=body.service_roles,
    )
    return CustomerRuleRecord.shown(made)


async def _change(call: Call, path: CustomerPath, rule_id: UUID, body: CustomerRuleChange) -> CustomerRuleRecord:
    changed = await call.transact(
        setup_callers.change, path, Part.GROUPS, group_rules.change, rule_id, service_roles=body.service_roles
    )
    return CustomerRuleRecord.shown(changed)


async def _delete(call: Call, path: CustomerPath, rule_id: UUID) -> None:
    await call.transact(setup_callers.change, path, Part.GROUPS, group_rules.delete, rule_id)
