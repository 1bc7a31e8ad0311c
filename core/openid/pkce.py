"""Proof Key for Code Exchange (RFC 7636): a code is redeemed by the client that asked for it.

Only the method S256 is accepted. Public services must use it; a confidential one that began with it must finish so.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from typing import Final

from core.openid.refusals import GrantInvalid, OAuthRefusal, RequestInvalid
from core.services.problems import ProblemKind

METHOD: Final = "S256"
# The method of a challenge that names none (RFC 7636, 4.3).
PLAIN: Final = "plain"
# Names what was sent and is not valid; the value itself is not kept.
CHALLENGE: Final = "code_challenge"
VERIFIER: Final = "code_verifier"
_CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{43}")
_VERIFIER: Final = re.compile(r"[A-Za-z0-9._~-]{43,128}")


def checked_challenge(challenge: str | None, method: str | None, *, is_required: bool) -> str | None:
    """Return the challenge of a request; raise `RequestInvalid` when it is missing or invalid."""
    if challenge is None:
        if is_required:
            raise _challenge("Mobile and desktop services use PKCE: send a code_challenge with the method S256.", None)
        if method is not None:
            raise _challenge("The code_challenge is missing.", None)
        return None
    if method != METHOD:
        raise _challenge("The code_challenge_method must be S256.", method or PLAIN)
    if not _CHALLENGE.fullmatch(challenge):
        raise _challenge("The code_challenge must be a SHA-256 in base64url, without padding.", CHALLENGE)
    return challenge


def require_verified(challenge: str | None, verifier: str | None) -> None:
    """Raise `GrantInvalid` unless the verifier fits the challenge, or neither is there."""
    if challenge is None and verifier is None:
        return
    if challenge is None or verifier is None or not _VERIFIER.fullmatch(verifier):
        sent = VERIFIER if verifier is not None else None
        raise GrantInvalid("The code_verifier is missing, malformed, or was not announced by a code_challenge.").about(
            ProblemKind.PKCE, sent, [METHOD]
        )
    digest = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    if not hmac.compare_digest(digest, challenge):
        refusal = GrantInvalid("The code_verifier does not match the code_challenge.")
        raise refusal.about(ProblemKind.PKCE, VERIFIER, [METHOD])


def _challenge(message: str, sent: str | None) -> OAuthRefusal:
    return RequestInvalid(message).about(ProblemKind.PKCE, sent, [METHOD])
