"""The activation page: a user types the code that a device shows, sees who asks, and answers."""

import base64
from dataclasses import replace
from typing import Annotated, Final
from urllib.parse import parse_qsl, urlencode
from uuid import UUID

import msgspec
from quart import Response

from core.errors import ErrorCode, Forbidden, OrganizationNotActive, SsoRequired
from core.openid import device
from core.openid.device import ACTIVATION_PATH, CustomerConnectionDue, UserCodeExpired, UserCodeUnknown, WaitingDevice
from core.organizations.session_strength import SecondFactorRequired
from core.rate_limits import RateLimit
from core.sessions.browser_sessions import BrowserSession
from core.sessions.refresh import SessionOver
from core.sign_in import browser_returns
from core.sign_in.admission import Settled, SignInAgain
from core.sign_in.browser_returns import BrowserReturn
from core.sign_in.customer_choices import NotOpen, Undecided
from core.sign_in.mfa_challenges import BegunSession
from core.sign_in.reasons import SecondFactorDue, SignInRefused
from entrypoints.pages.frame import returns
from entrypoints.pages.frame.brands import brand_of
from entrypoints.pages.frame.languages import translated
from entrypoints.pages.frame.refusals import refusal_page
from entrypoints.pages.frame.rendering import Page, PageOrRedirect, form_page, page
from entrypoints.pages.frame.returns import WayForm
from entrypoints.pages.sign_in.conclusion import send_to_connection, send_to_set_up, send_to_sign_in
from entrypoints.shared.sessions import token_answers
from entrypoints.shared.sessions.token_answers import CustomerName
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission.browsers import ProtectedForm, recent
from entrypoints.web.serving.admission.credentials import in_browser_or_not
from entrypoints.web.serving.admission.hosts import issuer_of, on_custom_hosts
from entrypoints.web.serving.answering.answers import see_other
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("device flow", "The page on which people approve a device.", refusal_page)

LIMITS: Final = (RateLimit.DEVICE_FLOW, RateLimit.SIGN_IN_GROUP)


class ActivationQuery(Query, kw_only=True):
    """The code that the device shows; without it the page asks for it."""

    user_code: Annotated[str, msgspec.Meta(description="The code that the device shows.")] = ""


class DeviceCodeForm(ProtectedForm, kw_only=True):
    """The code that the user has typed, or answers."""

    user_code: str = ""


class DeviceApprovalForm(DeviceCodeForm, kw_only=True):
    """The code that the user approves, and the customer that they have chosen, empty for none.

    `joins` is `yes` on a page that says that the organization has added the user.
    """

    customer: CustomerName | None = None
    joins: str = ""


@routes.get(ACTIVATION_PATH, limits=(RateLimit.DEVICE_FLOW,), refuses=(UserCodeUnknown, UserCodeExpired))
@on_custom_hosts
@in_browser_or_not
async def show_device(call: Call, query: ActivationQuery) -> PageOrRedirect:
    """Ask for the code of a device, or show which service asks and from where."""
    if not query.user_code:
        return form_page(call, "openid/device.html", problem="", user_code="")
    return await _answer_page(call, query.user_code)


@routes.post(ACTIVATION_PATH, limits=LIMITS, refuses=(UserCodeUnknown, UserCodeExpired))
@on_custom_hosts
@in_browser_or_not
async def type_code(call: Call, form: DeviceCodeForm) -> PageOrRedirect:
    """Take the code that the user has typed."""
    return await _answer_page(call, form.user_code)


@routes.post(
    "/auth/device/approve",
    refuses=(UserCodeUnknown, UserCodeExpired, SessionOver, SignInRefused, Forbidden, OrganizationNotActive),
)
@on_custom_hosts
@in_browser_or_not
async def approve_device(call: Call, form: DeviceApprovalForm) -> PageOrRedirect:
    """Sign the device in."""
    waiting = await call.read(device.find, form.user_code)
    if call.browser is None or not _is_opened_by(call.browser, waiting):
        return await _to_sign_in(call, form.user_code, waiting)
    brand = await brand_of(call, _organization_of(waiting))
    if waiting.client is None:
        # It can do whatever the user can, so they prove that they are there.
        await recent(call, page=_address(form.user_code))
    try:
        outcome = await call.transact(
            device.approve,
            form.user_code,
            call.browser,
            device_token=token_answers.destination(call).device_token,
            customer=form.customer,
            confirms_membership=form.joins == "yes",
        )
    except SecondFactorDue:
        return await _to_sign_in(call, form.user_code)
    except SsoRequired:
        return await _to_sign_in(call, form.user_code, waiting)
    except SecondFactorRequired:
        return await send_to_set_up(call, return_to=_address(form.user_code))
    if isinstance(outcome, CustomerConnectionDue):
        return await send_to_connection(call, _return_to(form.user_code, waiting), outcome.connection_id)
    if not isinstance(outcome, BegunSession):
        # The page asks for the customer.
        return see_other(_address(form.user_code))
    return page(call, "openid/device_answered.html", is_approved=True, brand=brand)


