"""The page of the password reset link: a form, so that the link works without a frontend."""

from core.accounts import password_reset, passwords
from core.accounts.links import LinkUnusable
from core.accounts.password_reset import Reset
from entrypoints.pages.brands import brand_of
from entrypoints.pages.forms import MailedLink, MailedLinkForm
from entrypoints.pages.refusals import refusal_page
from entrypoints.pages.rendering import Page, page
from entrypoints.web.calls import Call
from entrypoints.web.credentials import public
from entrypoints.web.routes import Routes

routes = Routes("passwords", "Setting, changing and recovering a password.", refusal_page)


class ResetForm(MailedLinkForm, kw_only=True):
    """The fields of the form."""

    new_password: str = ""
    repeated: str = ""


@routes.get("/auth/reset-password", refuses=(LinkUnusable,))
@public
async def show_reset_form(call: Call, query: MailedLink) -> Page:
    """Show the form of the mailed link; opening it does not use up the link."""
    return await _form(call, query.token, await call.read(password_reset.inspect, query.token))


@routes.post("/auth/reset-password", refuses=(LinkUnusable,))
@public
async def submit_reset_form(call: Call, form: ResetForm) -> Page:
    """Set the new password from the form of the page; programs use `POST /api/auth/reset-password`."""
    reset = await call.read(password_reset.inspect, form.token)
    password_problem = passwords.problem(form.new_password)
    repeated_problem = None if form.new_password == form.repeated else "The passwords do not match."
    if password_problem is not None or repeated_problem is not None:
        return await _form(
            call, form.token, reset, password_problem=password_problem or "", repeated_problem=repeated_problem or ""
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
        brand=await brand_of(call, done.back.organization_id),
    )


async def _form(
    call: Call, token: str, reset: Reset, *, password_problem: str = "", repeated_problem: str = ""
) -> Page:
    return page(
        call,
        "reset_password.html",
        status=400 if password_problem or repeated_problem else 200,
        token=token,
        email=reset.email,
        place=reset.back.name,
        password_problem=password_problem,
        repeated_problem=repeated_problem,
        brand=await brand_of(call, reset.back.organization_id),
    )
