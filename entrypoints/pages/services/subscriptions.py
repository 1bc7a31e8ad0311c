"""The pages of sold subscriptions: finding them, one in detail, moving it to another plan, cancelling it at once."""

from collections.abc import Mapping
from typing import Annotated, Any, Final
from uuid import UUID

import msgspec

from core.errors import BadRequest, Refusal
from core.ids import id_or_none
from core.organizations.access import Operation
from core.services import found_services, sales, subscriptions
from core.services.subscriptions import (
    LIVE,
    ListedSubscription,
    ListedSubscriptionUnknown,
    PaidElsewhere,
    SubscriptionChangedSince,
    SubscriptionFilter,
    SubscriptionStatus,
)
from entrypoints.pages.console.csv_files import CsvFile
from entrypoints.pages.console.frame import (
    BILLING,
    ConsoleListQuery,
    Program,
    after,
    console_page,
    opened,
    page_of,
    with_query,
)
from entrypoints.pages.console.lists import ConsoleList
from entrypoints.pages.console.person_records import SUBSCRIPTION_STATUSES
from entrypoints.pages.console.pickers import picker
from entrypoints.pages.console.prices import amount_of, price
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.languages import language_of, marked
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.web.serving.admission.browsers import ProtectedForm
from entrypoints.web.serving.admission.credentials import in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

SOLD: Final = f"{BILLING}/sold"
SUBSCRIPTION: Final = f"{SOLD}/:subscription_id"
# In the place of a status: all that are in force.
IN_FORCE: Final = "live"
# More plans are in no choice; a link of the tables leads to each.
PLANS_MAX: Final = 100


class SoldQuery(ConsoleListQuery, kw_only=True):
    """Which subscriptions to show."""

    status: Annotated[
        str, msgspec.Meta(description="Only subscriptions with this status; `live` are those in force.", max_length=20)
    ] = ""
    service: Annotated[
        str, msgspec.Meta(description="Only subscriptions to this service, by its slug.", max_length=50)
    ] = ""
    plan: Annotated[str, msgspec.Meta(description="Only subscriptions to this plan, by its id.", max_length=50)] = ""

    @property
    def filters(self) -> Mapping[str, Any]:
        """The filters, as the use case takes them by name; what is no status or no id filters nothing."""
        statuses = frozenset[SubscriptionStatus]()
        if self.status == IN_FORCE:
            statuses = LIVE
        elif self.status in set(SubscriptionStatus):
            statuses = frozenset({SubscriptionStatus(self.status)})
        plan_id = id_or_none(self.plan)
        wanted = SubscriptionFilter(
            part=self.search, statuses=statuses, service_slug=self.service.strip(), plan_id=plan_id
        )
        return {"wanted": wanted}


FOUND: Final = ConsoleList[ListedSubscription](
    path=SOLD,
    found=subscriptions.found,
    file="sold",
    name="subscriptions",
    columns={
        "email": lambda one: one.email,
        "user_id": lambda one: one.user_id,
        "service": lambda one: one.service_slug,
        "plan": lambda one: one.plan_name,
        "price": lambda one: amount_of(one.price_cents, one.currency),
        "currency": lambda one: one.currency,
        "status": lambda one: one.status.value,
        "billed_by_provider": lambda one: one.is_billed,
        "begun": lambda one: one.created_at,
        "period_ends": lambda one: one.current_period_end,
        "id": lambda one: one.id,
    },
)


class MoveForm(ProtectedForm, kw_only=True):
    """The new plan of a subscription, and the state of it that the page has shown."""

    plan_id: str = ""
    seen_version: str = ""


class CancellationForm(ProtectedForm, kw_only=True):
    """The state that the page has shown of the subscription to cancel, and what the audit log is to keep about it."""

    seen_version: str = ""
    note: str = ""


@routes.get(SOLD)
@in_console(Operation.BILLING_READ)
async def show_sold(call: Call, org_slug: str, query: SoldQuery) -> Page:
    """Show the subscriptions that an organization has sold, by status, service, plan and part of the address."""
    standing, found = await FOUND.opened(call, Operation.BILLING_READ, org_slug, query=query)
    services = await call.read(found_services.service_choices, org_slug, Operation.BILLING_READ)
    names = await call.read(sales.names, org_slug)
    language = language_of(call)
    return console_page(
        call,
        "services/subscriptions.html",
        standing,
        # There is no call for the subscriptions of all services.
        program=Program("services_list_services", org_slug),
        done=query.done,
        **FOUND.values(query, found, org_slug),
        service=picker("service", ("", services), chosen=query.service.strip(), keeps=True),
        prices={one.id: price(language, one.price_cents, one.currency) for one in found.found},
        statuses=SUBSCRIPTION_STATUSES,
        choices=[
            ("", marked("Every status")),
            (IN_FORCE, marked("In force")),
            *((status.value, text) for status, (_, text) in SUBSCRIPTION_STATUSES.items()),
        ],
        plans=plan_choices(names, query.plan),
        lacks_end_users=standing.lacks(Operation.END_USERS_READ),
        billing_page=f"{page_of(org_slug)}/billing",
    )


