"""The pages of the SIEM, in the console and of a setup link: the receiver of the audit log, a test, how it is doing."""

from dataclasses import replace
from typing import Annotated, Any, Final

import msgspec
from quart import Response

from core.audit import siem, siem_console, siem_stream
from core.audit.siem import (
    SiemChanged,
    SiemConfiguration,
    SiemContent,
    SiemOptions,
    SiemProvider,
    SiemRequest,
    SiemUnknown,
    SignInsNotReadable,
)
from core.errors import BadRequest, Conflict, Refusal
from core.log_times import time_of
from core.organizations.access import Operation
from core.organizations.link_callers import Part, SetupLinkDead
from core.organizations.standing import Standing
from core.secrets import Secret
from entrypoints.pages.audit import receiver_kinds
from entrypoints.pages.console.frame import Program, after, console_page, opened, page_of
from entrypoints.pages.console.setup_steps import kind_of
from entrypoints.pages.frame.forms import DoneQuery, moment_seen, no_secret, typed_secret
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.refusals import problems_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, setup_pages, shows_again, shows_itself_again
from entrypoints.pages.organizations.setup import (
    LIMITS,
    PartQuery,
    done,
    part_page,
    require_own_form,
    sent,
    steps_of_page,
)
from entrypoints.pages.organizations.setup import opened as opened_by_link
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission.browsers import FormRefused, ProtectedForm, recent_for_form
from entrypoints.web.serving.admission.credentials import holding_setup_link, in_console
from entrypoints.web.serving.answering.answers import see_other
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = setup_pages()
console_routes: Routes = console_pages()

SIEM: Final = "/app/setup/parts/siem"


class SiemForm(ProtectedForm, kw_only=True):
    """The receiver, and when the one that the page has shown was changed; an empty token keeps that it has."""

    siem_provider: str = ""
    endpoint: str = ""
    siem_token: Secret = msgspec.field(default_factory=no_secret)
    index: str = ""
    include: str = ""
    seen_at: str = ""


@routes.get(SIEM, refuses=(SetupLinkDead,))
@holding_setup_link
async def show_siem(
    call: Call,
    *,
    query: PartQuery | None = None,
    form: SiemForm | None = None,
    refusal: BadRequest | None = None,
    tested: str = "",
    was_tested: bool = False,
) -> Page:
    """Show the receiver of the audit log, and how the stream is doing; before there is one, the steps of a kind."""
    setup, shown = await opened_by_link(call, Operation.SIEM_READ, siem_console.look_at)
    stream, throughput = shown if shown is not None else (None, None)
    query = query or PartQuery()
    typed = form or SiemForm(**_stored(stream))
    steps = {"receiver": stream is not None}
    if stream is not None:
        steps["stream"] = stream.last_success_at is not None
    chosen = "receiver" if refusal is not None or query.provider else "stream" if was_tested else query.step
    return await part_page(
        call,
        "audit/siem.html",
        setup,
        Part.SIEM,
        query=query,
        refusal=refusal,
        stream=stream,
        throughput=throughput,
        typed=typed,
        kinds=receiver_kinds.KINDS,
        kind=kind_of(receiver_kinds.KINDS, query.provider or typed.siem_provider),
        tested=tested,
        was_tested=was_tested,
        lacks_configuring=None,
        **steps_of_page(steps, chosen),
    )


@routes.post(SIEM, limits=LIMITS, refuses=(SetupLinkDead, FormRefused))
@holding_setup_link
@shows_again(show_siem, BadRequest)
async def set_siem(call: Call, form: SiemForm) -> PageOrRedirect:
    """Set the receiver; members use `POST /api/organizations/:slug/siem`."""
    require_own_form(call, form)
    _, shown = await opened_by_link(call, Operation.SIEM_CONFIGURE, siem_console.look_at)
    wanted = _wanted(form, shown[0] if shown is not None else None)
    await sent(call, form, siem.configure, wanted, allowed=call.installation.settings.outbound_allowed)
    return done(SIEM, "stream-saved")


