"""The tab of a service with its plans: the list, creating, changing and deleting one, and the link to its checkout."""

import shlex
from dataclasses import asdict
from typing import Annotated, Final
from uuid import UUID

import msgspec

from core.billing.provider import BillingMode
from core.errors import BadRequest, Refusal
from core.organizations.access import Operation
from core.services import plans
from core.services.plans import (
    DEFAULT_CURRENCY,
    CountedPlan,
    Plan,
    PlanChanged,
    PlanFields,
    PlanInUse,
    PlanIsDefault,
    PlanUnknown,
    PriceTaken,
    TooManyPlans,
)
from core.services.services import ServiceUnknown
from entrypoints.pages.console.frame import PagedQuery, Program, after, path_in_interface
from entrypoints.pages.console.lists import ConsoleList
from entrypoints.pages.console.prices import amount_of, price, smallest_of
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.languages import language_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.services.standing import opened_service, page_of_service, service_page
from entrypoints.web.serving.admission.browsers import ProtectedForm
from entrypoints.web.serving.admission.credentials import on_service_in_console
from entrypoints.web.serving.answering.answers import encode
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

PLANS: Final = "/app/organizations/:org_slug/services/:service_slug/plans"
PLAN: Final = f"{PLANS}/:plan_id"
TAB: Final = "/plans"
# More features of one plan are counted, so that a page stays small.
FEATURES_SHOWN: Final = 3


class PlansQuery(PagedQuery, kw_only=True):
    """Which plans to show."""

    search: Annotated[str, msgspec.Meta(description="A part of the name.", max_length=100)] = ""


class PlanForm(ProtectedForm, kw_only=True):
    """What a plan is, as it is typed, and the state that the page has shown of it."""

    name: str = ""
    price: str = ""
    currency: str = DEFAULT_CURRENCY
    features: str = ""
    billing_price_id: str = ""
    seen_state: str = ""

    @property
    def fields(self) -> PlanFields:
        """The plan in the form; raise `BadRequest` for an invalid price."""
        currency = self.currency.strip().lower()
        return PlanFields(
            name=self.name,
            price_cents=smallest_of("price", self.price, currency),
            currency=currency,
            features=[line.strip() for line in self.features.splitlines() if line.strip()],
            billing_price_id=self.billing_price_id.strip() or None,
        )


FOUND: Final = ConsoleList[CountedPlan](path=PLANS, called="plans")


@routes.get(PLANS, refuses=(ServiceUnknown,))
@on_service_in_console(Operation.PLANS_READ)
async def show_plans(
    call: Call, org_slug: str, service_slug: str, *, query: PlansQuery | None = None, refusal: Refusal | None = None
) -> Page:
    """Show the plans of a service with their numbers of subscriptions, the oldest first."""
    query = query or PlansQuery()
    at, found = await opened_service(call, org_slug, service_slug, Operation.PLANS_READ, plans.search, **query.rows)
    return service_page(
        call,
        "services/plans.html",
        at,
        program=Program("plans_list_plans", org_slug, service_slug),
        done=query.done,
        refusal=refusal,
        **FOUND.values(query, found, org_slug, service_slug),
        prices={one.plan.id: _price(call, one.plan) for one in found.found},
        features_shown=FEATURES_SHOWN,
        lacks_change=at.lacks(Operation.PLANS_CHANGE),
    )


@routes.get(f"{PLANS}/new", refuses=(ServiceUnknown,))
@on_service_in_console(Operation.PLANS_CHANGE)
async def ask_for_plan(
    call: Call, org_slug: str, service_slug: str, *, form: PlanForm | None = None, refusal: Refusal | None = None
) -> Page:
    """Show the form of a new plan."""
    at, _ = await opened_service(call, org_slug, service_slug, Operation.PLANS_CHANGE, plans.require_changeable)
    form = form or PlanForm()
    return service_page(
        call,
        "services/plans_new.html",
        at,
        program=Program(
            "plans_create_plan",
            org_slug,
            service_slug,
            body={"name": form.name or "Team", "price_cents": 990, "currency": form.currency},
        ),
        refusal=refusal,
        form=form,
        is_sandbox=call.installation.billing.mode is BillingMode.SANDBOX,
        plans=page_of_service(org_slug, service_slug) + TAB,
    )


@routes.post(f"{PLANS}/new", refuses=(ServiceUnknown, TooManyPlans, PriceTaken))
@on_service_in_console(Operation.PLANS_CHANGE)
@shows_again(ask_for_plan, BadRequest, PriceTaken)
async def create_plan(call: Call, org_slug: str, service_slug: str, form: PlanForm) -> PageOrRedirect:
    """Create a plan; programs use `POST …/services/:service_slug/plans`."""
    await call.read(plans.require_changeable, org_slug, service_slug)
    plan = await call.transact(plans.create, org_slug, service_slug, form.fields)
    return after(f"{page_of_service(org_slug, service_slug)}{TAB}/{plan.id}", "plan-created")


