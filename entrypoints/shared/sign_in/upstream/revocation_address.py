"""The address at which the provider of a connection revokes a person's access, for its administrator to enter there."""

from uuid import UUID


def revocation_address(base_url: str, connection_id: UUID) -> str:
    """Return the address for global token revocation by a connection, which is the `aud` of its tokens."""
    return f"{base_url}/auth/upstream/{connection_id}/global-token-revocation"
