"""The SIEM of an organization: where its audit log is streamed to."""

from datetime import datetime
from typing import Annotated

import msgspec
import trio

from core.audit import siem, siem_console, siem_stream
from core.audit.siem import SiemConfiguration, SiemRequest, SiemUnknown
from core.errors import Forbidden
from core.organizations.access import Operation
from core.secrets import Secret
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.admission.credentials import in_organization
from entrypoints.web.serving.answering.bodies import Input
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "SIEM",
    "Streaming an organization's audit log and its sign-ins to its SIEM: JSON lines over HTTP, Splunk, Datadog or"
    " Elastic. Both are sent in their order, in batches of at most 500 every five seconds, and at least once: after a"
    " failure the stream goes on where it was.",
)


class SiemSettings(Input, SecretBody, of=SiemRequest):
    """The receiver: its interface, its URL, its token, and what it gets.

    Without `token`, the receiver at the same address keeps its token; an empty one removes it. `include` names `audit`,
    `sign_ins`, or both: without it, a new receiver gets both, and another one what it got. `event_filter` lists
    prefixes of actions, such as `user.`; without it every entry is sent. It says nothing about sign-ins.
    """

    token: str | None = None


class SiemRestart(msgspec.Struct, kw_only=True):
    """The moment since which entries and sign-ins are sent again; null for the beginning of the logs."""

    since: Annotated[datetime, msgspec.Meta(tz=True)] | None = None


class SiemRemoved(msgspec.Struct, kw_only=True):
    """The configuration was deleted."""

    success: bool
    message: str


class SiemTestResult(msgspec.Struct, kw_only=True):
    """What came back for the test event; `status_code` is null when the receiver did not answer."""

    success: bool
    status_code: int | None
    latency_ms: int
    message: str


@routes.post("/api/organizations/:slug/siem", refuses=(Forbidden,))
@in_organization(Operation.SIEM_CONFIGURE)
async def configure_siem(call: Call, slug: str, body: SiemSettings) -> SiemConfiguration:
    """Create the configuration, or replace it. A replaced one continues where the stream was.

    You also need `audit_logs.view`, because the SIEM reads the audit log, and `end_users.view` for sign-ins.
    """
    return await call.transact(
        siem.configure,
        slug,
        body.to(SiemRequest, token=Secret(body.token) if body.token is not None else None),
        allowed=call.installation.settings.outbound_allowed,
    )


@routes.get("/api/organizations/:slug/siem", refuses=(SiemUnknown,))
@in_organization(Operation.SIEM_READ)
async def show_siem(call: Call, slug: str) -> SiemConfiguration:
    """Show the configuration without its token, and how far the stream is."""
    return await call.read(siem.show, slug)


@routes.post("/api/organizations/:slug/siem/restart", refuses=(SiemUnknown,))
@in_organization(Operation.SIEM_CONFIGURE)
async def restart_siem(call: Call, slug: str, body: SiemRestart) -> SiemConfiguration:
    """Send the entries and sign-ins since a moment once more, or all of them without `since`, and go on from there.

    You also need `audit_logs.view`, because the SIEM reads the audit log.
    """
    return await call.transact(siem_console.restart, slug, body.since)


@routes.delete("/api/organizations/:slug/siem", refuses=(SiemUnknown,))
@in_organization(Operation.SIEM_CHANGE)
async def remove_siem(call: Call, slug: str) -> SiemRemoved:
    """Delete the configuration. One that is created later does not go on where this one was."""
    await call.transact(siem.remove, slug)
    return SiemRemoved(success=True, message="The SIEM configuration was deleted. Nothing is sent any more.")


@routes.post("/api/organizations/:slug/siem/test", refuses=(SiemUnknown,))
@in_organization(Operation.SIEM_CHANGE)
async def test_siem(call: Call, slug: str) -> SiemTestResult:
    """Send a test event with the stored configuration, also while it is disabled."""
    target, event = await call.transact(siem_stream.prepare_test, slug)
    began_at = trio.current_time()
    receipt = await call.installation.siem_sender.send(target, [event])
    return SiemTestResult(
        success=receipt.error is None,
        status_code=receipt.status_code,
        latency_ms=round((trio.current_time() - began_at) * 1000),
        message=receipt.error or "The receiver took the test event.",
    )