@routes.get(PLAN, refuses=(ServiceUnknown, PlanUnknown))
@on_service_in_console(Operation.PLANS_READ)
async def show_plan(
    call: Call,
    org_slug: str,
    service_slug: str,
    plan_id: UUID,
    *,
    query: DoneQuery | None = None,
    form: PlanForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show a plan, with the link to its checkout."""
    at, shown = await opened_service(call, org_slug, service_slug, Operation.PLANS_READ, plans.show, plan_id)
    plan, base_url = shown.plan, call.installation.settings.base_url
    page = page_of_service(org_slug, service_slug)
    return service_page(
        call,
        "services/plans_one.html",
        at,
        program=Program(
            "plans_change_plan",
            org_slug,
            service_slug,
            plan_id,
            body={"name": plan.name, "price_cents": plan.price_cents},
        ),
        done=query.done if query is not None else "",
        refusal=refusal,
        shown=shown,
        price=_price(call, plan),
        form=form or _form(plan),
        lacks_change=at.lacks(Operation.PLANS_CHANGE),
        is_sandbox=call.installation.billing.mode is BillingMode.SANDBOX,
        checkout=f"{base_url}{page}{TAB}/{plan_id}/buy",
        checkout_call=_checkout_call(call, plan),
        plans=page + TAB,
        keys=f"{page}/api-keys/new",
    )


@routes.post(PLAN, refuses=(ServiceUnknown, PlanUnknown, PriceTaken, PlanChanged))
@on_service_in_console(Operation.PLANS_CHANGE)
@shows_again(show_plan, BadRequest, PriceTaken, PlanChanged)
async def change_plan(call: Call, org_slug: str, service_slug: str, plan_id: UUID, form: PlanForm) -> PageOrRedirect:
    """Change a plan; programs use `PATCH …/services/:service_slug/plans/:plan_id`."""
    await call.read(plans.show_end, org_slug, service_slug, plan_id)
    changes = asdict(form.fields)
    await call.transact(plans.change, org_slug, service_slug, plan_id, changes, seen_state=form.seen_state)
    return after(f"{page_of_service(org_slug, service_slug)}{TAB}/{plan_id}", "plan-changed")


@routes.get(f"{PLAN}/delete", refuses=(ServiceUnknown, PlanUnknown))
@on_service_in_console(Operation.PLANS_CHANGE)
async def ask_to_delete_plan(
    call: Call, org_slug: str, service_slug: str, plan_id: UUID, *, refusal: Refusal | None = None
) -> Page:
    """Show what is deleted with a plan, in numbers."""
    at, shown = await opened_service(call, org_slug, service_slug, Operation.PLANS_CHANGE, plans.show_end, plan_id)
    return service_page(
        call,
        "services/plans_deletion.html",
        at,
        program=Program("plans_delete_plan", org_slug, service_slug, plan_id),
        refusal=refusal,
        shown=shown,
        plans=page_of_service(org_slug, service_slug) + TAB,
    )


@routes.post(f"{PLAN}/delete", refuses=(ServiceUnknown, PlanUnknown, PlanInUse, PlanIsDefault))
@on_service_in_console(Operation.PLANS_CHANGE)
@shows_again(ask_to_delete_plan, PlanInUse, PlanIsDefault)
@shows_again(show_plans, PlanUnknown)
async def delete_plan(call: Call, org_slug: str, service_slug: str, plan_id: UUID) -> PageOrRedirect:
    """Delete a plan; programs use `DELETE …/services/:service_slug/plans/:plan_id`."""
    await call.transact(plans.delete, org_slug, service_slug, plan_id)
    return after(page_of_service(org_slug, service_slug) + TAB, "plan-deleted")


def _price(call: Call, plan: Plan) -> str:
    return price(language_of(call), plan.price_cents, plan.currency)


def _form(plan: Plan) -> PlanForm:
    """Return the form with what is stored of a plan."""
    return PlanForm(
        name=plan.name,
        price=str(amount_of(plan.price_cents, plan.currency)),
        currency=plan.currency,
        features="\n".join(plan.features),
        billing_price_id=plan.billing_price_id or "",
    )


def _checkout_call(call: Call, plan: Plan) -> str:
    """Return the command with which the backend of the service starts the checkout of an end user."""
    body = {
        "plan_id": str(plan.id),
        "success_url": "https://www.example.com/thanks",
        "cancel_url": "https://www.example.com/prices",
    }
    path = path_in_interface(call, "service_subscriptions_start_user_checkout", "$USER_ID")
    return " \\\n  ".join(
        (
            f'curl -X POST "{call.installation.settings.base_url}{path}"',
            '-H "X-Api-Key: $API_KEY"',
            "-H 'Content-Type: application/json'",
            f"-d {shlex.quote(encode(body).decode())}",
        )
    )
