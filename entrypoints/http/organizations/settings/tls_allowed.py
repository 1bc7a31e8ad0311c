"""Whether a proxy may get a certificate for a name."""

from typing import Annotated, Final

import msgspec
from quart import Response

from core.errors import NotFound
from entrypoints.http.organizations.settings import domain as custom_domain
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission import hosts
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.answering.answers import Media
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

TEXT: Final = "text/plain"

routes = Routes("custom domain", custom_domain.routes.description)


class TlsQuestion(Query, kw_only=True):
    """The name for which a proxy wants a certificate."""

    domain: Annotated[str, msgspec.Meta(description="The name of the host.")]


@routes.get("/internal/tls-allowed", is_operational=True, refuses=(NotFound,))
@public
async def is_tls_allowed(call: Call, query: TlsQuestion) -> Annotated[Response, Media(TEXT)]:
    """Return 200 when a proxy may get a certificate for this name: our own, or a custom domain that is in force."""
    if not await hosts.is_served(call, query.domain):
        raise NotFound
    return Response("allowed\n", content_type=f"{TEXT}; charset=utf-8")
