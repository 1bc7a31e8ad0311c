"""More rules about customers that vendors make; what several places guard is undone at all of them (`undone.py`).

Undone at one of these places alone, no history finds it: another place refuses the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from adapters.postgres.sessions.customer_contexts import IS_OF_CUSTOMER
from tests.tenants.market_judging import BEYOND, OUTLIVED
from tests.tenants.taking import Story
from tests.tenants.undone import Undone
from tests.tenants.undone_making import of_any_service

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from core.services.services import Service
    from tests.tenants.undone import Layer


def _nothing(_original: Any) -> Any:
    return lambda *_args, **_options: None


def _zero(_original: Any) -> Any:
    return lambda *_args, **_options: 0


def _yes(_original: Any) -> Any:
    return lambda *_args, **_options: True


def _always(_original: Any) -> Any:
    return property(lambda _self: True)


def _instead(*changes: tuple[str, str]) -> Callable[[Any], Any]:
    """Return what puts other parts into a statement in place of its own."""

    def change(statement: str) -> str:
        for present, other in changes:
            assert present in statement, "the part is not in the statement any more"
            statement = statement.replace(present, other)
        return statement

    return change


def _for_any_service(original: Any) -> Any:
    """Return a method that restores a customer whichever service asks for it."""

    def restore(ended: Any, service: Service, customer_id: UUID) -> None:
        query = "SELECT vendor_id, service_id FROM service_customers WHERE id = %s"
        vendor_id, service_id = ended._connection.execute(query, (customer_id,)).fetchone()
        original(ended, replace(service, organization_id=vendor_id, id=service_id), customer_id)

    return restore


def _off_or_on(original: Any) -> Any:
    """Return a method that finds the organization of a connection whether that is on or not."""

    def of_connection(organizations: Any, connection_id: UUID, **_options: Any) -> Any:
        query = "SELECT organization_id FROM upstream_connections WHERE id = %s"
        row = organizations._connection.execute(query, (connection_id,)).fetchone()
        return organizations.by_id(row[0]) if row is not None else original(organizations, connection_id)

    return of_connection


def _or_by_vendor(_original: Any) -> Any:
    """Return a method by which what a vendor has proved is proved by every organization."""

    def is_own_domain(routes: Any, organization_id: UUID, domain: str) -> bool:
        query = """
            SELECT EXISTS (SELECT FROM domain_routes
                           WHERE  domain = %s AND verified_at IS NOT NULL
                             AND  (organization_id = %s OR made_for IS NOT NULL))
        """
        return routes._value(query, (domain, organization_id))

    return is_own_domain


def _layered(rule: str, layers: tuple[Layer, ...], *kinds: str) -> Undone:
    (module, name, instead), *others = layers
    return Undone(rule, module, name, instead, Story.MAKING, kinds, beside=others)


_CLAIMED: Final = ("claimed",)
_OF_SESSION: Final = ("adapters.postgres.sessions.callers", "OF_SESSION SUBJECT REFRESHABLE NEW_REFRESHABLE PARENT")
_REFRESHED: Final = ("adapters.postgres.sessions.sessions", "REFRESHABLE")
_NAMED: Final = ("adapters.postgres.accounts.names", "OF_SESSION_WITH_NAMES")
_SIGN_IN: Final = ("adapters.postgres.sign_in.places", "_PLACE")
_WITHDRAWN: Final = (
    "adapters.postgres.customers.customers",
    "_END_UNCLAIMED",
    _instead(("DELETE FROM customer_claims WHERE customer_id IN (SELECT id FROM ended)", "SELECT 1")),
)
_ANY_VENDOR: Final = _instead(("vo.status = 'active'", "true"))
_ANY_CUSTOMER: Final = _instead(("made_for = c.id", "made_for IS NOT NULL"))
# What a vendor has proved counts, and counts for the customer for which it has proved that.
_ALSO_OF_VENDOR: Final = (
    IS_OF_CUSTOMER,
    IS_OF_CUSTOMER.replace("AND made_for IS NULL", "").replace(
        "c.organization_id = route.organization_id",
        "(c.organization_id = route.organization_id OR c.id = route.made_for)",
    ),
)
LAYERS: Final = (
    _layered(
        "a suspended vendor closes the sessions for its customers",
        ((*_NAMED, _ANY_VENDOR),),
        OUTLIVED,
    ),
    _layered(
        "no session for a customer of a suspended vendor is refreshed",
        ((*_REFRESHED, _ANY_VENDOR), ("core.sessions.places.CallerPlace", "is_organization_active", _always)),
        OUTLIVED,
    ),
    _layered("the end of a customer withdraws the link to own it, also where it is restored", (_WITHDRAWN,), *_CLAIMED),
    _layered(
        "the link to own a customer that has ended claims nothing",
        (
            _WITHDRAWN,
            (
                "adapters.postgres.customers.claiming",
                "BY_LINK",
                _instead(
                    ("AND c.accepted_at IS NOT NULL", ""),
                    ("o.id = c.organization_id", "o.id = coalesce(c.organization_id, c.ended_organization_id)"),
                    ("AND o.status IN ('pending', 'active')", ""),
                ),
            ),
        ),
        *_CLAIMED,
    ),
    _layered(
        "an admission for one customer opens no other",
        ((*_SIGN_IN, _instead(("c.id = cm.made_for", "cm.made_for IS NOT NULL"))), (*_OF_SESSION, _ANY_CUSTOMER)),
        "admitted",
    ),
    _layered(
        "a setup link of a customer that is closed opens nothing",
        (
            (
                "adapters.postgres.organizations.setup_links",
                "_CUSTOMER_CALLER",
                _instead(("o.id = l.organization_id AND o.status = 'active'", "o.id = l.organization_id")),
            ),
            ("core.organizations.authorization", "_is_open_to_claimed", _yes),
        ),
        OUTLIVED,
    ),
    _layered(
        "a mail domain that a vendor has proved shuts no person out of its service",
        ((*_SIGN_IN, _instead(_ALSO_OF_VENDOR)),),
        "denied",
    ),
    _layered(
        "a service restores its own customers alone",
        (
            (
                "adapters.postgres.customers.made_customers",
                "_LOCK",
                _instead(
                    ("c.vendor_id = %(vendor_id)s", "%(vendor_id)s::uuid IS NOT NULL"),
                    ("c.service_id = %(service_id)s", "%(service_id)s::uuid IS NOT NULL"),
                ),
            ),
            ("adapters.postgres.customers.made_customers.PostgresEndedCustomers", "restore", _for_any_service),
            ("core.customers.customers", "find", of_any_service),
        ),
        "restored",
    ),
    _layered(
        "the sessions that a made connection has begun end when it is switched off",
        (("core.sign_in.upstream.connections.changes", "end_sessions", _zero),),
        OUTLIVED,
    ),
    _layered(
        "a made connection that is switched off leads to no provider",
        (("adapters.postgres.organizations.organizations.PostgresOrganizations", "of_connection", _off_or_on),),
        OUTLIVED,
    ),
    _layered(
        "a made connection that is switched off forgets the groups that it has named",
        (
            (
                "adapters.postgres.sign_in.upstream.connections.connections.PostgresUpstreamConnections",
                "forget_groups",
                _nothing,
            ),
        ),
        "roles",
    ),
    _layered(
        "an owner adopts a connection with a mail domain that is proved",
        (("core.customers.made_for_us", "_require_proved", _nothing),),
        BEYOND,
    ),
    _layered(
        "an owner adopts a connection with what the organization has proved itself",
        (
            (
                "adapters.postgres.sign_in.upstream.domains.domain_routes.PostgresDomainRoutes",
                "is_own_domain",
                _or_by_vendor,
            ),
        ),
        BEYOND,
    ),
    _layered(
        "an adopted connection is tested before it is on",
        (("core.sign_in.upstream.connections.connections", "_require_tested_if_adopted", _nothing),),
        "untested",
    ),
    _layered(
        "a rule for a group that its owner has taken gives no role",
        (("adapters.postgres.customers.group_rules.PostgresCustomerGroupRules", "remove", _nothing),),
        "roles",
    ),
)
