"""The page of a link that verifies an address: of a new account, or a changed one (identity 4.1, decisions 3.10)."""

from quart import Response

from core.accounts import email_changes
from core.accounts.email_changes import AddressProvedElsewhere, RequestedChange
from core.accounts.links import LinkUnusable
from core.accounts.return_targets import ReturnTarget
from core.accounts.verification import VerifiedAddress
from entrypoints.http.sessions.sessions import Message
from entrypoints.pages.brands import Brand, brand_of
from entrypoints.pages.forms import MailedLink, MailedLinkForm
from entrypoints.pages.languages import translated
from entrypoints.pages.refusals import prefers_json, refusal_page
from entrypoints.pages.rendering import Page, page
from entrypoints.web.browsers import SIGN_IN
from entrypoints.web.calls import Call
from entrypoints.web.credentials import public
from entrypoints.web.routes import Routes

routes = Routes("registration", "Creating an account and verifying its email address.", refusal_page)


@routes.get("/auth/verify-email", refuses=(LinkUnusable, AddressProvedElsewhere))
@public
async def verify_email(call: Call, query: MailedLink) -> Message | Page:
    """Verify the address of a new account, or show the button that changes the address of an existing one.

    A link can be used once, within 24 hours. The answer is a page, also when it is a refusal, or JSON when the request
    accepts `application/json`.
    """
    call.vary("Accept")
    if call.request.method == "HEAD":
        # HEAD checks the link without using it up.
        await call.read(email_changes.check_link, query.token)
        return _answer(
            call, translated(call, "This link is valid"), translated(call, "Open it to verify your email address.")
        )
    opened = await call.transact(email_changes.open_link, query.token)
    if isinstance(opened, VerifiedAddress):
        return await _verified(call, opened)
    return _question(call, query.token, opened)


@routes.post("/auth/verify-email", refuses=(LinkUnusable, AddressProvedElsewhere))
@public
async def confirm_email(call: Call, form: MailedLinkForm) -> Message | Page:
    """Change the address of an account to the one that the link was mailed to, as the button of its page does.

    For the link of a new account it does the same as opening the link.
    """
    call.vary("Accept")
    confirmed = await call.transact(email_changes.confirm, form.token)
    if isinstance(confirmed, VerifiedAddress):
        return await _verified(call, confirmed)
    text = translated(
        call, "You sign in with %(email)s from now on. Your devices stay signed in.", email=confirmed.email
    )
    return _answer(call, translated(call, "Your email address is changed"), text)


def _question(call: Call, token: str, change: RequestedChange) -> Message | Response:
    if prefers_json(call):
        text = f"This link changes the address of an account from {change.old_email} to {change.new_email}."
        return Message(message=f"{text} Send its token as a form to POST /auth/verify-email to make the change.")
    return page(call, "confirm_email_change.html", token=token, old_email=change.old_email, new_email=change.new_email)


async def _verified(call: Call, verified: VerifiedAddress) -> Message | Response:
    text = translated(call, "You can sign in with %(email)s now.", email=verified.email)
    brand = await brand_of(call, verified.back.organization_id)
    return _answer(call, translated(call, "Your email address is verified"), text, back=verified.back, brand=brand)


def _answer(
    call: Call, heading: str, text: str, *, back: ReturnTarget | None = None, brand: Brand | None = None
) -> Message | Response:
    if prefers_json(call):
        call.vary("Accept-Language")
        return Message(message=f"{heading}. {text}")
    return page(
        call,
        "message.html",
        heading=heading,
        text=text,
        back=back,
        next=("Sign in", SIGN_IN),
        request_id=None,
        brand=brand,
    )
