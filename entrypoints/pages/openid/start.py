"""The address of a tile: it leads to the page of the service that begins a sign-in."""

from typing import Annotated
from uuid import UUID

import msgspec

from core.openid import start
from core.openid.start import StartUnknown
from entrypoints.pages.frame.refusals import protocol_refusal_page
from entrypoints.shared.sessions.token_answers import CustomerName
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission.credentials import in_browser_or_not
from entrypoints.web.serving.admission.hosts import issuer_of, on_custom_hosts
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("OpenID Connect", "Signing in to services, in the browser.", protocol_refusal_page)


class StartQuery(Query, kw_only=True):
    """The parameters of the sign-in that the service gets."""

    customer: Annotated[
        CustomerName | None,
        msgspec.Meta(description="The customer of the service, by its id or slug; it is passed on as it is."),
    ] = None


@routes.get("/auth/start/:client_id", refuses=(StartUnknown,), status=303)
@on_custom_hosts
@in_browser_or_not
async def start_at_service(call: Call, client_id: UUID, query: StartQuery) -> None:
    """Begin a sign-in at a service: redirect to its `initiate_login_uri`, which sends the browser back to sign in.

    The address gets `iss`, the `customer` of this request as it is, and `login_hint` if the service knows the user.
    """
    call.headers["Location"] = await call.read(
        start.address, client_id, query.customer, call.browser, issuer=issuer_of(call)
    )
