"""The pages for what `ops/seeding/console.py` adds to the largest organization, and plots of the platform."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import quote
from uuid import UUID

from core.ids import FIRST_ID
from ops.benchmarks.questions import LARGEST, PLATFORM_OWNER, Question, owner_of
from ops.seeding import console
from ops.seeding.population import Plan, address, dashed, slug

NO_SERVICE: Final = FIRST_ID


def console_questions(plan: Plan) -> list[Question]:
    """List all pages."""
    return [*_of_the_largest(plan), *_of_the_platform(plan), *_of_an_account(plan)]


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
        **_billing(plan),
        **_single(plan),
    }
    return _questions("console: page ", owner_of(plan, LARGEST), f"/app/organizations/{slug(LARGEST)}", rows)


def _billing(plan: Plan) -> dict[str, Sequence[str]]:
    person = plan.end_user(LARGEST, 0)[0]
    today = datetime.now(UTC).date()
    days = f"since={today - timedelta(days=30)}&until={today - timedelta(days=1)}"
    sold, changes, free, priced = "/billing/sold", "/billing/sold-changes", _id("plan of none"), _id("more plan1")
    return {
        "billing": ("/billing",),
        "billing, 90 days": ("/billing?days=90",),
        "billing, 365 days": ("/billing?days=365",),
        "sold": (sold,),
        "sold, in force": (f"{sold}?status=live",),
        "sold, overdue": (f"{sold}?status=past_due", f"{sold}?status=expired"),
        "sold, a service": (f"{sold}?service=service-1", f"{sold}?service=more-7&status=live"),
        "sold, a plan": (f"{sold}?plan={priced}&status=live", f"{sold}?plan={_id('more plan2')}"),
        "sold, a plan of none": (f"{sold}?plan={free}",),
        "sold, a rare part": (f"{sold}?search={quote(address(person))}",),
        "sold, a part of all": (f"{sold}?search=person-", f"{sold}?search=person-&status=expired"),
        "sold, a part of none": (f"{sold}?search=zzz",),
        "a sold subscription": (f"{sold}/{console.SUBSCRIPTION_ID}",),
        "cancellation of a subscription": (f"{sold}/{console.SUBSCRIPTION_ID}/cancel",),
        "changes of what is sold": (changes,),
        "changes, a kind": (f"{changes}?kind=ended", f"{changes}?kind=priced"),
        "changes, a time": (f"{changes}?{days}", f"{changes}?kind=begun&{days}"),
        "changes, a service": (f"{changes}?service={_id('service7')}", f"{changes}?service={free}"),
        "changes, a plan": (f"{changes}?plan={_id('more plan2')}", f"{changes}?plan={priced}&kind=late"),
    }


def _single(plan: Plan) -> dict[str, Sequence[str]]:
    """Pages of one thing each, and pages that ask before an action."""
    service, webhook = "/services/service-1", f"/webhooks/{console.WEBHOOK_ID}"
    connection, domain = f"/sign-in/connections/{console.CONNECTION_ID}", f"/sign-in/mail-domains/{_id('domain1')}"
    member, person = (dashed(plan.user_id(user)) for user in (plan.member(LARGEST, 1), plan.end_user(LARGEST, 0)[0]))
    priced = f"{service}/plans/{_id('more plan1')}"
    return {
        "an end user": (f"/people/end-users/{person}",),
        "a plan": (priced,),
        "a mail domain": (domain,),
        "a delivery": (f"{webhook}/deliveries/{console.DELIVERY_ID}",),
        "OAuth credentials": ("/sign-in/oauth-credentials/codehost",),
        "grants of a person": (f"{service}/grants/{member}",),
        "ownership": ("/settings/ownership",),
        "something new": ("/services/new", f"{service}/api-keys/new", f"{service}/plans/new"),
        "removal of a member": (f"/people/{member}/remove",),
        "removal of an end user": (f"/people/end-users/{person}/end",),
        "removal of personal data": (f"/people/personal-data/{member}/remove",),
        "removal of the organization": ("/settings/delete", "/settings/leave"),
        "removal of a role": (f"/roles/{console.ROLE}/delete",),
        "removal of a plan": (f"{priced}/delete",),
        "removal of a key": (f"/keys/{_id('organization key1')}/delete", f"{service}/api-keys/{console.KEY_ID}/revoke"),
        "removal of a connection": (f"{connection}/delete", f"{connection}/enabling"),
        "removal of a mail domain": (f"{domain}/remove",),
        "removal of a webhook": (f"{webhook}/delete", f"{webhook}/change", f"{webhook}/secret"),
        "removal of the SIEM stream": ("/siem/delete", "/siem/restart"),
        "removal of a token": (f"/provisioning/{_id('token1')}/revoke", f"/setup-links/{_id('link1')}/revoke"),
    }


def _of_the_platform(plan: Plan) -> list[Question]:
    yesterday = datetime.now(UTC).date() - timedelta(days=1)
    user = f"/users/{dashed(plan.user_id(plan.users // 2))}"
    organization = f"/organizations/{dashed(plan.organization_id(LARGEST))}"
    rows = {
        "overview": ("", "?days=365"),
        "sign-ins": ("/sign-ins",),
        "sign-ins, refused": ("/sign-ins?outcome=refused",),
        "sign-ins, a day": (f"/sign-ins?day={yesterday}",),
        "sign-ins, a method": ("/sign-ins?method=saml",),
        "sign-ins, an address": ("/sign-ins?address=198.18.0.7", "/sign-ins?address=10.0.0.1"),
        "active users, a day": ("/active-users?days=1",),
        "active users, 30 days": ("/active-users?days=30",),
        "impersonation": (f"{user}/impersonation",),
        "jobs": ("/jobs",),
        "a job": (f"/jobs/{console.PLATFORM_JOB_ID}",),
        "revenue": ("/revenue",),
        "revenue, a currency": ("/revenue?currency=usd", "/revenue?currency=eur"),
        "revenue, further on": (f"/revenue?currency=usd&after=5000_{NO_SERVICE}",),
        "removal of an organization": (f"{organization}/deletion", f"{organization}/suspension"),
        "help for a user": (f"{user}/end-sessions", f"{user}/mfa"),
    }
    return _questions("platform: console ", PLATFORM_OWNER, "/app/platform", rows)


def _of_an_account(plan: Plan) -> list[Question]:
    """List the pages of one's own account, as the owner of the largest organization opens them."""
    pages = ("applications", "data", "devices", "identities", "organizations", "passkeys", "second-factor", "sessions")
    rows = {
        "overview": ("",),
        **{page: (f"/{page}",) for page in (*pages, "sign-ins", "subscriptions")},
        "changes": ("/email", "/name", "/password", "/closing"),
    }
    return _questions("account: page ", owner_of(plan, LARGEST), "/app/account", rows)


def _id(name: str) -> UUID:
    """Return the id of a row that PostgreSQL has made from its name."""
    return UUID(hashlib.md5(name.encode(), usedforsecurity=False).hexdigest())


def _questions(names: str, caller: str, root: str, rows: Mapping[str, Sequence[str]]) -> list[Question]:
    return [
        Question(name=names + name, caller=caller, paths=[root + path for path in paths], is_page=True)
        for name, paths in rows.items()
    ]
