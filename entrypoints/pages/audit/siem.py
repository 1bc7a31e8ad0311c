"""The page of a setup link for the SIEM: the receiver of the audit log, a test, and the last error."""

from typing import Any, Final

from quart import Response

from core.audit import setup
from core.audit.siem import SiemOptions, SiemProvider, SiemRequest, SiemUnknown
from core.errors import BadRequest
from core.organizations.setup_links import SetupLinkDead
from core.secrets import Secret
from entrypoints.pages.audit import receiver_kinds
from entrypoints.pages.declaring import setup_pages, shows_again
from entrypoints.pages.organizations.setup import (
    LIMITS,
    KindQuery,
    SetupForm,
    part_page,
    protected_cookie,
    setup_cookie,
)
from entrypoints.pages.organizations.steps import kind_of
from entrypoints.pages.refusals import problems_of
from entrypoints.pages.rendering import Page, PageOrRedirect
from entrypoints.web.serving.answers import see_other
from entrypoints.web.serving.browsers import FormRefused
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import public

routes = setup_pages()

SIEM: Final = "/app/setup/parts/siem"


class SiemSetupForm(SetupForm, kw_only=True):
    """The receiver; an empty token keeps the one that the same receiver has."""

    siem_provider: str = ""
    endpoint: str = ""
    siem_token: str = ""
    index: str = ""


async def _page(
    call: Call,
    *,
    form: SiemSetupForm | None = None,
    refusal: BadRequest | None = None,
    tested: str = "",
    was_tested: bool = False,
    word: str = "",
) -> Response:
    shown = await call.read(setup.show, setup_cookie(call))
    typed = form or _stored(shown)
    problems = problems_of(refusal)
    return await part_page(
        call,
        "setup_siem.html",
        shown.setup,
        status=400 if problems else 200,
        stream=shown.configuration,
        typed=typed,
        problems=problems,
        kinds=receiver_kinds.KINDS,
        kind=kind_of(receiver_kinds.KINDS, word or typed.siem_provider),
        tested=tested,
        was_tested=was_tested,
    )


@routes.get(SIEM, refuses=(SetupLinkDead,))
@public
async def show_siem(call: Call, query: KindQuery) -> Page:
    """Show the receiver of the audit log, and how the stream is doing; before there is one, the steps of a kind."""
    return await _page(call, word=query.provider)


@routes.post(SIEM, limits=LIMITS, refuses=(SetupLinkDead, FormRefused))
@public
@shows_again(_page, BadRequest)
async def set_siem(call: Call, form: SiemSetupForm) -> PageOrRedirect:
    """Set the receiver; members use `POST /api/organizations/:slug/siem`."""
    cookie = protected_cookie(call, form)
    shown = await call.read(setup.show, cookie)
    await call.transact(
        setup.configure, cookie, _wanted(form, shown), allowed=call.installation.settings.outbound_allowed
    )
    return see_other(SIEM)


@routes.post("/app/setup/parts/siem/test", limits=LIMITS, refuses=(SetupLinkDead, FormRefused))
@public
async def test_siem(call: Call, form: SetupForm) -> PageOrRedirect:
    """Send a test event to the receiver, and show what it answered."""
    try:
        target, event = await call.transact(setup.prepare_test, protected_cookie(call, form))
    except SiemUnknown:
        return see_other(SIEM)
    receipt = await call.installation.siem_sender.send(target, [event])
    return await _page(call, tested=receipt.error or "", was_tested=True)


@routes.get(f"{SIEM}/delete", refuses=(SetupLinkDead, SiemUnknown))
@public
async def ask_to_delete_siem(call: Call) -> Page:
    """Show what ends with the stream, and ask whether it is to be deleted."""
    shown, stream = await call.read(setup.show_ends, setup_cookie(call))
    return await part_page(call, "setup_siem_deletion.html", shown, stream=stream)


@routes.post(f"{SIEM}/delete", limits=LIMITS, status=303, refuses=(SetupLinkDead, FormRefused, SiemUnknown))
@public
async def delete_siem(call: Call, form: SetupForm) -> None:
    """Delete the stream; members use `DELETE /api/organizations/:slug/siem`."""
    await call.transact(setup.remove, protected_cookie(call, form))
    call.headers["Location"] = SIEM


def _wanted(form: SiemSetupForm, shown: setup.SiemSetup) -> SiemRequest:
    try:
        provider = SiemProvider(form.siem_provider)
    except ValueError:
        raise BadRequest.of_field("provider", "Choose one of the receivers.") from None
    present = shown.configuration
    kept: dict[str, Any] = {}
    if present is not None:
        # What the page does not show stays.
        names = ("start", "source", "sourcetype", "service", "tags", "compress")
        kept = {name: getattr(present.options, name) for name in names}
    return SiemRequest(
        provider=provider,
        endpoint=form.endpoint.strip(),
        token=Secret(form.siem_token.strip()) if form.siem_token.strip() else None,
        options=SiemOptions(index=form.index.strip() or None, **kept),
        event_filter=present.event_filter if present is not None else None,
        enabled=True,
    )


def _stored(shown: setup.SiemSetup) -> SiemSetupForm:
    present = shown.configuration
    if present is None:
        return SiemSetupForm()
    return SiemSetupForm(
        # A query may contain a secret of the receiver, which the holder of a link did not enter.
        siem_provider=present.provider.value,
        endpoint=present.endpoint.partition("?")[0],
        index=present.options.index or "",
    )
