"""The page of the link that verifies an address (identity 4.1, decisions 3.13)."""

from quart import Response

from core.accounts import verification
from core.accounts.links import LinkUnusable
from core.accounts.return_targets import ReturnTarget
from entrypoints.http.sessions.sessions import Message
from entrypoints.pages.forms import MailedLink
from entrypoints.pages.refusals import prefers_json, refusal_page
from entrypoints.pages.rendering import Page, page
from entrypoints.web.calls import Call
from entrypoints.web.credentials import public
from entrypoints.web.routes import Routes

routes = Routes("registration", "Creating an account and verifying its email address.", refusal_page)


@routes.get("/auth/verify-email", refuses=(LinkUnusable,))
@public
async def verify_email(call: Call, query: MailedLink) -> Message | Page:
    """Verify the email address that the link was mailed to.

    A link can be used once, within 24 hours. The answer is a page, also when it is a refusal, or JSON when the request
    accepts `application/json`.
    """
    call.headers["Vary"] = "Accept"
    if call.request.method == "HEAD":
        # HEAD checks the link without using it up.
        await call.read(verification.inspect, query.token)
        return _answer(call, "This link is valid", "Open it to verify your email address.")
    verified = await call.transact(verification.verify, query.token)
    return _answer(
        call, "Your email address is verified", f"You can sign in with {verified.email} now.", back=verified.back
    )


def _answer(call: Call, heading: str, text: str, *, back: ReturnTarget | None = None) -> Message | Response:
    if prefers_json(call):
        return Message(message=f"{heading}. {text}")
    return page(call, "message.html", heading=heading, text=text, back=back, request_id=None)