def plan_choices(names: sales.SoldNames, chosen: str) -> list[tuple[str, str]]:
    """Return the plans by name, as the pairs of a choice: a hundred, and the chosen one in any case."""
    by_name = sorted(((str(plan_id), name) for plan_id, name in names.plans.items()), key=lambda one: (one[1], one[0]))
    shown = by_name[:PLANS_MAX] + [one for one in by_name[PLANS_MAX:] if one[0] == chosen]
    if chosen and id_or_none(chosen) is not None and chosen not in {one for one, _ in shown}:
        shown.append((chosen, marked("A deleted plan")))
    return [("", marked("Every plan")), *shown]


@routes.get(f"{SOLD}/sold.csv")
@in_console(Operation.BILLING_READ)
async def download_sold(call: Call, org_slug: str, query: SoldQuery) -> CsvFile:
    """Download the subscriptions that a search finds, at most 100,000, for a spreadsheet."""
    return await FOUND.csv(call, org_slug, query=query)


@routes.get(SUBSCRIPTION, refuses=(ListedSubscriptionUnknown,))
@in_console(Operation.BILLING_READ)
async def show_sold_subscription(
    call: Call,
    org_slug: str,
    subscription_id: UUID,
    *,
    query: DoneQuery | None = None,
    form: MoveForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show a subscription that an organization has sold."""
    standing, (found, plans) = await opened(call, org_slug, Operation.BILLING_READ, subscriptions.show, subscription_id)
    language = language_of(call)
    page = f"{page_of(org_slug)}/billing/sold"
    return console_page(
        call,
        "services/subscriptions_one.html",
        standing,
        program=_program(found, {"plan_id": form.plan_id if form is not None else str(found.plan_id)}),
        done=query.done if query is not None else "",
        refusal=refusal,
        one=found,
        price=price(language, found.price_cents, found.currency),
        statuses=SUBSCRIPTION_STATUSES,
        plans=[
            (str(plan.id), f"{plan.name} · {price(language, plan.price_cents, plan.currency)}")
            for plan in plans
            # What was chosen stays chosen, also when another person has changed the plan meanwhile.
        ],
        chosen=form.plan_id if form is not None else str(found.plan_id),
        lacks_change=standing.lacks(Operation.SUBSCRIPTIONS_CHANGE),
        lacks_end_users=standing.lacks(Operation.END_USERS_READ),
        lacks_audit=standing.lacks(Operation.AUDIT_LOG_READ),
        person=f"{page_of(org_slug)}/people/end-users/{found.user_id}",
        audit=with_query(f"{page_of(org_slug)}/audit", target=subscription_id),
        page=f"{page}/{subscription_id}",
        list_page=page,
    )


@routes.post(SUBSCRIPTION, refuses=(ListedSubscriptionUnknown, SubscriptionChangedSince, PaidElsewhere))
@in_console(Operation.SUBSCRIPTIONS_CHANGE)
@shows_again(show_sold_subscription, BadRequest, SubscriptionChangedSince, PaidElsewhere)
async def move_subscription(call: Call, org_slug: str, subscription_id: UUID, form: MoveForm) -> PageOrRedirect:
    """Move a subscription to another plan; programs use `PATCH /api/service/subscriptions/:user_id`."""
    await call.transact(
        subscriptions.move, org_slug, subscription_id, id_or_none(form.plan_id), seen_version=form.seen_version
    )
    return after(f"{page_of(org_slug)}/billing/sold/{subscription_id}", "subscription-moved")


@routes.get(f"{SUBSCRIPTION}/cancel", refuses=(ListedSubscriptionUnknown,))
@in_console(Operation.SUBSCRIPTIONS_CHANGE)
async def ask_to_cancel(
    call: Call,
    org_slug: str,
    subscription_id: UUID,
    *,
    form: CancellationForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show what happens when a subscription is cancelled."""
    standing, (found, plans) = await opened(
        call, org_slug, Operation.SUBSCRIPTIONS_CHANGE, subscriptions.show, subscription_id
    )
    return console_page(
        call,
        "services/subscriptions_cancellation.html",
        standing,
        program=_program(found, {"status": SubscriptionStatus.CANCELLED.value}),
        refusal=refusal,
        one=found,
        default_plan=next((plan.name for plan in plans if plan.is_default), None),
        note=form.note if form is not None else "",
        page=f"{page_of(org_slug)}/billing/sold/{subscription_id}",
    )


@routes.post(f"{SUBSCRIPTION}/cancel", refuses=(ListedSubscriptionUnknown, SubscriptionChangedSince, PaidElsewhere))
@in_console(Operation.SUBSCRIPTIONS_CHANGE)
@shows_again(ask_to_cancel, BadRequest, SubscriptionChangedSince, PaidElsewhere)
async def cancel_subscription(
    call: Call, org_slug: str, subscription_id: UUID, form: CancellationForm
) -> PageOrRedirect:
    """Cancel a subscription at once; programs use `PATCH /api/service/subscriptions/:user_id`."""
    await call.transact(subscriptions.cancel, org_slug, subscription_id, seen_version=form.seen_version, note=form.note)
    return after(f"{page_of(org_slug)}/billing/sold/{subscription_id}", "subscription-cancelled")


def _program(found: ListedSubscription, body: dict[str, Any]) -> Program:
    return Program("service_subscriptions_change_subscription", found.user_id, body=body)
