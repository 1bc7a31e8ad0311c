"""The checked discovery document of an OpenID provider (OpenID Connect Discovery)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast
from urllib.parse import urlsplit

from core.lazy_dataclasses import dataclass
from core.sign_in.upstream.provider_answers import UpstreamFailed
from core.wording import Wording

PATH: Final = "/.well-known/openid-configuration"
URL_CHARACTERS_MAX: Final = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovered:
    """The endpoints of an OpenID provider."""

    issuer: str
    authorize_url: str
    token_url: str
    jwks_uri: str
    userinfo_url: str | None
    takes_basic: bool
    names_itself: bool
    # Where a browser signs out there; None where it cannot.
    end_session_url: str | None = None


class OtherIssuer(UpstreamFailed):
    """The discovery document names another issuer; `right_issuer` is that one if only a final slash differs."""

    def __init__(self, issuer: str, named: Any) -> None:
        is_near = isinstance(named, str) and named.removesuffix("/") == issuer.removesuffix("/")
        super().__init__(
            Wording("The provider names itself %(issuer)s, which differs by the slash at the end.", issuer=named)
            if is_near
            else "The discovery document names another issuer."
        )
        self.reason = "other_slash" if is_near else "wrong_issuer"
        self.right_issuer: str | None = named if is_near else None


def read(issuer: str, document: Any) -> Discovered:
    """Return the content of an issuer's document; raise `UpstreamFailed` when it is another's, or makes no sense.

    None stands for no document; one that is not valid JSON arrives as something other than an object.
    """
    if document is None:
        raise UpstreamFailed("The provider has no discovery document at this issuer.").because("no_discovery_document")
    if not isinstance(document, dict):
        raise UpstreamFailed("What the provider has at this issuer is not a discovery document.").because("not_json")
    found = cast("dict[str, Any]", document)
    if found.get("issuer") != issuer:
        # Otherwise one provider could speak for another (OpenID Connect Discovery, 4.3).
        raise OtherIssuer(issuer, found.get("issuer"))
    methods = found.get("token_endpoint_auth_methods_supported")
    return Discovered(
        issuer=issuer,
        authorize_url=_required(issuer, found, "authorization_endpoint"),
        token_url=_required(issuer, found, "token_endpoint"),
        jwks_uri=_required(issuer, found, "jwks_uri"),
        userinfo_url=_url(issuer, found.get("userinfo_endpoint")),
        takes_basic=not isinstance(methods, list) or "client_secret_basic" in methods,
        names_itself=found.get("authorization_response_iss_parameter_supported") is True,
        end_session_url=_url(issuer, found.get("end_session_endpoint")),
    )


def keys_address(issuer: str, document: Any) -> str | None:
    """Return where an issuer publishes its keys; None when the document is another's, or names no usable address.

    Issuers that do not sign people in have a document without the endpoints that `read` requires.
    """
    if not isinstance(document, dict) or cast("dict[str, Any]", document).get("issuer") != issuer:
        return None
    return _url(issuer, cast("dict[str, Any]", document).get("jwks_uri"))


def require_own_answer(discovered: Discovered, iss: str) -> None:
    """Raise `UpstreamFailed` when another provider has answered than the one that was asked (RFC 9207)."""
    if (iss or discovered.names_itself) and iss != discovered.issuer:
        raise UpstreamFailed().because("answer_of_another_issuer")


def _required(issuer: str, document: Mapping[str, Any], name: str) -> str:
    url = _url(issuer, document.get(name))
    if url is None:
        raise UpstreamFailed(Wording("The discovery document names no usable %(name)s.", name=name)).because(
            f"no_{name}"
        )
    return url


def _url(issuer: str, value: Any) -> str | None:
    """Return an address that is protected as well as the issuer; None for anything else."""
    if not isinstance(value, str) or len(value) > URL_CHARACTERS_MAX or not value.isascii() or not value.isprintable():
        return None
    try:
        parts, of_issuer = urlsplit(value), urlsplit(issuer)
    except ValueError:
        return None
    is_protected = parts.scheme == "https" or (parts.scheme, parts.hostname) == (of_issuer.scheme, of_issuer.hostname)
    return value if is_protected and parts.hostname and "@" not in parts.netloc and not parts.fragment else None
