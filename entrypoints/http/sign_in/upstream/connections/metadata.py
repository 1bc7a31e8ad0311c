"""Our SAML metadata for the identity provider of a connection."""

from typing import Annotated
from uuid import UUID

from quart import Response

from core.rate_limits import RateLimit
from core.sign_in.upstream import by_connection
from core.sign_in.upstream.by_connection import ConnectionClosed
from entrypoints.http.sign_in.upstream.connections import upstream_providers
from entrypoints.shared.sign_in.upstream.saml_connections import own_metadata
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.answering.answers import EXAMPLE_URL, Media
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("upstream connections", upstream_providers.routes.description)
METADATA_TYPE = "application/samlmetadata+xml"
METADATA_EXAMPLE = f'<EntityDescriptor entityID="{EXAMPLE_URL}/auth/upstream/1/metadata">…</EntityDescriptor>'


@routes.get("/auth/upstream/:connection_id/metadata", limits=(RateLimit.SAML,), refuses=(ConnectionClosed,))
@public
async def show_own_metadata(
    call: Call, connection_id: UUID
) -> Annotated[Response, Media(METADATA_TYPE, example=METADATA_EXAMPLE)]:
    """Return the metadata of Gatehouse as the service provider of a connection, for its identity provider.

    They contain the certificate of the connection's own key, and for seven days after a change the previous one. The
    key is made when it is first asked for.
    """
    side = await call.read(by_connection.own_side, connection_id)
    return Response(await own_metadata(call, connection_id, side), content_type=METADATA_TYPE)
