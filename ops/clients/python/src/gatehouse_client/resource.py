"""An API as a protected resource: the document that names its issuer (RFC 9728), and the challenge of a 401 or 403."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from gatehouse_client.errors import GatehouseError, ProofRefused, ScopeMissing
from gatehouse_client.signatures import ALGORITHMS

WELL_KNOWN: Final = "/.well-known/oauth-protected-resource"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectedResource:
    """An API by its public address, and the issuer of its tokens; `scopes` are the ones that it knows."""

    resource: str
    issuer: str
    scopes: Sequence[str] = ()

    @property
    def origin(self) -> str:
        """Scheme and host of the API."""
        parts = urlsplit(self.resource)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def metadata_path(self) -> str:
        """The path at which the API serves the document."""
        return WELL_KNOWN + urlsplit(self.resource).path.rstrip("/")

    def metadata(self) -> Mapping[str, Any]:
        """Return the document."""
        scopes = {"scopes_supported": list(self.scopes)} if self.scopes else {}
        return {
            "resource": self.resource,
            "authorization_servers": [self.issuer],
            "bearer_methods_supported": ["header"],
            **scopes,
        }

    def challenge(self, refusal: GatehouseError | None = None) -> str:
        """Return the value of `WWW-Authenticate`: for a request without a token, or after a refusal."""
        parameters = {"resource_metadata": f"{self.origin}{self.metadata_path}"}
        scheme = "Bearer"
        if isinstance(refusal, ProofRefused):
            scheme = "DPoP"
            algorithms = " ".join(sorted({one for listed in ALGORITHMS.values() for one in listed}))
            parameters = {"error": "invalid_dpop_proof", "algs": algorithms, **parameters}
        elif isinstance(refusal, ScopeMissing):
            parameters = {"error": "insufficient_scope", "scope": " ".join(refusal.required), **parameters}
        elif refusal is not None:
            parameters = {"error": "invalid_token", **parameters}
        return f"{scheme} " + ", ".join(f'{name}="{value}"' for name, value in parameters.items())
