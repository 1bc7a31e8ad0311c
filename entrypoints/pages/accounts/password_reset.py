"""The page behind the link to choose a new password: a form, so that the link works without any frontend."""

from core.accounts import password_reset, passwords
from core.accounts.links import LinkUnusable
from core.accounts.password_reset import Reset
from entrypoints.pages.forms import MailedLink, MailedLinkForm, read_form
from entrypoints.pages.refusals import refusal_page
from entrypoints.pages.rendering import Page, page
from entrypoints.web.calls import Call
from entrypoints.web.credentials import public
from entrypoints.web.routes import Routes

routes = Routes("passwords", "Setting, changing and recovering a password.", refusal_page)


class ResetForm(MailedLinkForm, kw_only=True):
    """What the form says."""

    new_password: str = ""
    repeated: str = ""


@routes.get("/auth/reset-password", refuses=(LinkUnusable,))
@public
async def show_reset_form(call: Call, query: MailedLink) -> Page:
    """Show the form behind the mailed link, which spends nothing."""
    return _form(call, query.token, await call.read(password_reset.inspect, query.token))


@routes.post("/auth/reset-password", refuses=(LinkUnusable,))
@public
async def submit_reset_form(call: Call) -> Page:
    """Take the form of the page; programs use `POST /api/auth/reset-password`."""
    form = await read_form(call, ResetForm)
    asked = await call.read(password_reset.inspect, form.token)
    password_problem = passwords.problem(form.new_password)
    repeated_problem = None if form.new_password == form.repeated else "This is not what you typed above."
    if password_problem is not None or repeated_problem is not None:
        return _form(
            call, form.token, asked, password_problem=password_problem or "", repeated_problem=repeated_problem or ""
        )
    password_hash = await call.installation.passwords.hash(form.new_password)
    done = await call.transact(password_reset.reset, form.token, password_hash)
    return page(
        call,
        "message.html",
        heading="Your new password is saved",
        text="Every session of your account has ended. Sign in again with the new password.",
        back=done.back,
        request_id=None,
    )


def _form(call: Call, token: str, asked: Reset, *, password_problem: str = "", repeated_problem: str = "") -> Page:
    return page(
        call,
        "reset_password.html",
        status=400 if password_problem or repeated_problem else 200,
        token=token,
        email=asked.email,
        place=asked.back.name,
        password_problem=password_problem,
        repeated_problem=repeated_problem,
    )
