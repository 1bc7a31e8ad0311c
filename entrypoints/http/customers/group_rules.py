"""Rules by which the groups of a customer give roles of the vendor's service."""

from typing import Annotated
from uuid import UUID

import msgspec

from core.customers import group_rules, setup_callers
from core.customers.group_rules import (
    CustomerGroupRule,
    CustomerRuleTwice,
    CustomerRuleUnknown,
    TooManyCustomerRules,
)
from core.customers.setup_callers import CustomerPath, SetupAttempt
from core.organizations.access import Operation
from core.organizations.group_roles import SCIM
from core.organizations.link_callers import Part
from entrypoints.http.customers.setup_callers import for_vendor
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


@for_vendor(routes.get, "/group-rules", Operation.CUSTOMER_SETUP_READ)
async def list_customer_rules(call: Call, customer: CustomerPath) -> CustomerRuleList:
    """List the group rules of a customer, the oldest first."""
    found = await call.read(setup_callers.read, customer, Part.GROUPS, group_rules.list_all)
    return CustomerRuleList(group_rules=[CustomerRuleRecord.shown(one) for one in found], total=len(found))


@for_vendor(routes.post, "/group-rules", Operation.CUSTOMER_SETUP, refuses=(CustomerRuleTwice, TooManyCustomerRules))
async def create_customer_rule(call: Call, customer: CustomerPath, body: CustomerRuleCreation) -> CustomerRuleRecord:
    """Make a rule by which a group of a customer gives roles of the service."""
    made = await call.transact(
        setup_callers.change,
        customer,
        Part.GROUPS,
        group_rules.create,
        source=body.source,
        group=body.group,
        service_roles=body.service_roles,
    )
    return CustomerRuleRecord.shown(made)


@for_vendor(routes.get, "/group-rules/:rule_id", Operation.CUSTOMER_SETUP_READ, refuses=(CustomerRuleUnknown,))
async def show_customer_rule(call: Call, customer: CustomerPath, rule_id: UUID) -> CustomerRuleRecord:
    """Show a group rule of a customer."""
    found = await call.read(setup_callers.read, customer, Part.GROUPS, group_rules.show, rule_id)
    return CustomerRuleRecord.shown(found)


@for_vendor(routes.patch, "/group-rules/:rule_id", Operation.CUSTOMER_SETUP, refuses=(CustomerRuleUnknown,))
async def change_customer_rule(
    call: Call, customer: CustomerPath, rule_id: UUID, body: CustomerRuleChange
) -> CustomerRuleRecord:
    """Change which roles a group of a customer gives."""
    changed = await call.transact(
        setup_callers.change, customer, Part.GROUPS, group_rules.change, rule_id, service_roles=body.service_roles
    )
    return CustomerRuleRecord.shown(changed)


@for_vendor(
    routes.delete, "/group-rules/:rule_id", Operation.CUSTOMER_SETUP, status=204, refuses=(CustomerRuleUnknown,)
)
async def delete_customer_rule(call: Call, customer: CustomerPath, rule_id: UUID) -> None:
    """Delete a group rule of a customer, which gives its roles no longer."""
    await call.transact(setup_callers.change, customer, Part.GROUPS, group_rules.delete, rule_id)
