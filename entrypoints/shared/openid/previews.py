"""What tokens would say, made by the code that signs them; the tokens themselves go nowhere."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from core.customers.claims import PreviewedTokens
from core.lazy_dataclasses import dataclass
from core.wording import Wording
from entrypoints.shared.openid.id_tokens import signed_id_token
from entrypoints.shared.sessions.token_answers import signed_access_token
from entrypoints.web.serving.calls import Call

# Programs pass tokens on in headers and cookies, whose sizes others limit.
WARNED_FROM_BYTES: Final = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPayloads:
    """The payloads of both tokens, the size of the larger one, and what its makers should know."""

    access_token: Mapping[str, Any]
    id_token: Mapping[str, Any] | None
    size_bytes: int
    warnings: Sequence[Wording]


def payloads_of(call: Call, preview: PreviewedTokens) -> TokenPayloads:
    """Return the payloads that the tokens of a preview would have, if they were issued now."""
    access_token, _ = signed_access_token(call, preview.issued.grant)
    id_token = signed_id_token(call, preview.issued, access_token)
    sizes = {"access": len(access_token), "ID": len(id_token) if id_token is not None else 0}
    warnings = [
        Wording("The %(kind)s token has %(bytes)s bytes: programs may refuse it in a header.", kind=kind, bytes=size)
        for kind, size in sizes.items()
        if size >= WARNED_FROM_BYTES
    ]
    if preview.left_out:
        warnings.append(
            Wording(
                "Too large for the access token, which is without them: %(claims)s.",
                claims=", ".join(preview.left_out),
            )
        )
    return TokenPayloads(
        access_token=payload_of(access_token),
        id_token=payload_of(id_token) if id_token is not None else None,
        size_bytes=max(sizes.values()),
        warnings=warnings,
    )


def payload_of(token: str) -> Mapping[str, Any]:
    """Return the claims of a token that was just signed here."""
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
