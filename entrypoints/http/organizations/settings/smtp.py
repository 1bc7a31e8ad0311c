"""The mail server of an organization."""

from typing import Annotated

import msgspec

from core.organizations.access import Operation
from core.organizations.settings import smtp as settings
from core.organizations.settings.smtp import PORT_MAX, MailServerSettings, MailServerUnset, WantedServer
from core.secrets import Secret
from entrypoints.shared.organizations.mail_server_tests import send_test
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.admission.credentials import in_organization
from entrypoints.web.serving.answering.bodies import Input
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "mail server",
    "An organization's own mail server, through which mails to its users leave. Mails that carry an account's secret,"
    " such as links to sign in, and warnings about accounts always leave by the platform's own.",
)


class MailServerUpdate(Input, SecretBody, of=WantedServer):
    """The mail server to set. Without `password` the stored one stays, if server and login are the same."""

    port: Annotated[int, msgspec.Meta(ge=1, le=PORT_MAX)]
    password: str | None = None


class MailServerTest(msgspec.Struct, kw_only=True):
    """The recipient of the test mail."""

    to: str


class MailServerTestResult(msgspec.Struct, kw_only=True):
    """Whether the mail server took the test mail, and what it answered."""

    success: bool
    message: str


@routes.get("/api/organizations/:slug/smtp", refuses=(MailServerUnset,))
@in_organization(Operation.MAIL_SERVER_READ)
async def show_mail_server(call: Call, slug: str) -> MailServerSettings:
    """Show the mail server, whether it takes mail, and how many mails wait for it."""
    return await call.read(settings.show, slug)


@routes.put("/api/organizations/:slug/smtp")
@in_organization(Operation.MAIL_SERVER_SET)
async def set_mail_server(call: Call, slug: str, body: MailServerUpdate) -> MailServerSettings:
    """Set the mail server. Waiting mails are tried at once."""
    wanted = body.to(WantedServer, password=Secret(body.password) if body.password is not None else None)
    return await call.transact(settings.configure, slug, wanted, allowed=call.installation.settings.outbound_allowed)


@routes.delete("/api/organizations/:slug/smtp", status=204, refuses=(MailServerUnset,))
@in_organization(Operation.MAIL_SERVER_CHANGE)
async def remove_mail_server(call: Call, slug: str) -> None:
    """Remove the mail server. Waiting mails leave by the platform's own."""
    await call.transact(settings.remove, slug)


@routes.post("/api/organizations/:slug/smtp/test", refuses=(MailServerUnset,))
@in_organization(Operation.MAIL_SERVER_CHANGE)
async def test_mail_server(call: Call, slug: str, body: MailServerTest) -> MailServerTestResult:
    """Send a test mail through the mail server, and answer what the server said."""
    outcome = await send_test(call, slug, body.to)
    return MailServerTestResult(success=outcome.is_accepted, message=outcome.message)
