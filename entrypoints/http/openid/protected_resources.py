"""What programs that were refused find out about an API (RFC 9728): who issues its tokens, and how to send them.

Gatehouse describes its own interface, and the APIs of services, which are the audiences in their records. An API names
the address for it in its 401 (`resource_metadata`), and need not serve a document of its own.
"""

from typing import Any

from core.openid import protected_resources, scopes
from core.openid.protected_resources import AudienceUnknown
from entrypoints.http.openid.well_known import CACHE_SECONDS
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.admission.hosts import issuer_of, on_custom_hosts
from entrypoints.web.serving.answering.answers import PROTECTED_RESOURCE
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("OpenID Connect", "How clients find out who issues the tokens of an API.")


@routes.get(PROTECTED_RESOURCE, allows_any_origin=True)
@on_custom_hosts
@public
async def describe_interface(call: Call) -> dict[str, Any]:
    """Describe the interface of Gatehouse itself as a protected resource (RFC 9728).

    A client that names this `resource` asks for a token without an audience of its own.
    """
    base_url = call.installation.settings.base_url
    return {
        **_described(call, issuer_of(call)),
        "scopes_supported": list(scopes.ALL),
        "resource_documentation": f"{base_url}/docs",
    }


@routes.get(f"{PROTECTED_RESOURCE}/:resource", allows_any_origin=True, refuses=(AudienceUnknown,), takes_rest=True)
@on_custom_hosts
@public
async def describe_audience(call: Call, resource: str) -> dict[str, Any]:
    """Describe one of the `audiences` of a service, which is named without its `https://`.

    For `https://api.example.com/orders` the path ends in `/api.example.com/orders`; under a custom domain an audience
    there may be named by its path alone. The API names this address in its `WWW-Authenticate`, as `resource_metadata`.
    """
    query = call.request.query_string.decode("ascii", "replace")
    named = f"{resource}?{query}" if query else resource
    candidates = [f"https://{named}", *([f"{issuer_of(call)}/{named}"] if call.custom_host is not None else [])]
    return _described(call, await call.read(protected_resources.find, candidates))


def _described(call: Call, resource: str) -> dict[str, Any]:
    call.headers["Cache-Control"] = f"public, max-age={CACHE_SECONDS}"
    return {
        "resource": resource,
        "authorization_servers": [issuer_of(call)],
        "bearer_methods_supported": ["header"],
        "dpop_signing_alg_values_supported": list(call.installation.signatures.algorithms),
    }
