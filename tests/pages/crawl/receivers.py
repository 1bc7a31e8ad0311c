"""The directory of the full organization, and what receives from it: webhooks, a log, mail servers and a domain."""

from __future__ import annotations

from uuid import UUID

from core.events.events import EventType
from core.organizations.domain_proofs import ProofStatus
from core.webhooks.deliveries import RECEIVER_GONE
from tests.pages.crawl.organizations import Organization, insert_organization, join
from tests.pages.crawl.people import Person
from tests.pages.crawl.rows import Rows, Sealed
from tests.pages.crawl.values import EMAIL, HOST, NAME, RIGHT_TO_LEFT, UNBROKEN, URL

# What entries and events tell.
SENT = {"name": NAME, UNBROKEN: UNBROKEN, "<b>": ["<b>", 1, None, {"email": EMAIL}]}


def insert_directory(organization: Organization, states: dict[str, UUID]) -> None:
    """Insert the directory: tokens, profiles, groups, the rules of these, and calls that were taken and refused."""
    rows = organization.rows
    for groups in ("organization", "directory"):
        token_id = rows.add(
            "scim_tokens", name=NAME, groups=groups, prefix="scim_live_67CA25", last_used_at=rows.clock()
        )
        for status in (200, 409):
            rows.add(
                "scim_log_entries",
                token_id=token_id,
                token_name=NAME,
                method="PATCH",
                path=f"/scim/v2/Users?filter=<b>{UNBROKEN}",
                user_name=EMAIL,
                status=status,
                scim_type=None if status == 200 else "uniqueness",
                detail=None if status == 200 else NAME,
            )
    authority_id = rows.add("directory_authorities", maker_role="owner")
    group_ids = [rows.add("directory_groups", display_name=name, members=len(states)) for name in (NAME, RIGHT_TO_LEFT)]
    rows.add("directory_groups", display_name=UNBROKEN)
    for number, user_id in enumerate(states.values()):
        rows.add(
            "scim_profiles",
            user_id=user_id,
            user_name=f"<b>{EMAIL}{number}",
            external_id=f"<b>{UNBROKEN}{number}",
            formatted_name=NAME,
            display_name=RIGHT_TO_LEFT,
        )
        rows.add("directory_group_members", group_id=group_ids[0], user_id=user_id, authority_id=authority_id)
    rows.add("group_rules", place=1, group_id=group_ids[0], connection_id=None, asserted_group=None, role="admin")
    [[connection_id]] = rows.connection.execute(
        b"SELECT id FROM upstream_connections WHERE organization_id = %s LIMIT 1", (organization.id,)
    ).fetchall()
    rows.add("group_rules", place=2, group_id=None, connection_id=connection_id, asserted_group=NAME, role="member")


def insert_event(rows: Rows, kind: EventType, position: int) -> UUID:
    """Insert an event, and return its id."""
    return rows.add("events", type=kind.value, data=SENT, actor_email=EMAIL, position=position)


