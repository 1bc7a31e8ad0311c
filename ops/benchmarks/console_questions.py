"""The pages for what `ops/seeding/console.py` adds to the largest organization, and plots of the platform."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from core.ids import FIRST_ID
from ops.benchmarks.questions import LARGEST, PLATFORM_OWNER, Question, owner_of
from ops.seeding import console
from ops.seeding.population import dashed, slug

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ops.seeding.population import Plan

NO_SERVICE: Final = FIRST_ID


def console_questions(plan: Plan) -> list[Question]:
    """List all pages."""
    return [*_of_the_largest(plan), *_of_the_platform(plan)]


def _of_the_largest(plan: Plan) -> list[Question]:
    service, webhook = "/services/service-1", f"/webhooks/{console.WEBHOOK_ID}"
    failing, deliveries = f"/webhooks/{console.FAILING_WEBHOOK_ID}/deliveries", f"{webhook}/deliveries"
    today = datetime.now(UTC).date()
    yesterday, month = today - timedelta(days=1), today - timedelta(days=30)
    rows = {
        "services": ("/services",),
        "services, a part": ("/services?search=more-7", "/services?search=zzz"),
        "a service": (service,),
        "settings of a service": (f"{service}/options",),
        "API keys": (f"{service}/api-keys",),
        "an API key": (f"{service}/api-keys/{console.KEY_ID}",),
        "plans": (f"{service}/plans",),
        "SAML of a service": (f"{service}/single-sign-on",),
        "grants": (f"{service}/grants",),
        "trial of a service": (f"{service}/tryout",),
        "removal of a service": (f"{service}/deletion",),
        "sign-in rules and connections": ("/sign-in",),
        "a connection": (f"/sign-in/connections/{console.CONNECTION_ID}",),
        "a new connection": ("/sign-in/connections/new",),
        "mail domains": ("/sign-in/mail-domains",),
        "roles": ("/roles",),
        "a role": ("/roles/member", f"/roles/{console.ROLE}"),
        "keys": ("/keys",),
        "setup links": ("/setup-links",),
        "mail": ("/mail",),
        "domain": ("/domain",),
        "settings": ("/settings",),
        "branding": ("/branding",),
        "webhooks": ("/webhooks",),
        "a new webhook": ("/webhooks/new",),
        "a webhook": (webhook,),
        "a webhook that fails": (f"/webhooks/{console.FAILING_WEBHOOK_ID}",),
        "deliveries": (deliveries,),
        "deliveries, delivered": (f"{deliveries}?state=delivered",),
        "deliveries, waiting": (f"{deliveries}?state=waiting",),
        "deliveries, failed": (f"{deliveries}?state=failed",),
        "deliveries, an event": (f"{deliveries}?event=user.login.success",),
        "deliveries, a rare event": (f"{deliveries}?event={console.RARE_EVENT}",),
        "deliveries, an event, failed": (f"{deliveries}?event=session.revoked&state=failed",),
        "deliveries, a rare event, delivered": (f"{deliveries}?event={console.RARE_EVENT}&state=delivered",),
        "deliveries, a time": (f"{deliveries}?since={month}&until={yesterday}",),
        "deliveries, delivered where none is": (f"{failing}?state=delivered",),
        "deliveries, failed for good": (f"{failing}/failed?since={month}",),
        "SIEM": ("/siem",),
        "provisioning": ("/provisioning",),
        "provisioning log": ("/provisioning/calls",),
        "provisioning log, failed": ("/provisioning/calls?state=failed",),
        "provisioning log, a time": (f"/provisioning/calls?since={month}&until={yesterday}",),
        "analytics, 30 days": ("/analytics", "/analytics?days=7"),
        "analytics, 365 days": ("/analytics?days=365",),
        "sign-ins": ("/analytics/sign-ins",),
        "sign-ins, refused": ("/analytics/sign-ins?outcome=refused",),
        "sign-ins, a service": (f"/analytics/sign-ins?service={dashed(plan.service_id(LARGEST))}",),
        "sign-ins, a rare method": ("/analytics/sign-ins?method=saml&outcome=refused",),
        "sign-ins, an address": ("/analytics/sign-ins?address=198.18.0.7", "/analytics/sign-ins?address=10.0.0.1"),
        "sign-ins, a day": (f"/analytics/sign-ins?day={yesterday}",),
        "active users, a day": ("/analytics/active-users?days=1",),
        "active users, 30 days": ("/analytics/active-users?days=30",),
        "jobs": ("/jobs",),
        "a job": (f"/jobs/{console.JOB_ID}", f"/jobs/{console.JOB_ID}?state=refused"),
    }
    return _questions("console: page ", owner_of(plan, LARGEST), f"/app/organizations/{slug(LARGEST)}", rows)


def _of_the_platform(plan: Plan) -> list[Question]:
    yesterday = datetime.now(UTC).date() - timedelta(days=1)
    rows = {
        "overview": ("", "?days=365"),
        "sign-ins": ("/sign-ins",),
        "sign-ins, refused": ("/sign-ins?outcome=refused",),
        "sign-ins, a day": (f"/sign-ins?day={yesterday}",),
        "sign-ins, a method": ("/sign-ins?method=saml",),
        "sign-ins, an address": ("/sign-ins?address=198.18.0.7", "/sign-ins?address=10.0.0.1"),
        "active users, a day": ("/active-users?days=1",),
        "active users, 30 days": ("/active-users?days=30",),
        "impersonation": (f"/users/{dashed(plan.user_id(plan.users // 2))}/impersonation",),
        "jobs": ("/jobs",),
        "a job": (f"/jobs/{console.PLATFORM_JOB_ID}",),
    }
    return _questions("platform: console ", PLATFORM_OWNER, "/app/platform", rows)


def _questions(names: str, caller: str, root: str, rows: Mapping[str, Sequence[str]]) -> list[Question]:
    return [
        Question(name=names + name, caller=caller, paths=[root + path for path in paths], is_page=True)
        for name, paths in rows.items()
    ]
