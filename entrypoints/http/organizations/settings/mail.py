"""The mail server of an organization (decisions 13.1)."""

from typing import Annotated, Final

import msgspec
import trio

from core.mail.mail import MailDeferred, MailMessage, MailRefused, MailTemplate
from core.mail.servers import TlsMode
from core.organizations.access import Operation
from core.organizations.settings import mail as settings
from core.organizations.settings.mail import PORT_MAX, MailServerSettings, MailServerUnset, WantedServer
from core.secrets import Secret
from entrypoints.web.calls import Call
from entrypoints.web.credentials import in_organization
from entrypoints.web.hidden import SecretBody
from entrypoints.web.routes import Routes

routes = Routes(
    "mail server",
    "An organization's own mail server, through which mails to its users leave. Mails that carry an account's secret,"
    " such as links to sign in, and warnings about accounts always leave by the platform's own.",
)

# Shorter than a request may take, and long enough for a slow mail server.
TEST_SECONDS_MAX: Final = 20.0


class MailServerBody(SecretBody, kw_only=True):
    """The mail server to set. Without `password` the stored one stays, if server and login are the same."""

    host: str
    port: Annotated[int, msgspec.Meta(ge=1, le=PORT_MAX)]
    tls: TlsMode
    from_name: str
    from_email: str
    username: str | None = None
    password: str | None = None


class MailServerTest(msgspec.Struct, kw_only=True):
    """To whom the test mail goes."""

    to: str


class MailServerTested(msgspec.Struct, kw_only=True):
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
async def set_mail_server(call: Call, slug: str, body: MailServerBody) -> MailServerSettings:
    """Set the mail server. Waiting mails are tried at once."""
    wanted = WantedServer(
        host=body.host,
        port=body.port,
        tls=body.tls,
        from_name=body.from_name,
        from_email=body.from_email,
        username=body.username,
        password=Secret(body.password) if body.password is not None else None,
    )
    return await call.transact(settings.configure, slug, wanted, allowed=call.installation.settings.outbound_allowed)


@routes.delete("/api/organizations/:slug/smtp", status=204, refuses=(MailServerUnset,))
@in_organization(Operation.MAIL_SERVER_CHANGE)
async def remove_mail_server(call: Call, slug: str) -> None:
    """Remove the mail server. Waiting mails leave by the platform's own."""
    await call.transact(settings.remove, slug)


@routes.post("/api/organizations/:slug/smtp/test", refuses=(MailServerUnset,))
@in_organization(Operation.MAIL_SERVER_CHANGE)
async def test_mail_server(call: Call, slug: str, body: MailServerTest) -> MailServerTested:
    """Send a test mail through the mail server, and answer what the server said."""
    prepared = await call.transact(settings.prepare_test, slug, body.to)
    installation = call.installation
    rendered = installation.mail_renderer.render(MailMessage(to=prepared.to, template=MailTemplate.TEST, values={}))
    try:
        with trio.fail_after(TEST_SECONDS_MAX):
            answer = await installation.routing_gateway.send(prepared.server, prepared.mail_id, prepared.to, rendered)
    except (MailRefused, MailDeferred) as failure:
        return MailServerTested(success=False, message=str(failure))
    except trio.TooSlowError:
        return MailServerTested(
            success=False, message=f"The mail server did not take the mail within {TEST_SECONDS_MAX:.0f} seconds."
        )
    await call.transact(settings.record_accepted_test, prepared)
    return MailServerTested(success=True, message=f"The mail server answered {answer}")