@routes.post("/auth/device/deny", refuses=(UserCodeUnknown, UserCodeExpired))
@on_custom_hosts
@in_browser_or_not
async def deny_device(call: Call, form: DeviceCodeForm) -> Page:
    """Refuse the device."""
    waiting = await call.read(device.find, form.user_code)
    await call.transact(device.deny, form.user_code)
    brand = await brand_of(call, _organization_of(waiting))
    return page(call, "openid/device_answered.html", is_approved=False, brand=brand)


@routes.post("/auth/device/cancel", refuses=(UserCodeUnknown, UserCodeExpired))
@on_custom_hosts
@in_browser_or_not
async def cancel_device(call: Call, form: WayForm) -> Page:
    """Cancel the sign-in for a device, which is refused."""
    await returns.kept_return(call, form.way)
    kept = await call.transact(browser_returns.use, form.return_id)
    path, _, query = kept.answering.partition("?") if kept is not None else ("", "", "")
    user_code = dict(parse_qsl(query)).get("user_code", "") if path == ACTIVATION_PATH else ""
    await call.transact(device.deny, user_code)
    return page(call, "openid/device_answered.html", is_approved=False)


async def _answer_page(call: Call, user_code: str) -> Response:
    try:
        waiting = await call.read(device.find, user_code)
    except (UserCodeUnknown, UserCodeExpired) as refusal:
        return form_page(
            call, "openid/device.html", status=refusal.code.status, problem=refusal.message, user_code=user_code
        )
    if call.browser is None or not _is_opened_by(call.browser, waiting):
        return await _to_sign_in(call, user_code, waiting)
    if waiting.client is None:
        await recent(call, page=_address(user_code))
    settled = await call.read(device.settle, waiting, call.browser)
    if isinstance(settled, SignInAgain):
        return await send_to_sign_in(
            call, replace(_return_to(user_code, waiting), not_in_session=call.browser.session_id)
        )
    brand = await brand_of(call, _organization_of(waiting))
    if isinstance(settled, NotOpen):
        await call.transact(device.note_closed, waiting)
        return form_page(
            call,
            "openid/device_no_access.html",
            status=200 if waiting.serves_customers else ErrorCode.FORBIDDEN.status,
            user_code=user_code,
            waiting=waiting,
            refusal=settled.refusal,
            brand=brand,
        )
    may_come_alone = settled.may_come_alone if isinstance(settled, Undecided) else not (settled and settled.standing)
    address = f"{issuer_of(call)}{_address(user_code)}"
    drawn = await call.installation.qr_codes.svg(address, title=translated(call, "QR code of this page"))
    return form_page(
        call,
        "openid/device_answer.html",
        user_code=user_code,
        waiting=waiting,
        qr_code=base64.b64encode(drawn.encode()).decode(),
        undecided=settled if isinstance(settled, Undecided) else None,
        settled=settled if isinstance(settled, Settled) else None,
        # Coming for a customer confirms no membership of the vendor.
        added_by=await call.read(device.added_by, waiting, call.browser) if may_come_alone else None,
        brand=brand,
        here=_address(user_code),
    )


def _is_opened_by(browser: BrowserSession, waiting: WaitingDevice) -> bool:
    """Return whether the session of a browser may go on to where a device signs in; else its user signs in for it.

    At a service with customers that depends on the customer, and is settled with it.
    """
    if browser.confinement is None or waiting.serves_customers:
        return True
    service = waiting.client.service if waiting.client is not None else None
    return browser.goes_to(service.organization_id if service else None, service.id if service else None)


def _organization_of(waiting: WaitingDevice) -> UUID | None:
    return waiting.client.service.organization_id if waiting.client is not None else None


async def _to_sign_in(call: Call, user_code: str, waiting: WaitingDevice | None = None) -> Response:
    return await send_to_sign_in(call, _return_to(user_code, waiting))


def _return_to(user_code: str, waiting: WaitingDevice | None) -> BrowserReturn:
    client = waiting.client if waiting is not None else None
    return BrowserReturn(
        target=_address(user_code),
        organization_slug=client.organization_slug if client is not None else None,
        service_slug=client.service.slug if client is not None else None,
    )


def _address(user_code: str) -> str:
    return f"{ACTIVATION_PATH}?{urlencode({'user_code': user_code})}"