@routes.post("/app/setup/parts/siem/test", limits=LIMITS, refuses=(SetupLinkDead, FormRefused))
@holding_setup_link
async def test_siem(call: Call, form: ProtectedForm) -> PageOrRedirect:
    """Send a test event to the receiver, and show what it answered."""
    try:
        target, event = await sent(call, form, siem_stream.prepare_test)
    except SiemUnknown:
        return see_other(SIEM)
    receipt = await call.installation.siem_sender.send(target, [event])
    return await show_siem(call, tested=receipt.error or "", was_tested=True)


@routes.get(f"{SIEM}/delete", refuses=(SetupLinkDead, SiemUnknown))
@holding_setup_link
async def ask_to_delete_siem(call: Call) -> Page:
    """Show what ends with the stream, and ask whether it is to be deleted."""
    setup, stream = await opened_by_link(call, Operation.SIEM_CHANGE, siem.show)
    return await part_page(call, "audit/siem_deletion.html", setup, Part.SIEM, stream=stream)


@routes.post(f"{SIEM}/delete", limits=LIMITS, status=303, refuses=(SetupLinkDead, FormRefused, SiemUnknown))
@holding_setup_link
async def delete_siem(call: Call, form: ProtectedForm) -> None:
    """Delete the stream; members use `DELETE /api/organizations/:slug/siem`."""
    await sent(call, form, siem.remove)
    call.headers["Location"] = SIEM


# What a receiver may get.
CONTENTS: Final = {
    "audit,sign_ins": marked("The audit log and the sign-ins"),
    "audit": marked("The audit log alone"),
    "sign_ins": marked("The sign-ins alone"),
}
CONSOLE_SIEM: Final = "/app/organizations/:org_slug/siem"


class SeenSiemForm(ProtectedForm, kw_only=True):
    """When the receiver that the page has shown was changed."""

    seen_at: str = ""


class SiemQuery(DoneQuery, kw_only=True):
    """The kind of receiver whose steps are shown, and what was just done."""

    provider: Annotated[str, msgspec.Meta(description="The kind of receiver whose steps are shown.")] = ""


class RestartQuery(Query, kw_only=True):
    """Since when entries are sent again."""

    since: Annotated[str, msgspec.Meta(description="The first day or time, in UTC.", max_length=40)] = ""


class RestartForm(SeenSiemForm, kw_only=True):
    """Since when entries are sent again; empty for all of them."""

    since: str = ""


async def _console_page(
    call: Call,
    org_slug: str,
    *,
    query: SiemQuery | None = None,
    form: SiemForm | None = None,
    tested: str = "",
    was_tested: bool = False,
    refusal: Refusal | None = None,
) -> Response:
    standing, found = await opened(call, org_slug, Operation.SIEM_READ, siem_console.look_at)
    stream, throughput = found if found is not None else (None, None)
    typed = form or SiemForm(**_stored(stream), include=_included(stream, standing))
    word = query.provider if query is not None else ""
    return console_page(
        call,
        "audit/siem.html",
        standing,
        program=Program("SIEM_show_siem", org_slug),
        done=query.done if query is not None else "",
        refusal=refusal,
        problems=problems_of(refusal),
        stream=stream,
        throughput=throughput,
        typed=typed,
        kinds=receiver_kinds.KINDS,
        kind=kind_of(receiver_kinds.KINDS, word or typed.siem_provider),
        tested=tested,
        was_tested=was_tested,
        lacks_configuring=standing.lacks(Operation.SIEM_CONFIGURE),
        contents=list(CONTENTS.items()),
        page=f"{page_of(org_slug)}/siem",
    )


@console_routes.get(CONSOLE_SIEM)
@in_console(Operation.SIEM_READ)
async def show_stream(call: Call, org_slug: str, query: SiemQuery) -> Page:
    """Show the receiver of the audit log and how the stream is doing; before there is one, the steps of a kind."""
    page = await _console_page(call, org_slug, query=query)
    await recent_for_form(call, if_acting=False)
    return page


