"""The documents with which clients configure themselves (OpenID Connect Discovery; RFC 8414)."""

from datetime import timedelta
from typing import Annotated, Any, Final

import msgspec
from quart import Response

from core.errors import NotFound
from core.openid import pkce, requests, scopes
from core.sessions.security_profiles import SignatureAlgorithm
from entrypoints.http.openid.tokens import GRANT_TYPES
from entrypoints.web.input import languages
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.admission.hosts import issuer_of, on_custom_hosts
from entrypoints.web.serving.answering.answers import Media
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("OpenID Connect", "How clients configure themselves.")

CACHE_SECONDS: Final = 300
TEXT: Final = "text/plain"
SECURITY_TEXT_LIFETIME: Final = timedelta(days=90)
AUTHENTICATION_METHODS: Final = ("client_secret_basic", "client_secret_post", "private_key_jwt")
CLAIMS: Final = (
    "iss",
    "sub",
    "aud",
    "exp",
    "iat",
    "auth_time",
    "nonce",
    "acr",
    "amr",
    "at_hash",
    "sid",
    "email",
    "email_verified",
    "preferred_username",
    "groups",
    "groups_overage",
    "name",
    "given_name",
    "family_name",
)


class PasskeyEndpoints(msgspec.Struct, kw_only=True):
    """The pages on which a person adds passkeys and manages them."""

    enroll: str
    manage: str


@routes.get("/.well-known/openid-configuration", allows_any_origin=True)
@on_custom_hosts
@public
async def openid_configuration(call: Call) -> dict[str, Any]:
    """Describe this OpenID provider: its endpoints, and what they support."""
    return _described(call)


@routes.get("/.well-known/oauth-authorization-server", allows_any_origin=True)
@on_custom_hosts
@public
async def authorization_server(call: Call) -> dict[str, Any]:
    """Describe the same as an OAuth authorization server (RFC 8414)."""
    return _described(call)


@routes.get("/.well-known/passkey-endpoints")
@public
async def passkey_endpoints(call: Call) -> PasskeyEndpoints:
    """Name the pages on which a person adds and manages passkeys, for password managers (W3C, Passkey Endpoints)."""
    call.headers["Cache-Control"] = f"public, max-age={CACHE_SECONDS}"
    page = f"{call.installation.settings.base_url}/app/account/passkeys"
    return PasskeyEndpoints(enroll=f"{page}/new", manage=page)


@routes.get("/.well-known/security.txt", refuses=(NotFound,))
@public
async def security_txt(call: Call) -> Annotated[Response, Media(TEXT)]:
    """Say where security problems of this installation are reported (RFC 9116).

    It is 404 where the operator has set no contact.
    """
    settings = call.installation.settings
    if settings.security_contact is None:
        raise NotFound
    # The same for a day, so that caches keep one text; readers ask again before it expires.
    expires_at = call.installation.clock().replace(hour=0, minute=0, second=0, microsecond=0) + SECURITY_TEXT_LIFETIME
    lines = (
        f"Contact: {settings.security_contact}",
        f"Expires: {expires_at:%Y-%m-%dT%H:%M:%SZ}",
        f"Preferred-Languages: {', '.join(languages.TAGS)}",
        f"Canonical: {settings.base_url}/.well-known/security.txt",
    )
    call.headers["Cache-Control"] = f"public, max-age={CACHE_SECONDS}"
    return Response("".join(f"{line}\n" for line in lines), content_type=f"{TEXT}; charset=utf-8")


def _described(call: Call) -> dict[str, Any]:
    call.headers["Cache-Control"] = f"public, max-age={CACHE_SECONDS}"
    installation = call.installation
    base_url, algorithms = issuer_of(call), list(installation.signatures.algorithms)
    return {
        "issuer": base_url,
        "authorization_endpoint": f"{base_url}/auth/authorize",
        "token_endpoint": f"{base_url}/auth/token",
        "userinfo_endpoint": f"{base_url}/auth/userinfo",
        "jwks_uri": f"{base_url}/.well-known/jwks.json",
        "introspection_endpoint": f"{base_url}/auth/introspect",
        "revocation_endpoint": f"{base_url}/auth/revoke",
        "end_session_endpoint": f"{base_url}/auth/logout",
        "pushed_authorization_request_endpoint": f"{base_url}/auth/par",
        "device_authorization_endpoint": f"{base_url}/auth/device/code",
        "service_documentation": f"{base_url}/docs",
        "scopes_supported": list(scopes.ALL),
        "response_types_supported": ["code"],
        "response_modes_supported": list(requests.RESPONSE_MODES),
        "grant_types_supported": [*GRANT_TYPES],
        "acr_values_supported": list(scopes.CONTEXT_CLASSES),
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": [algorithm.value for algorithm in SignatureAlgorithm],
        "token_endpoint_auth_methods_supported": [*AUTHENTICATION_METHODS, "none"],
        "token_endpoint_auth_signing_alg_values_supported": algorithms,
        "introspection_endpoint_auth_methods_supported": list(AUTHENTICATION_METHODS),
        "introspection_endpoint_auth_signing_alg_values_supported": algorithms,
        "revocation_endpoint_auth_methods_supported": [*AUTHENTICATION_METHODS, "none"],
        "revocation_endpoint_auth_signing_alg_values_supported": algorithms,
        "dpop_signing_alg_values_supported": algorithms,
        "claims_supported": list(CLAIMS),
        "code_challenge_methods_supported": [pkce.METHOD],
        "prompt_values_supported": _prompts(call),
        "claims_parameter_supported": True,
        "claim_types_supported": ["normal"],
        "ui_locales_supported": list(languages.TAGS),
        "request_parameter_supported": False,
        "request_uri_parameter_supported": False,
        "authorization_response_iss_parameter_supported": True,
        "frontchannel_logout_supported": True,
        "frontchannel_logout_session_supported": True,
        "backchannel_logout_supported": True,
        "backchannel_logout_session_supported": True,
    }


def _prompts(call: Call) -> list[str]:
    """Return the supported prompts; at a custom domain no account can be created."""
    return [prompt for prompt in requests.PROMPTS if prompt != "create" or call.custom_host is None]
