"""ID tokens that come back as hints: they say which user or sign-in a service means, and open nothing."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from core.errors import TokenInvalid
from core.sessions.tokens import TokenKind
from entrypoints.web.serving.calls import Call


def hinted_claims(call: Call, text: str) -> Mapping[str, Any] | None:
    """Return the claims of an ID token of ours; None for any other text.

    It is taken also when it has expired, as OpenID Connect wants it: it is verified as at the beginning of time.
    """
    try:
        return call.installation.tokens.verify(
            text, kind=TokenKind.ID, now=datetime.fromtimestamp(0, UTC), host=call.host_name
        )
    except TokenInvalid:
        return None