@console_routes.post(CONSOLE_SIEM, refuses=(BadRequest, SiemChanged, SignInsNotReadable))
@in_console(Operation.SIEM_CONFIGURE)
@shows_again(_console_page, BadRequest, Conflict, SignInsNotReadable)
async def set_stream(call: Call, org_slug: str, form: SiemForm) -> PageOrRedirect:
    """Set the receiver; programs use `POST /api/organizations/:slug/siem`."""
    _, found = await opened(call, org_slug, Operation.SIEM_CONFIGURE, siem_console.look_at)
    present = found[0] if found is not None else None
    wanted = replace(_wanted(form, present), include=_chosen(form.include))
    if present is not None and wanted.endpoint == present.endpoint.partition("?")[0]:
        # Its query is not shown, and stays.
        wanted = replace(wanted, endpoint=present.endpoint)
    allowed = call.installation.settings.outbound_allowed
    seen_at = moment_seen(form.seen_at)
    await call.transact(siem_console.replace_seen, org_slug, wanted, allowed=allowed, seen_at=seen_at)
    return after(f"{page_of(org_slug)}/siem", "stream-saved")


@console_routes.post(f"{CONSOLE_SIEM}/test", refuses=(SiemUnknown,))
@in_console(Operation.SIEM_CHANGE)
async def test_stream(call: Call, org_slug: str) -> Page:
    """Send a test event, and show what the receiver answered; programs use `POST …/siem/test`."""
    target, event = await call.transact(siem_stream.prepare_test, org_slug)
    receipt = await call.installation.siem_sender.send(target, [event])
    return await _console_page(call, org_slug, tested=receipt.error or "", was_tested=True)


async def _after_refusal(call: Call, org_slug: str, *, refusal: Refusal) -> Response:
    return await _console_page(call, org_slug, refusal=refusal)


async def _switch(call: Call, org_slug: str, form: SeenSiemForm, *, enabled: bool) -> PageOrRedirect:
    allowed = call.installation.settings.outbound_allowed
    seen_at = moment_seen(form.seen_at)
    await call.transact(siem_console.switch, org_slug, enabled=enabled, allowed=allowed, seen_at=seen_at)
    return after(f"{page_of(org_slug)}/siem", "stream-resumed" if enabled else "stream-paused")


@console_routes.post(f"{CONSOLE_SIEM}/pause", refuses=(SiemUnknown, SiemChanged, BadRequest))
@in_console(Operation.SIEM_CONFIGURE)
@shows_again(_after_refusal, Conflict, BadRequest)
async def pause_stream(call: Call, org_slug: str, form: SeenSiemForm) -> PageOrRedirect:
    """Pause the stream; programs use `POST /api/organizations/:slug/siem`."""
    return await _switch(call, org_slug, form, enabled=False)


@console_routes.post(f"{CONSOLE_SIEM}/resume", refuses=(SiemUnknown, SiemChanged, BadRequest))
@in_console(Operation.SIEM_CONFIGURE)
@shows_again(_after_refusal, Conflict, BadRequest)
async def resume_stream(call: Call, org_slug: str, form: SeenSiemForm) -> PageOrRedirect:
    """Resume the stream where it was; programs use `POST /api/organizations/:slug/siem`."""
    return await _switch(call, org_slug, form, enabled=True)


