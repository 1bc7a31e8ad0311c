"""Verifying tokens that the provider of a connection sends without a browser, by the keys that it publishes."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from core.errors import ServiceUnavailable
from entrypoints.web.serving.calls import Call

AWAY_SECONDS: Final = 30


async def verified_by_issuer(
    call: Call, organization_id: UUID, issuer: str, text: str, *, kind: str | None = None
) -> Mapping[str, Any] | None:
    """Return the claims of a token that an issuer has signed; None for another one. `kind` is its `typ`.

    Raise `ServiceUnavailable` when the keys cannot be had.
    """
    installation = call.installation
    # The issuer may have a new key.
    for is_fresh in (False, True):
        keys = await installation.key_sets.discover(organization_id, issuer, is_fresh=is_fresh)
        if keys is None:
            raise ServiceUnavailable(
                "The keys of the issuer cannot be read now. Try again in a moment.", retry_after_seconds=AWAY_SECONDS
            )
        claims = installation.signatures.verified(text, keys, kind=kind)
        if claims is not None:
            return claims
    return None
