"""The pages of the sandbox provider: paying a checkout, and making things happen to the subscriptions of a customer.

They exist only while no payment provider is set, and refuse everything unless the sandbox is on. The address of a page
is a capability: it has a random id that cannot be guessed, expires after a day, and is given only to a caller who may
start the checkout or open the portal. So a page needs no sign-in, as at the real provider. A form is refused when
another site has sent it.
"""

from datetime import timedelta
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

import msgspec
from quart import Response

from core.billing import sandbox
from core.billing.checkout import SESSION_PLACEHOLDER
from core.billing.provider import NothingForSale
from core.billing.sandbox import (
    LATE_MAX,
    Posting,
    SandboxAction,
    SandboxActionImpossible,
    SandboxPageUnknown,
    SandboxSubscriptionUnknown,
)
from core.errors import Forbidden
from entrypoints.pages.console.prices import price
from entrypoints.pages.frame.languages import language_of, marked
from entrypoints.pages.frame.refusals import refusal_page
from entrypoints.pages.frame.rendering import CONTENT_SECURITY_POLICY, Page, page
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("sandbox", "The pages of the sandbox that stands in for the payment provider.", refusal_page)

_FORM_TARGETS: Final = "form-action 'self'"


class FormFromElsewhere(Forbidden):
    """A page of another site has sent the form."""

    default_message = "This form was sent by another site. Open the page again and use its own buttons."


class PortalForm(Query, kw_only=True):
    """A button of the portal page, with how the events are sent."""

    subscription_id: str
    action: SandboxAction
    late_seconds: Annotated[int, msgspec.Meta(ge=0)] = 0
    twice: str = ""


@routes.get("/sandbox/checkout/:session_id", refuses=(SandboxPageUnknown, NothingForSale))
@public
async def show_checkout(call: Call, session_id: str) -> Page:
    """Show what is bought, with the buttons to pay and to cancel; no money moves."""
    _require_open(call)
    session = await call.read(sandbox.show_checkout, session_id)
    return _with_targets(
        page(
            call,
            "billing/sandbox_checkout.html",
            session=session,
            price=price(language_of(call), session.price_cents, session.currency),
        ),
        session.success_url or "",
    )


@routes.post(
    "/sandbox/checkout/:session_id", status=303, refuses=(SandboxPageUnknown, FormFromElsewhere, NothingForSale)
)
@public
async def press_pay(call: Call, session_id: str) -> None:
    """Pay without money: the subscription begins, and its events are sent to the receiver."""
    _require_open(call)
    _require_own_page(call)
    session = await call.transact(sandbox.pay, session_id)
    call.headers["Location"] = (session.success_url or "").replace(SESSION_PLACEHOLDER, session.id)


@routes.get("/sandbox/portal/:session_id", refuses=(SandboxPageUnknown, NothingForSale))
@public
async def show_portal(call: Call, session_id: str) -> Page:
    """Show a customer's subscriptions, with buttons that make things happen to them; no money moves."""
    _require_open(call)
    view = await call.read(sandbox.show_portal, session_id)
    language = language_of(call)
    rows = [(one, price(language, one.price_cents, one.currency)) for one in view.subscriptions]
    return page(
        call, "billing/sandbox_portal.html", session=view.session, subscriptions=rows, actions=_BUTTONS, states=STATES
    )


@routes.post(
    "/sandbox/portal/:session_id",
    status=303,
    refuses=(
        SandboxPageUnknown,
        SandboxSubscriptionUnknown,
        SandboxActionImpossible,
        FormFromElsewhere,
        NothingForSale,
    ),
)
@public
async def press_action(call: Call, session_id: str, form: PortalForm) -> None:
    """Make something happen to a subscription, and send its events promptly, late, or twice."""
    _require_open(call)
    _require_own_page(call)
    late = min(timedelta(seconds=min(form.late_seconds, int(LATE_MAX.total_seconds()))), LATE_MAX)
    posting = Posting(late=late, is_twice=bool(form.twice))
    await call.transact(sandbox.act_in_portal, session_id, form.subscription_id, form.action, posting)
    call.headers["Location"] = f"/sandbox/portal/{session_id}"


_BUTTONS: Final[Any] = (
    (SandboxAction.RENEW, marked("Renew")),
    (SandboxAction.FAIL, marked("Let a payment fail")),
    (SandboxAction.RECOVER, marked("Pay what is due")),
    (SandboxAction.AUTHENTICATE, marked("Ask for a confirmation")),
    (SandboxAction.CANCEL, marked("Cancel")),
)


# What the states of a subscription are called.
STATES: Final = {"active": marked("active"), "past_due": marked("payment overdue"), "canceled": marked("cancelled")}


def _with_targets(response: Response, address: str) -> Response:
    """Allow the form to be redirected to the seller's address, which browsers treat as a target of the form."""
    parts = urlsplit(address)
    policy = CONTENT_SECURITY_POLICY.replace(_FORM_TARGETS, f"{_FORM_TARGETS} {parts.scheme}://{parts.netloc}")
    response.headers["Content-Security-Policy"] = policy
    return response


def _require_open(call: Call) -> None:
    if not call.installation.settings.has_billing_sandbox:
        raise NothingForSale


def _require_own_page(call: Call) -> None:
    """Refuse a form that a browser says another site has sent; what is no browser knows the address of the page."""
    headers = call.request.headers
    site, origin = headers.get("Sec-Fetch-Site"), headers.get("Origin")
    is_own = site == "same-origin" if site is not None else origin in {None, call.installation.settings.origin}
    if not is_own:
        raise FormFromElsewhere
