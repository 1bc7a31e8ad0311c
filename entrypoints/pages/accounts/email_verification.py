"""The page of a link that verifies an address, of an account or a changed one.

Opening the link does not use it up, because mail scanners open every link. The button that verifies the address of a
registration and signs in is in `entrypoints/pages/sign_in/registration_links.py`.
"""

from typing import Annotated

from quart import Response

from core.accounts import email_changes, email_verification
from core.accounts.email_changes import AddressProvedElsewhere, RequestedChange
from core.accounts.email_verification import UnprovedAddress, VerifiedAddress
from core.accounts.links import LinkUnusable
from core.accounts.return_targets import ReturnTarget
from core.errors import Refusal
from entrypoints.pages.frame import returns
from entrypoints.pages.frame.brands import Brand, brand_of
from entrypoints.pages.frame.forms import LinkForm, MailedLink
from entrypoints.pages.frame.languages import marked, translated
from entrypoints.pages.frame.refusals import prefers_json
from entrypoints.pages.frame.rendering import Page, form_page, page
from entrypoints.pages.frame.returns import read_in
from entrypoints.pages.frame.routes import registration_pages
from entrypoints.web.serving.admission import browsers
from entrypoints.web.serving.admission.browsers import SIGN_IN, ProtectedForm
from entrypoints.web.serving.admission.credentials import in_browser_or_not, public
from entrypoints.web.serving.answering.answers import JSON, AnswerStatus
from entrypoints.web.serving.answering.bodies import Message
from entrypoints.web.serving.calls import Call

routes = registration_pages()


class RegistrationLinkForm(ProtectedForm, kw_only=True):
    """A form of the page of a link that verifies the address of an account."""

    token: str = ""


@routes.get("/auth/verify-email", refuses=(LinkUnusable, AddressProvedElsewhere))
@public
async def verify_email(call: Call, query: MailedLink) -> Message | Page:
    """Show what a link would do, or with `Accept: application/json` verify the address of an account.

    The link is valid for 24 hours. A page says when and from where the account was registered, and opening it uses
    nothing up. A request that accepts `application/json` uses the link up: the password of its registration becomes the
    account's. A link that changes the address of an account waits for its button in both cases.
    """
    call.vary("Accept")
    if call.request.method == "HEAD":
        await call.read(email_changes.inspect, query.token)
        return _answer(
            call, translated(call, "This link is valid"), translated(call, "Open it to verify your email address.")
        )
    if _accepts_json(call):
        opened = await call.transact(email_changes.open_link, query.token)
        if isinstance(opened, RequestedChange):
            return Message(
                message=f"This link changes the address of an account from {opened.old_email} to {opened.new_email}."
                " Send its token as a form to POST /auth/verify-email to make the change."
            )
        return await _verified(call, opened)
    found = await call.read(email_changes.inspect, query.token)
    if isinstance(found, RequestedChange):
        return page(
            call,
            "accounts/email_verification_of_change.html",
            token=query.token,
            old_email=found.old_email,
            new_email=found.new_email,
        )
    if isinstance(found, VerifiedAddress):
        return await _verified(call, found)
    await browsers.find_session(call)
    return await show(call, query.token, found)


@routes.post("/auth/verify-email", refuses=(LinkUnusable, AddressProvedElsewhere))
@public
async def confirm_email(call: Call, form: LinkForm) -> Message | Page:
    """Change the address of an account to the one that the link was mailed to, as the button of its page does.

    For the link of a registration it does the same as opening the link.
    """
    call.vary("Accept")
    confirmed = await call.transact(email_changes.confirm, form.token, by_program=_accepts_json(call))
    if isinstance(confirmed, UnprovedAddress):
        await browsers.find_session(call)
        return await show(call, form.token, confirmed)
    if isinstance(confirmed, VerifiedAddress):
        return await _verified(call, confirmed)
    text = translated(
        call, "You sign in with %(email)s from now on. Your devices stay signed in.", email=confirmed.email
    )
    return _answer(call, translated(call, "Your email address is changed"), text)


@routes.post("/auth/verify-email/choose-password", status=303, refuses=(LinkUnusable,))
@in_browser_or_not
async def choose_password(call: Call, form: RegistrationLinkForm) -> Annotated[None, AnswerStatus(303)]:
    """Verify the address without the password of its registration, and lead to the form that chooses one.

    Everything that was set up for the account before is removed.
    """
    token = await call.transact(email_verification.choose_password, form.token)
    call.headers["Location"] = f"/auth/reset-password?token={token.reveal()}"


@routes.post("/auth/verify-email/not-me", refuses=(LinkUnusable,))
@in_browser_or_not
async def disown_registration(call: Call, form: RegistrationLinkForm) -> Page:
    """End the registration of a link, which another person has made with the address of its reader."""
    await call.transact(email_verification.disown, form.token)
    return page(
        call,
        "frame/message.html",
        heading=translated(call, "This registration has ended"),
        text=translated(
            call,
            "Its password and its link are deleted. You have nothing else to do, and get no further mail about it.",
        ),
        back=None,
        next=(marked("Go to the start page"), "/app"),
        request_id=None,
    )


async def show(call: Call, token: str, found: UnprovedAddress, *, refusal: Refusal | None = None) -> Response:
    """Return the page that asks whether a registration was the reader's, with what was refused."""
    registration = found.registration
    read_in(call, found.back)
    return form_page(
        call,
        "accounts/email_verification.html",
        status=refusal.code.status if refusal is not None else 200,
        token=token,
        email=found.user.email,
        place=found.place.name,
        registration=registration,
        is_same_browser=returns.way_of(call, found.registering_browser) is not None,
        problem=refusal.message if refusal is not None else "",
        brand=await brand_of(call, found.place.organization_id),
        here=returns.link_page("/auth/verify-email", token=token),
    )


def _accepts_json(call: Call) -> bool:
    """Return whether the request asks for JSON by name and prefers it to a page, as no browser and no scanner does."""
    return JSON in call.request.headers.get("Accept", "").lower() and prefers_json(call)


async def _verified(call: Call, verified: VerifiedAddress) -> Message | Response:
    read_in(call, verified.back)
    if verified.has_password:
        text = translated(call, "You can sign in with %(email)s now.", email=verified.email)
    else:
        text = f"Choose a password for {verified.email}: request its link with POST /api/auth/forgot-password."
    brand = await brand_of(call, verified.back.organization_id)
    return _answer(call, translated(call, "Your email address is verified"), text, back=verified.back, brand=brand)


def _answer(
    call: Call, heading: str, text: str, *, back: ReturnTarget | None = None, brand: Brand | None = None
) -> Message | Response:
    if _accepts_json(call):
        call.vary("Accept-Language")
        return Message(message=f"{heading}. {text}")
    return page(
        call,
        "frame/message.html",
        heading=heading,
        text=text,
        back=back,
        next=(marked("Sign in"), SIGN_IN),
        request_id=None,
        brand=brand,
    )
