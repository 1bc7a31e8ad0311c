"""The page that takes the code of an address, at the first sign-in by a connection that is made for a customer."""

from typing import Annotated

import msgspec

from core.rate_limits import RateLimit
from core.sign_in.upstream import address_codes, sign_in
from core.sign_in.upstream.address_codes import WrongAddressCode
from core.sign_in.upstream.by_connection import ConnectionClosed, OrganizationFull
from core.sign_in.upstream.flows import SignInOver
from entrypoints.pages.frame import returns
from entrypoints.pages.frame.rendering import Page, PageOrRedirect, form_page
from entrypoints.pages.frame.returns import ReturnQuery, WayForm
from entrypoints.pages.frame.routes import shows_again, sign_in_pages
from entrypoints.pages.sign_in import conclusion
from entrypoints.pages.sign_in.upstream.providers import (
    ADDRESS_CODE,
    RETURNING,
    carried_way,
    go_on_from,
    on_the_way_of,
    repeatable,
)
from entrypoints.shared.sessions.token_answers import transact_counted
from entrypoints.web.serving.admission import browsers
from entrypoints.web.serving.admission.credentials import in_browser_or_not
from entrypoints.web.serving.admission.hosts import on_custom_hosts
from entrypoints.web.serving.calls import Call

routes = sign_in_pages()


class AddressCodeQuery(ReturnQuery, kw_only=True):
    """The sign-in that waits for the code."""

    id: Annotated[str, msgspec.Meta(description="The id of the sign-in, valid once.", max_length=64)] = ""


class AddressCodeForm(WayForm, kw_only=True):
    """The code of the mail, and the sign-in that waits for it."""

    id: str = ""
    code: str = ""


@routes.get(ADDRESS_CODE)
@on_custom_hosts
@in_browser_or_not
async def show_address_code(
    call: Call,
    *,
    query: AddressCodeQuery | None = None,
    form: AddressCodeForm | None = None,
    refusal: WrongAddressCode | None = None,
) -> Page:
    """Ask for the code that was mailed to the address which the identity provider has named."""
    way = form.way if form is not None else query or AddressCodeQuery()
    kept = await returns.kept_return(call, way)
    return form_page(
        call,
        "sign_in/upstream/address_codes.html",
        status=refusal.code.status if refusal is not None else 200,
        **returns.shown(call, way, kept),
        id=form.id if form is not None else query.id if query is not None else "",
        page=ADDRESS_CODE,
        problem=refusal.message if refusal is not None else "",
    )


@routes.post(
    ADDRESS_CODE,
    limits=(RateLimit.LOGIN, RateLimit.SIGN_IN_GROUP),
    refuses=(*RETURNING, ConnectionClosed, OrganizationFull, SignInOver, WrongAddressCode),
)
@on_custom_hosts
@in_browser_or_not
@shows_again(show_address_code, WrongAddressCode)
async def submit_address_code(call: Call, form: AddressCodeForm) -> PageOrRedirect:
    """Complete a sign-in whose person has typed the code of their address."""
    confirmed = await transact_counted(
        call, address_codes.use, form.id, form.code, browser=browsers.upstream_binding(call)
    )
    began = confirmed.sign_in
    with on_the_way_of(call, began):
        async with repeatable(call, began):
            wanted = conclusion.destination(call, carried_way(began))
            outcome = await transact_counted(call, sign_in.conclude_confirmed, confirmed, wanted)
            return await go_on_from(call, began, outcome)
