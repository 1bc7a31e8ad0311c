"""What use cases read elsewhere: lists, logs, figures, feeds and files, and nothing that decides anything."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Final

CORE: Final = Path(__file__).resolve().parents[2] / "core"
# The aggregates that are read elsewhere, and their methods. Before adding one, look at what it is read for: a use
# case decides by rows of the primary only.
READ_ELSEWHERE: Final = {
    "analytics": "by_day by_provider by_service recent",
    "audit_chains": "end",
    "audit_log": "page",
    "audit_searches": (
        "entry find has_request impersonators invitation_to names newest_of_platform sealed_after"
        " target_type_of user_of written_after"
    ),
    "browsed_outbox": "count count_undelivered page",
    "bulk_jobs": "count page",
    "customer_people": "page",
    "customer_setup_progress": "made troubles",
    "directory_groups": "count_found found page people",
    "end_users": "page",
    "event_feed": "last_read page",
    "figures": "platform",
    "found_customers": "count counts figures named page",
    "found_end_users": "count newest page",
    "found_products": "defer_count figures page",
    "found_services": "count page",
    "found_users": "count page with_id",
    "invitations": "page",
    "found_invitations": "count page",
    # The addresses of the people in an event.
    "known_addresses": "of_each",
    "members": "page",
    "organization_records": "count waiting",
    "found_members": "count page",
    "person_records": "entries services sessions",
    "plans": "count_found page",
    "platform_audit_log": "page",
    "platform_mails": "page",
    "platform_mfa": "alerts counts",
    "platform_organizations": "page",
    "platform_overviews": (
        "failing_streams failing_webhooks gone_webhooks new_users organizations_by_status owners_without_second_factor "
        "setup"
    ),
    # Everything that an export of personal data reads, and a search of the console for the name of a thing.
    "platform_searches": "",
    "privacy_export": "",
    "product_sign_ins": "newest of_person",
    "products": "page",
    "refused_sign_ins": "newest",
    "sales": "changes count_changes first_day names sellers sums totals",
    "scim_directory": "count page",
    "scim_log": "count failures found page",
    "sealed_entries": "page",
    "service_customers": "page",
    "service_figures": "read",
    "service_grants": "count_found found page",
    "service_subscriptions": "page",
    "services": "page",
    "sign_in_counts": "active_users by_day counted_through figures first_at",
    "sign_in_log": "active_in listed of_address of_person service_names",
    "sign_ins": "defer_count find following page",
    "found_subscriptions": "count page",
    "webhook_deliveries": "page",
    "webhook_delivery_log": "attempts count find page",
    "webhook_healths": "figures hours of_organization",
}


def test_what_is_read_elsewhere_is_listed_here() -> None:
    assert _read_elsewhere() == {name: set(methods.split()) for name, methods in READ_ELSEWHERE.items()}


def _read_elsewhere() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path in sorted(CORE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_bytes())):
            match node:
                case ast.Attribute(value=ast.Attribute(value=ast.Attribute(attr="elsewhere"), attr=name), attr=method):
                    found.setdefault(name, set()).add(method)
                case ast.Attribute(value=ast.Attribute(attr="elsewhere"), attr=name):
                    found.setdefault(name, set())
                case _:
                    pass
    return found
