"""The page on which a member buys a plan of a service: what it is, and the way to the payment provider."""

from typing import Final
from uuid import UUID

from core.billing import checkout
from core.billing.checkout import AlreadySubscribed, PlanNotForSale
from core.billing.provider import BillingFailed, BillingMode
from core.errors import Refusal
from core.organizations.access import Operation
from core.services.plans import PlanUnknown
from core.services.services import ServiceUnknown
from entrypoints.pages.console.frame import Program, console_page, opened, page_of
from entrypoints.pages.console.prices import price
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.languages import language_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.shared.billing.checkouts import open_checkout
from entrypoints.web.serving.admission.credentials import in_console
from entrypoints.web.serving.answering.answers import see_other
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

BUYING: Final = "/app/organizations/:org_slug/services/:service_slug/plans/:plan_id/buy"


@routes.get(BUYING, refuses=(ServiceUnknown, PlanUnknown))
@in_console(Operation.CHECKOUT)
async def show_offer(
    call: Call,
    org_slug: str,
    service_slug: str,
    plan_id: UUID,
    *,
    query: DoneQuery | None = None,
    address: str = "",
    refusal: Refusal | None = None,
) -> Page:
    """Show a plan that you can buy for yourself."""
    standing, offer = await opened(call, org_slug, Operation.CHECKOUT, checkout.show_offer, service_slug, plan_id)
    return_url = call.installation.settings.base_url + _path(org_slug, service_slug, plan_id)
    return console_page(
        call,
        "billing/checkout.html",
        standing,
        program=Program(
            "billing_start_checkout",
            org_slug,
            service_slug,
            body={"plan_id": str(plan_id), "success_url": f"{return_url}?done=bought", "cancel_url": return_url},
        ),
        done=query.done if query is not None else "",
        refusal=refusal,
        is_bought=query is not None and query.done == "bought",
        offer=offer,
        price=price(language_of(call), offer.plan.price_cents, offer.plan.currency),
        is_sandbox=call.installation.billing.mode is BillingMode.SANDBOX,
        address=address,
        page=_path(org_slug, service_slug, plan_id),
    )


@routes.post(BUYING, refuses=(ServiceUnknown, PlanUnknown, PlanNotForSale, AlreadySubscribed, BillingFailed))
@in_console(Operation.CHECKOUT)
@shows_again(show_offer, PlanNotForSale, AlreadySubscribed, BillingFailed)
async def begin_checkout(call: Call, org_slug: str, service_slug: str, plan_id: UUID) -> PageOrRedirect:
    """Start buying a plan; programs use `POST /api/organizations/:org_slug/services/:service_slug/checkout`."""
    await call.read(checkout.show_offer, org_slug, service_slug, plan_id)
    base_url = call.installation.settings.base_url
    page = base_url + _path(org_slug, service_slug, plan_id)
    started = await call.transact(
        checkout.start,
        org_slug,
        service_slug,
        plan_id,
        success_url=f"{page}?done=bought",
        cancel_url=page,
        mode=call.installation.billing.mode,
    )
    address = (await open_checkout(call, started)).checkout_url
    # Browsers follow no redirect of a form to another site, so a link leads to the page of a real provider.
    if address.startswith(f"{base_url}/"):
        return see_other(address)
    return await show_offer(call, org_slug, service_slug, plan_id, address=address)


def _path(org_slug: str, service_slug: str, plan_id: UUID) -> str:
    return f"{page_of(org_slug)}/services/{service_slug}/plans/{plan_id}/buy"
