"""Our addresses for the provider of a connection: where browsers return, and where it ends sessions."""

from typing import Final
from uuid import UUID

SIGNED_OUT_THERE: Final = "/auth/upstream/signed-out"


def signed_out_address(base_url: str) -> str:
    """Return the address to register as `post_logout_redirect_uri` with an OpenID provider."""
    return f"{base_url}{SIGNED_OUT_THERE}"


def backchannel_address(base_url: str, connection_id: UUID) -> str:
    """Return the address to register as `backchannel_logout_uri` with the OpenID provider of a connection."""
    return f"{base_url}/auth/upstream/{connection_id}/backchannel-logout"


def revocation_address(base_url: str, connection_id: UUID) -> str:
    """Return the address for global token revocation by a connection, which is the `aud` of its tokens."""
    return f"{base_url}/auth/upstream/{connection_id}/global-token-revocation"
