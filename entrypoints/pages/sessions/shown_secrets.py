"""Secrets on pages: the form that makes one leads to a page that shows it once.

    @routes.post(KEYS, status=303, makes_secret=True)
    @in_console(Operation.KEY_CREATE)
    async def make_key(call: Call, org_slug: str, form: KeyForm) -> PageOrRedirect:
        return await leading_to(call, lambda uow: keys.create(uow, org_slug, ...), lambda made: ToShow(...))

    @routes.get(f"{KEYS}/:key_id/shown/:shown_id", shows_secret=True)
    @in_console(Operation.KEY_CREATE)
    async def show_new_key(call: Call, org_slug: str, key_id: UUID, shown_id: UUID) -> Page:
        standing, found = await opened(...)
        secrets = await shown_once(call, shown_id)

The page is below the one that `ToShow` names, at `/shown/:shown_id`. Its texts come from `shown_once` alone: no other
code of the pages reveals a secret, and a route that declares neither is refused one. From the declarations follows that
the user is asked to sign in again (`Route.asks_to_confirm`), as where a form has a field of `Secret`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, TypeVar
from uuid import UUID

from quart import Response

from core.errors import Refusal
from core.sessions import shown_secrets
from core.sessions.shown_secrets import Holder, ToShow
from entrypoints.pages.console.frame import with_query
from entrypoints.web.serving.answering.answers import see_other
from entrypoints.web.serving.calls import Call

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

Made = TypeVar("Made")

_SHOWN: Final = "/shown/"


async def made_to_show(
    call: Call,
    make: Callable[[UnitOfWork], Made | Refusal],
    to_show: Callable[[Made], ToShow],
    *,
    holder: Holder | None = None,
    query: Mapping[str, str] | None = None,
) -> tuple[Made, Response]:
    """Run the use case that makes secrets; return what it made, and the response that leads to the page with them.

    They are of the browser session, unless another holder is named. Without a secret, the response leads to the page
    that `to_show` names.
    """
    assert call.makes_secret, "a route that makes a secret does not declare it"
    made, shown_id = await call.transact(shown_secrets.keep, holder or _holder(call), make, to_show)
    page = to_show(made).page
    return made, see_other(with_query(page if shown_id is None else f"{page}{_SHOWN}{shown_id}", **query or {}))


async def leading_to(
    call: Call,
    make: Callable[[UnitOfWork], Made | Refusal],
    to_show: Callable[[Made], ToShow],
    *,
    holder: Holder | None = None,
    query: Mapping[str, str] | None = None,
) -> Response:
    """Run the use case that makes secrets, and return the response that leads to the page with them."""
    _, response = await made_to_show(call, make, to_show, holder=holder, query=query)
    return response


async def shown_once(call: Call, shown_id: UUID, *, holder: Holder | None = None) -> tuple[str, ...]:
    """Return the secrets of a page for the only time; nothing where they may not be shown, or no longer.

    A request for the head of the page leaves them for the page.
    """
    assert call.shows_secret, "a route that shows a secret does not declare it"
    if call.request.method == "HEAD":
        return ()
    page = call.request.path.rpartition(_SHOWN)[0]
    found = await call.step(shown_secrets.show, holder or _holder(call), shown_id, page=page)
    return tuple(secret.reveal() for secret in found or ())


def _holder(call: Call) -> Holder:
    return Holder(session_id=call.in_browser.session_id)
