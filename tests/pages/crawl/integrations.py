"""What the full organization has connected: sign-ins by others, its directory, receivers, customers, and its logs."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from core.audit import chain
from core.events.actions import AuditAction
from core.events.events import EventType
from core.events.platform_actions import PlatformAction
from core.organizations.domain_proofs import ProofStatus
from core.services.sales import ChangeKind
from core.sign_in.reasons import SignInReason
from core.sign_in.upstream.connection_wishes import ConnectionType
from core.sign_in.upstream.provider_problems import ProviderProblem
from core.sign_in.upstream.trials import TrialGroups
from core.webhooks.deliveries import RECEIVER_GONE
from tests.pages.crawl.organizations import FULL, Organization, insert_organization, join
from tests.pages.crawl.people import METHODS, Person
from tests.pages.crawl.rows import Rows, Sealed
from tests.pages.crawl.values import EMAIL, HOST, NAME, RIGHT_TO_LEFT, UNBROKEN, URL
from tests.service_provider import key_pair
from tests.world.builder import Service
from tests.world.world import World

_SENT = {"name": NAME, UNBROKEN: UNBROKEN, "<b>": ["<b>", 1, None, {"email": EMAIL}]}


def insert_connections(organization: Organization, person: Person) -> list[UUID]:
    """Insert a connection of each type, enabled and not, one for each problem, and mail domains in each state."""
    rows = organization.rows
    ids = [
        _insert_connection(rows, is_saml=kind is ConnectionType.SAML, is_on=is_on)
        for kind in ConnectionType
        for is_on in (True, False)
    ]
    rows.add(
        "connection_keys",
        connection_id=ids[-2],
        public_key=key_pair("the crawl").certificate_pem,
        valid_until=rows.ago(days=-9),
        is_active=True,
        warned_at=rows.clock(),
    )
    for number, problem in enumerate(ProviderProblem):
        rows.add(
            "upstream_failures",
            connection_id=ids[number % len(ids)],
            problem=problem,
            occurrences=1_000_000,
            last_request_id="a" * 64,
        )
    for number, status in enumerate(ProofStatus):
        proved = {"verified_at": None if status is ProofStatus.PENDING else rows.clock()}
        failing = {"failing_since": rows.ago(days=1) if status is ProofStatus.FAILING else None}
        rows.add(
            "domain_routes",
            connection_id=ids[0],
            domain=f"{status}.{HOST}",
            enforced=number == 1,
            value=f"gatehouse-verification={UNBROKEN}",
            status=status,
            checked_at=rows.clock(),
            **proved,
            **failing,
        )
    rows.of(user_id=person.id).add(
        "identities", provider="upstream", subject=NAME, connection_id=ids[0], email=EMAIL, groups=[NAME]
    )
    addresses = (EMAIL, f"new@pending.{HOST}", f"new@verified.{HOST}", None)
    for groups, address, connection_id in zip((*TrialGroups, None), addresses, ids, strict=True):
        succeeded = groups is not None
        rows.add(
            "trial_sign_ins",
            connection_id=connection_id,
            user_id=person.id,
            session_id=person.session_id,
            concluded_at=rows.clock(),
            expires_at=rows.ago(hours=-1),
            problem=None if succeeded else ProviderProblem.WRONG_SECRET,
            reason="" if succeeded else NAME,
            subject=NAME if address == EMAIL else address,
            email=address,
            claims=[[f"<b>{UNBROKEN}", NAME]] if succeeded else [],
            groups=groups,
        )
    rows.add("oauth_credentials", provider="codehost", client_id=f"<b>{UNBROKEN}", client_secret_sealed=Sealed())
    return ids


def _insert_connection(rows: Rows, *, is_saml: bool, is_on: bool) -> UUID:
    return rows.add(
        "upstream_connections",
        type="saml" if is_saml else "oidc",
        name=NAME if is_on else UNBROKEN,
        issuer=f"{URL}&{is_saml}",
        client_id=None if is_saml else f"client<b>{UNBROKEN}",
        client_secret_sealed=None if is_saml else Sealed(),
        scopes=[] if is_saml else ["openid", "email", UNBROKEN],
        metadata_url=URL if is_saml else None,
        metadata_valid_until=rows.ago(days=-3) if is_saml else None,
        attribute_mapping={"email": f"<b>{UNBROKEN}"},
        joins_as="member",
        enabled=is_on,
        off_reason=None if is_on else NAME,
        signs_requests=is_saml,
        checked_at=rows.clock(),
        check_problem=ProviderProblem.CERTIFICATE,
        token_issuer=URL if is_on and not is_saml else None,
    )


def insert_saml(organization: Organization) -> None:
    """Insert what the service needs for SAML, with an error of its last request."""
    rows = organization.rows.of(service_id=organization.service_id)
    rows.add(
        "saml_configurations",
        enabled=True,
        entity_id=URL,
        acs_url=URL,
        slo_url=URL,
        slo_binding="redirect",
        sign_assertions=True,
        members_only=True,
        last_request_at=rows.clock(),
        last_error=NAME,
        last_error_at=rows.clock(),
    )
    organization.rows.add(
        "saml_configurations", service_id=organization.offered_id, slo_url=URL, slo_binding="post", enabled=False
    )
    rows.add(
        "saml_certificates",
        public_key=key_pair("the crawl").certificate_pem,
        valid_until=rows.ago(days=-20),
        is_active=True,
    )


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


def insert_receivers(organization: Organization) -> None:
    """Insert webhooks that are on, off and given up, deliveries in each state, a receiver of the log, and mail."""
    rows = organization.rows
    event_ids = [
        rows.add("events", type=kind.value, data=_SENT, actor_email=EMAIL, position=number + 1)
        for number, kind in enumerate(list(EventType)[:6])
    ]
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
        event_id=theirs.add("events", type="user.joined", data=_SENT, position=1),
        event_type="user.joined",
        next_retry_at=rows.ago(hours=-1),
        attempt_count=3,
        response_status_code=500,
        delivery_error=NAME,
    )


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
    return customer_id


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
    """Write an entry of each action into both logs, by a person, by a key and by nobody who is known, and seal them."""
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
            details={**_SENT, "role": "admin", "changed": ["name"], "email": EMAIL},
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
            details={**_SENT, "reason": NAME},
            request_id="b" * 64,
        )
    while await world.installation.database.transact(chain.seal_next, 1_000):
        pass