@console_routes.get(f"{CONSOLE_SIEM}/restart", refuses=(SiemUnknown, BadRequest))
@in_console(Operation.SIEM_CONFIGURE)
@shows_itself_again(BadRequest)
async def ask_to_restart_stream(
    call: Call,
    org_slug: str,
    *,
    query: RestartQuery | None = None,
    form: RestartForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show how many entries are sent again since a moment, and ask whether they are to be."""
    since = form.since if form is not None else query.since if query is not None else ""
    is_odd = isinstance(refusal, BadRequest)
    standing, (stream, entries) = await opened(
        call, org_slug, Operation.SIEM_CONFIGURE, siem_console.plan_restart, "" if is_odd else since
    )
    return console_page(
        call,
        "audit/siem_restart.html",
        standing,
        program=Program("SIEM_restart_siem", org_slug, body={"since": "2026-02-03T04:05:00Z"}),
        refusal=refusal,
        problems=problems_of(refusal),
        stream=stream,
        since=since,
        entries=None if is_odd else entries,
        page=f"{page_of(org_slug)}/siem",
    )


@console_routes.post(f"{CONSOLE_SIEM}/restart", refuses=(SiemUnknown, SiemChanged, BadRequest))
@in_console(Operation.SIEM_CONFIGURE)
@shows_again(ask_to_restart_stream, BadRequest, Conflict)
async def restart_stream(call: Call, org_slug: str, form: RestartForm) -> PageOrRedirect:
    """Send entries again since a moment; programs use `POST /api/organizations/:slug/siem/restart`."""
    since = time_of("since", form.since) if form.since.strip() else None
    await call.transact(siem_console.restart, org_slug, since, seen_at=moment_seen(form.seen_at))
    return after(f"{page_of(org_slug)}/siem", "stream-restarted")


@console_routes.get(f"{CONSOLE_SIEM}/delete", refuses=(SiemUnknown,))
@in_console(Operation.SIEM_CHANGE)
async def ask_to_delete_stream(call: Call, org_slug: str, *, refusal: Refusal | None = None) -> Page:
    """Show what ends with the stream, in numbers."""
    standing, stream = await opened(call, org_slug, Operation.SIEM_CHANGE, siem.show)
    return console_page(
        call,
        "audit/siem_deletion.html",
        standing,
        program=Program("SIEM_remove_siem", org_slug),
        refusal=refusal,
        stream=stream,
        page=f"{page_of(org_slug)}/siem",
    )


@console_routes.post(f"{CONSOLE_SIEM}/delete", refuses=(SiemUnknown, SiemChanged))
@in_console(Operation.SIEM_CHANGE)
@shows_again(ask_to_delete_stream, Conflict)
async def delete_stream(call: Call, org_slug: str, form: SeenSiemForm) -> PageOrRedirect:
    """Delete the stream; programs use `DELETE /api/organizations/:slug/siem`."""
    await call.transact(siem.remove, org_slug, seen_at=moment_seen(form.seen_at))
    return after(f"{page_of(org_slug)}/siem", "stream-deleted")


def _wanted(form: SiemForm, present: SiemConfiguration | None) -> SiemRequest:
    try:
        provider = SiemProvider(form.siem_provider)
    except ValueError:
        raise BadRequest.of_field("provider", "Choose one of the receivers.") from None
    kept: dict[str, Any] = {}
    if present is not None:
        # What the page does not show stays.
        names = ("start", "source", "sourcetype", "service", "tags", "compress")
        kept = {name: getattr(present.options, name) for name in names}
    return SiemRequest(
        provider=provider,
        endpoint=form.endpoint.strip(),
        token=typed_secret(form.siem_token),
        options=SiemOptions(index=form.index.strip() or None, **kept),
        event_filter=present.event_filter if present is not None else None,
        enabled=True,
    )


def _chosen(word: str) -> list[SiemContent] | None:
    """Return what a form has chosen, None for a form without a choice; raise `BadRequest` for what is not offered."""
    if word and word not in CONTENTS:
        raise BadRequest.of_field("include", "Name audit, sign_ins, or both.")
    return [SiemContent(one) for one in word.split(",")] if word else None


def _included(present: SiemConfiguration | None, standing: Standing) -> str:
    """Return what a receiver gets, or would get if it were saved now."""
    if present is not None:
        return ",".join(one.value for one in present.include)
    return "audit" if standing.lacks(Operation.SIGN_INS_READ) else "audit,sign_ins"


def _stored(present: SiemConfiguration | None) -> dict[str, Any]:
    """Return the fields of a form with what is stored."""
    if present is None:
        return {}
    return {
        # A query may contain a secret of the receiver, which the reader did not enter.
        "siem_provider": present.provider.value,
        "endpoint": present.endpoint.partition("?")[0],
        "index": present.options.index or "",
    }