def insert_receivers(organization: Organization) -> None:
    """Insert webhooks that are on, off and given up, deliveries in each state, a receiver of the log, and mail."""
    rows = organization.rows
    event_ids = [insert_event(rows, kind, number + 1) for number, kind in enumerate(list(EventType)[:6])]
    for name, off_reason, is_on in (
        (NAME, None, True),
        (UNBROKEN, None, False),
        (RIGHT_TO_LEFT, RECEIVER_GONE, False),
    ):
        webhook_id = rows.add(
            "webhooks",
            secret_sealed=Sealed(f"whsec_{'M' * 44}"),
            name=name,
            url=f"{URL}&{'x' * 200}",
            events=[kind.value for kind in EventType],
            is_active=is_on,
            off_reason=off_reason,
            off_at=rows.clock() if off_reason else None,
            previous_secret_sealed=Sealed() if is_on else None,
            previous_secret_until=rows.ago(hours=-3) if is_on else None,
        )
        rows.add("webhook_queues", webhook_id=webhook_id, lost_at=rows.clock() if is_on else None)
        for number, event_id in enumerate(event_ids):
            delivered, waits = number % 3 == 0, number % 3 == 1
            delivery_id = rows.add(
                "webhook_deliveries",
                webhook_id=webhook_id,
                event_id=event_id,
                event_type=list(EventType)[number].value,
                delivered=delivered,
                next_retry_at=rows.ago(hours=-1) if waits else None,
                attempt_count=number,
                response_status_code=204 if delivered else 500,
                response_body=NAME,
                delivery_error=None if delivered else NAME,
            )
            for code, error in ((None, NAME), (500, f"<b>{UNBROKEN}"), (204, None)):
                rows.add(
                    "webhook_attempts",
                    webhook_id=webhook_id,
                    delivery_id=delivery_id,
                    duration_ms=15_020,
                    request_headers={"webhook-signature": f"v1,<b>{UNBROKEN}"},
                    status_code=code,
                    response_body=NAME * 20,
                    error=error,
                )
    rows.add(
        "siem_streams",
        provider="splunk",
        endpoint=URL,
        token_sealed=Sealed(),
        options={"index": NAME, "start": "now"},
        include=["audit", "sign_ins"],
        event_filter=["user."],
        enabled=True,
        position=0,
        failures=3,
        last_error=NAME,
        attempted_at=rows.clock(),
    )
    rows.add(
        "mail_servers",
        host=HOST,
        port=587,
        tls="none",
        username=None,
        from_name=NAME,
        from_email=EMAIL,
        failures=3,
        failing_since=rows.ago(days=1),
        last_error=NAME,
        last_tested_at=rows.clock(),
        last_test_accepted=False,
        last_test_answer=NAME,
    )
    rows.add(
        "custom_domains",
        domain=f"id.{HOST}",
        value=f"gatehouse-verification={UNBROKEN}",
        status=ProofStatus.FAILING,
        verified_at=rows.ago(days=9),
        failing_since=rows.ago(days=1),
        checked_at=rows.clock(),
    )
    brand = {
        "primary_color": "#14544a",
        "background_color": "#fdf6e3",
        "support_email": EMAIL,
        "terms_url": URL,
        "privacy_url": URL,
    }
    rows.add("brandings", **brand)
    for number in (1, 2):
        rows.add("branding_versions", number=number, **brand)


def insert_healthy_organization(rows: Rows, owner: Person) -> None:
    """Insert an organization whose one seat is used, and whose receivers and mail server work, apart from one delay."""
    organization_id = insert_organization(rows, "healthy", name=RIGHT_TO_LEFT, max_users=1)
    theirs = rows.of(organization_id=organization_id, made_by=owner.id)
    join(theirs, owner.id, "owner")
    theirs.add(
        "siem_streams",
        provider="http",
        endpoint=URL,
        options={"start": "beginning"},
        enabled=True,
        position=0,
        last_success_at=rows.clock(),
        attempted_at=rows.clock(),
    )
    theirs.add(
        "mail_servers",
        host=HOST,
        port=587,
        tls="starttls",
        from_name=NAME,
        from_email=EMAIL,
        last_success_at=rows.clock(),
        last_tested_at=rows.clock(),
        last_test_accepted=True,
        last_test_answer="250 OK",
    )
    webhook_id = theirs.add("webhooks", name=NAME, url=URL, events=["user.joined"], is_active=True)
    theirs.add("webhook_queues", webhook_id=webhook_id, due_at=rows.ago(hours=-1))
    theirs.add(
        "webhook_deliveries",
        webhook_id=webhook_id,
        event_id=theirs.add("events", type="user.joined", data=SENT, position=1),
        event_type="user.joined",
        next_retry_at=rows.ago(hours=-1),
        attempt_count=3,
        response_status_code=500,
        delivery_error=NAME,
    )
