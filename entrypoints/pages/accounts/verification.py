"""The page behind the link that proves an address (identity 4.1, decisions 3.13)."""

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

routes = Routes("registration", "Making an account, and proving its email address.", refusal_page)


@routes.get("/auth/verify-email", refuses=(LinkUnusable,))
@public
async def verify_email(call: Call, query: MailedLink) -> Message | Page:
    """Prove the address that the link was mailed to.

    A link is good once, for 24 hours. The answer is a page, its refusals too; JSON to who asks for `application/json`.
    """
    call.headers["Vary"] = "Accept"
    if call.request.method == "HEAD":
        # Only looks whether the link leads anywhere, so it spends nothing.
        await call.read(verification.inspect, query.token)
        return _answer(call, "This link is good", "Open it to verify your email address.")
    verified = await call.transact(verification.verify, query.token)
    return _answer(
        call, "Your email address is verified", f"You can sign in with {verified.email} now.", back=verified.back
    )


def _answer(call: Call, heading: str, text: str, *, back: ReturnTarget | None = None) -> Message | Response:
    if prefers_json(call):
        return Message(message=f"{heading}. {text}")
    return page(call, "message.html", heading=heading, text=text, back=back, request_id=None)
