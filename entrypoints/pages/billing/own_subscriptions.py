"""The page of one's own subscriptions over all services, and the way to the payment provider."""

from typing import Final
from uuid import UUID

from core.billing import own_subscriptions
from core.billing.own_subscriptions import NothingToManage
from core.billing.provider import BillingFailed
from core.errors import Forbidden
from entrypoints.pages.console.account import ACCOUNT, account_page
from entrypoints.pages.frame.rendering import Page
from entrypoints.pages.frame.routes import account_pages
from entrypoints.web.serving.admission.browsers import recent
from entrypoints.web.serving.admission.credentials import in_browser, in_browser_in_person
from entrypoints.web.serving.calls import Call

routes = account_pages()

SUBSCRIPTIONS: Final = f"{ACCOUNT}/subscriptions"


@routes.get(SUBSCRIPTIONS)
@in_browser
async def show_subscriptions(call: Call) -> Page:
    """Show what you have subscribed to, and where to change it."""
    mine = await call.read(own_subscriptions.list_mine, call.installation.billing.mode)
    return account_page(call, "billing/own_subscriptions.html", subscriptions=mine.subscriptions, total=mine.total)


@routes.post(f"{SUBSCRIPTIONS}/:service_id/portal", refuses=(BillingFailed, NothingToManage, Forbidden))
@in_browser_in_person
async def open_portal(call: Call, service_id: UUID) -> Page:
    """Show the way to the payment provider, where you change or end what you pay for."""
    await recent(call, page=SUBSCRIPTIONS)
    billing = call.installation.billing
    return_url = f"{call.installation.settings.base_url}{SUBSCRIPTIONS}"
    portal = await call.transact(own_subscriptions.request_portal, service_id, return_url=return_url, mode=billing.mode)
    address = await billing.open_portal(portal.customer_id, portal.return_url)
    await call.transact(own_subscriptions.record_opened, service_id, portal, mode=billing.mode)
    return account_page(call, "billing/own_subscriptions_portal.html", address=address)
