"""What was sold, who signed in, and what the logs say about the full organization; and its customers."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from core.audit import chain
from core.events.actions import AuditAction, PlatformAction
from core.services.sales import ChangeKind
from core.sign_in.reasons import SignInReason
from tests.pages.crawl.made_customers import internal_rows
from tests.pages.crawl.organizations import FULL, Organization, insert_organization, join
from tests.pages.crawl.people import METHODS, Person
from tests.pages.crawl.receivers import SENT
from tests.pages.crawl.rows import Rows
from tests.pages.crawl.values import EMAIL, HOST, NAME, RIGHT_TO_LEFT, UNBROKEN, URL
from tests.world.builder import Service
from tests.world.world import World


def insert_customers(world: World, vendor: Organization, customer: Organization, people: list[UUID]) -> UUID:
    """Insert customers of a service in each state, and make the vendor itself one of another; return that one's id."""
    service = Service(vendor.service_id, vendor.service_id)
    ours = vendor.rows.of(vendor_id=vendor.id, service_id=vendor.service_id)
    for number, paused_by in enumerate(((), ("vendor",), ("customer",), ("vendor", "customer"))):
        organization_id = insert_organization(vendor.rows, f"customer-{number}", name=(NAME, RIGHT_TO_LEFT)[number % 2])
        theirs = vendor.rows.of(organization_id=organization_id)
        for user_id in people:
            join(theirs, user_id)
        customer_id = world.customer(
            service, organization_id, external_id=f"<b>{number}{UNBROKEN}", shares_directory=True, paused_by=paused_by
        )
        for user_id in people[: 3 if number == 0 else 1]:
            theirs.add("customer_users", customer_id=customer_id, user_id=user_id)
    ours.add(
        "service_customers",
        organization_id=None,
        offered_slug="c" * 63,
        offer_expires_at=vendor.rows.ago(days=-3),
        external_id=f"<b>{UNBROKEN}",
    )
    other = Service(customer.service_id, customer.service_id)
    groups = [one for [one] in world.rows("SELECT id FROM directory_groups WHERE organization_id = %s", vendor.id)]
    customer_id = world.customer(
        other, vendor.id, access="assigned", shares_directory=True, groups=groups[:2], external_id=f"<b>{UNBROKEN}"
    )
    for subject in ("everyone", "role:admin", f"group:{groups[0]}", f"user:{people[0]}"):
        world.assign(customer_id, subject, "reader", "editor")
    for user_id in people[:2]:
        vendor.rows.add("customer_users", customer_id=customer_id, user_id=user_id)
    customer.rows.add(
        "service_customers",
        vendor_id=customer.id,
        service_id=customer.offered_id,
        organization_id=None,
        offered_slug=FULL,
        offered_to=vendor.id,
        offer_expires_at=vendor.rows.ago(days=-3),
    )
    _insert_made_things(vendor.rows, customer_id, people[0])
    return customer_id


def _insert_made_things(rows: Rows, customer_id: UUID, maker_id: UUID) -> None:
    """Insert what a vendor has made for a customer, one of each kind."""
    theirs = internal_rows(rows, customer_id, maker_id)
    connection_id = theirs.add(
        "upstream_connections",
        type="saml",
        name=NAME,
        issuer=URL,
        metadata_url=URL,
        scopes=[],
        attribute_mapping={},
        made_through="setup_link",
    )
    theirs.add(
        "domain_routes",
        connection_id=connection_id,
        domain=f"made.{HOST}",
        enforced=False,
        value=UNBROKEN,
        status="pending",
        made_through="program",
    )
    theirs.add("scim_tokens", name=RIGHT_TO_LEFT, token_hash=b"made", groups="directory", made_through="member")
    theirs.add(
        "customer_group_rules", connection_id=connection_id, asserted_group=f"<b>{UNBROKEN}", role_ids=[], group_id=None
    )
    theirs.add("setup_links", parts=["scim", "groups"], secret_hash=b"made", expires_at=rows.ago(days=-3))


def insert_sales(organization: Organization) -> None:
    """Insert what was sold and how that changed."""
    rows = organization.rows.of(service_id=organization.service_id, plan_id=organization.plan_id)
    for number, kind in enumerate(ChangeKind):
        rows.add(
            "subscription_changes",
            kind=kind,
            live=1,
            late=0,
            cents=123_456_789,
            currency="eur",
            at=rows.ago(days=number),
        )
    rows.connection.execute(
        b"""
        INSERT INTO subscription_totals (organization_id, currency, live, late, cents)
        VALUES (%s, 'eur', 9, 2, 12345678900) ON CONFLICT (organization_id, currency) DO UPDATE SET live = 9, late = 2
        """,
        (organization.id,),
    )


def insert_sign_in_counts(organization: Organization) -> None:
    """Insert the counts of the plots."""
    rows = organization.rows.of(service_id=organization.service_id)
    for days in range(1, 29, 3):
        day = rows.ago(days=days).date()
        for number, reason in enumerate(("", *SignInReason)):
            method = METHODS[number % len(METHODS)]
            rows.add("sign_in_counts", day=day, reason=reason, provider=method, sign_ins=1_000 * (number + 1))
            rows.add("platform_sign_in_counts", day=day, reason=reason, provider=method, sign_ins=1_000 * (number + 1))


async def write_logs(world: World, organization: Organization, person: Person, platform_owner: Person) -> None:
    """Write an entry of each action into both logs, by a person, by a key and by an unknown actor, and seal them."""
    rows = organization.rows
    for number, action in enumerate(AuditAction):
        rows.clock.advance(timedelta(seconds=1))
        rows.add(
            "audit_entries",
            actor_user_id=(person.id, None)[number % 2],
            action=action.value,
            target_type=action.target_type,
            target_id=str((person.id, organization.service_id)[number % 2]),
            ip_address="2001:db8::ffff",
            user_agent=NAME,
            success=True,
            details={**SENT, "role": "admin", "changed": ["name"], "email": EMAIL},
            request_id="a" * 64,
        )
    for number, action in enumerate(PlatformAction):
        rows.add(
            "platform_audit_entries",
            actor_user_id=(platform_owner.id, None)[number % 2],
            action=action.value,
            target_type=action.target_type,
            target_id=str(organization.id),
            ip_address="2001:db8::ffff",
            user_agent=NAME,
            success=True,
            details={**SENT, "reason": NAME},
            request_id="b" * 64,
        )
    while await world.installation.database.transact(chain.seal_next, 1_000):
        pass
