"""The pages of the mail server of an organization: its state, setting it, a test mail, removing it."""

from typing import Any, Final

from msgspec import field

from core.errors import BadRequest, RateLimitExceeded, Refusal
from core.mail.servers import TlsMode
from core.organizations.access import Operation
from core.organizations.authorization import authorize
from core.organizations.settings import smtp
from core.organizations.settings.smtp import (
    PORT_MAX,
    MailServerChanged,
    MailServerSettings,
    MailServerUnset,
    WantedServer,
    seen_state_of,
)
from core.secrets import Secret
from entrypoints.pages.console.frame import Program, after, console_page, opened, page_of
from entrypoints.pages.frame.forms import DoneQuery, SeenStateForm, no_secret
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.refusals import problems_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.shared.organizations.mail_server_tests import MailTestOutcome, send_test
from entrypoints.web.serving.admission.browsers import ProtectedForm, recent_for_form
from entrypoints.web.serving.admission.credentials import in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

MAIL: Final = "/app/organizations/:org_slug/mail"
ENCRYPTIONS: Final = [
    (TlsMode.STARTTLS.value, marked("STARTTLS, usually at port 587")),
    (TlsMode.TLS.value, marked("TLS from the first byte, usually at port 465")),
    (TlsMode.NONE.value, marked("None, which allows no login")),
]


class MailServerForm(ProtectedForm, kw_only=True):
    """The mail server to set, and the state of the settings that the page has shown."""

    host: str = ""
    port: str = "587"
    tls: str = TlsMode.STARTTLS.value
    username: str = ""
    password: Secret = field(default_factory=no_secret)
    from_name: str = ""
    from_email: str = ""
    seen_state: str = ""

    def wanted(self) -> WantedServer:
        """Return what is to be set; raise `BadRequest` for an encryption that the page does not offer."""
        if self.tls not in dict(ENCRYPTIONS):
            raise BadRequest.of_field("tls", "Choose one of these kinds of encryption.")
        return WantedServer(
            host=self.host,
            port=_port_of(self.port),
            tls=TlsMode(self.tls),
            username=self.username.strip() or None,
            password=self.password if self.password.reveal() else None,
            from_name=self.from_name,
            from_email=self.from_email.strip(),
        )


class MailTestForm(ProtectedForm, kw_only=True):
    """The recipient of the test mail."""

    to: str = ""


async def _page(
    call: Call,
    org_slug: str,
    *,
    query: DoneQuery | None = None,
    form: MailServerForm | MailTestForm | SeenStateForm | None = None,
    tested: MailTestOutcome | None = None,
    refusal: Refusal | None = None,
) -> Page:
    standing, server = await opened(call, org_slug, Operation.MAIL_SERVER_READ, smtp.find)
    typed = form if isinstance(form, MailServerForm) else _form_of(server)
    return console_page(
        call,
        "organizations/settings/smtp.html",
        standing,
        program=Program("mail_server_set_mail_server", org_slug, body=_body(typed)),
        done=query.done if query is not None else "",
        refusal=refusal,
        server=server,
        form=typed,
        # What the page shows now is what the next form has seen.
        seen_state=seen_state_of(server),
        to=form.to if isinstance(form, MailTestForm) else call.in_browser.email,
        tested=tested,
        problems=problems_of(refusal),
        encryptions=ENCRYPTIONS,
        page=f"{page_of(org_slug)}/mail",
    )


@routes.get(MAIL)
@in_console(Operation.MAIL_SERVER_READ)
async def show_mail_server_page(call: Call, org_slug: str, query: DoneQuery) -> Page:
    """Show the mail server of an organization, whether it takes mail, and how many mails wait."""
    page = await _page(call, org_slug, query=query)
    await recent_for_form(call, if_acting=False)
    return page


@routes.post(MAIL, refuses=(BadRequest, MailServerChanged))
@in_console(Operation.MAIL_SERVER_SET)
@shows_again(_page, BadRequest, MailServerChanged)
async def save_mail_server(call: Call, org_slug: str, form: MailServerForm) -> PageOrRedirect:
    """Set the mail server; programs use `PUT /api/organizations/:slug/smtp`."""
    await call.read(authorize, org_slug, Operation.MAIL_SERVER_SET)
    await call.transact(
        smtp.configure,
        org_slug,
        form.wanted(),
        allowed=call.installation.settings.outbound_allowed,
        seen_state=form.seen_state,
    )
    return after(f"{page_of(org_slug)}/mail", "mail-server-saved")


@routes.post(f"{MAIL}/test", refuses=(BadRequest, MailServerUnset, RateLimitExceeded))
@in_console(Operation.MAIL_SERVER_CHANGE)
@shows_again(_page, BadRequest, MailServerUnset, RateLimitExceeded)
async def press_test(call: Call, org_slug: str, form: MailTestForm) -> Page:
    """Send a test mail, and show what the server said; programs use `POST /api/organizations/:slug/smtp/test`."""
    return await _page(call, org_slug, form=form, tested=await send_test(call, org_slug, form.to))


@routes.get(f"{MAIL}/removal", refuses=(MailServerUnset,))
@in_console(Operation.MAIL_SERVER_CHANGE)
async def ask_to_remove_mail_server(call: Call, org_slug: str) -> Page:
    """Show what happens without the mail server, in numbers, and ask whether it is to be removed."""
    standing, server = await opened(call, org_slug, Operation.MAIL_SERVER_CHANGE, smtp.show)
    return console_page(
        call,
        "organizations/settings/smtp_removal.html",
        standing,
        program=Program("mail_server_remove_mail_server", org_slug),
        server=server,
        seen_state=seen_state_of(server),
        page=f"{page_of(org_slug)}/mail",
    )


@routes.post(f"{MAIL}/removal", refuses=(MailServerUnset, MailServerChanged))
@in_console(Operation.MAIL_SERVER_CHANGE)
@shows_again(_page, MailServerUnset, MailServerChanged)
async def remove_mail_server_for_good(call: Call, org_slug: str, form: SeenStateForm) -> PageOrRedirect:
    """Remove the mail server; programs use `DELETE /api/organizations/:slug/smtp`."""
    await call.transact(smtp.remove, org_slug, seen_state=form.seen_state)
    return after(f"{page_of(org_slug)}/mail", "mail-server-removed")


def _form_of(server: MailServerSettings | None) -> MailServerForm:
    if server is None:
        return MailServerForm()
    return MailServerForm(
        host=server.host,
        port=str(server.port),
        tls=server.tls.value,
        username=server.username or "",
        from_name=server.from_name,
        from_email=server.from_email,
    )


def _body(form: MailServerForm) -> dict[str, Any]:
    """Return the body of the call that sets this server, without the password that was typed."""
    login = {"username": form.username, "password": "$PASSWORD"} if form.username else {}
    return {
        "host": form.host or "mail.example.com",
        "port": _port_of(form.port),
        "tls": form.tls,
        **login,
        "from_name": form.from_name or "Example",
        "from_email": form.from_email or "id@example.com",
    }


def _port_of(typed: str) -> int:
    """Return the typed number; 0, which is no port, for a text that is no number."""
    port = typed.strip()
    return int(port) if port.isascii() and port.isdigit() and len(port) <= len(str(PORT_MAX)) else 0
