"""Testing a connection by a sign-in at its provider that begins no session, and the page that shows the result.

The button of a connection's page opens the sign-in in a new tab; `trial_judgements.py` reads the answer. The pages of a
setup link begin it in the same way (`setup.py`).
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.errors import Refusal
from core.organizations.access import Operation
from core.rate_limits import RateLimit
from core.sign_in.upstream import configuring
from core.sign_in.upstream.by_connection import OpenConnection
from core.sign_in.upstream.connections.connections import ConnectionUnknown
from core.sign_in.upstream.flows import Departure
from core.sign_in.upstream.provider_answers import UpstreamFailed
from core.sign_in.upstream.trials import trials
from core.sign_in.upstream.trials.trials import NothingToTry
from entrypoints.pages.console.frame import Program, console_page, opened, page_of
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.sign_in.upstream import provider_answers
from entrypoints.pages.sign_in.upstream.connections.connections import CONNECTION
from entrypoints.pages.sign_in.upstream.provider_problems import TO_MEMBERS
from entrypoints.pages.sign_in.upstream.trials import trial_judgements
from entrypoints.web.serving.admission.credentials import in_console
from entrypoints.web.serving.answering.answers import see_other
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

routes: Routes = console_pages()
TRIAL: Final = f"{CONNECTION}/trial"
LEADING: Final = marked("You are being led to your identity provider. Sign in there as your people do.")


@routes.get(TRIAL, refuses=(ConnectionUnknown,))
@in_console(Operation.CONNECTIONS_CHANGE)
async def show_connection_trial(
    call: Call, org_slug: str, connection_id: UUID, *, refusal: Refusal | None = None
) -> Page:
    """Show what the last trial sign-in of a connection has brought, and what would become of that person."""
    standing, found = await opened(call, org_slug, Operation.CONNECTIONS_CHANGE, configuring.show, connection_id)
    connection = found.state.connection
    return console_page(
        call,
        "sign_in/upstream/trials/trials.html",
        standing,
        program=Program("upstream_connections_test_upstream_provider", org_slug, connection_id),
        refusal=refusal,
        found=found,
        connection=connection,
        seen=connection.updated_at.isoformat(),
        sentences=TO_MEMBERS,
        lacks_configuring=standing.lacks(Operation.CONNECTION_CONFIGURE),
        page=f"{page_of(org_slug)}/sign-in/connections/{connection_id}",
        overview=f"{page_of(org_slug)}/sign-in",
    )


@routes.post(TRIAL, refuses=(ConnectionUnknown, NothingToTry))
@in_console(Operation.CONNECTIONS_CHANGE)
@shows_again(show_connection_trial, NothingToTry)
async def begin_connection_trial(call: Call, org_slug: str, connection_id: UUID) -> PageOrRedirect:
    """Lead the browser to the provider of a connection, switched on or off, for a test that begins no session."""
    target = await call.read(trials.find, org_slug, connection_id)
    page = trial_judgements.page_of_trial(org_slug, connection_id)
    return await leave(call, target, lambda uow: trials.begin(uow, org_slug, target), page)


async def leave(
    call: Call, target: OpenConnection, begin: "Callable[[UnitOfWork], Departure]", page: str
) -> PageOrRedirect:
    """Return what leads a browser to the provider of a connection; to `page` when that cannot be asked."""
    call.limit_organization(target.organization_id, RateLimit.CONNECTION_CHECK)
    # The provider is asked first: if it does not answer, no sign-in begins.
    try:
        described = await provider_answers.described(call, target, is_fresh=True)
    except UpstreamFailed as failed:
        answer = trial_judgements.failed(failed, claims=())
        await call.transact(lambda uow: trials.fail(uow, begin(uow), answer))
        return see_other(page)
    return await provider_answers.send(call, target, await call.transact(begin), described, after_form=LEADING)
