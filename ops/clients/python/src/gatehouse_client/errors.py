"""What operations raise: one class for each thing that a caller can act on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import httpx


class GatehouseError(Exception):
    """Every error of this package."""


class Unreachable(GatehouseError):
    """Gatehouse did not answer, or with an error of its own: nothing is known about the question. Try again later."""

    @classmethod
    def because(cls, problem: httpx.HTTPError, request: httpx.Request) -> Unreachable:
        """Return the error for a request that got no answer."""
        return cls(f"{request.method} {request.url.copy_with(query=None)} got no answer: {type(problem).__name__}")


class TokenRefused(GatehouseError):
    """The token opens nothing here: answer 401. `reason` is for the log, in words."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ProofRefused(TokenRefused):
    """The token needs a DPoP proof, and no valid one came: answer 401 with the challenge `DPoP`."""


class ScopeMissing(GatehouseError):
    """The token is valid and lacks scopes: answer 403 `insufficient_scope`.

    `required` are all that the operation takes, which the challenge names: a client asks for all of them at once.
    """

    def __init__(self, missing: Sequence[str], *, required: Sequence[str] = ()) -> None:
        super().__init__(f"the token lacks the scopes {', '.join(missing)}")
        self.missing = tuple(missing)
        self.required = tuple(required) or self.missing


class SignInRefused(GatehouseError):
    """The sign-in did not succeed; `error` is the word of Gatehouse or of this package, such as `access_denied`."""

    def __init__(self, error: str, description: str = "") -> None:
        super().__init__(f"{error}: {description}" if description else error)
        self.error = error
        self.description = description


class WebhookRefused(GatehouseError):
    """Gatehouse did not send this delivery, or not now: answer 401."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldProblem:
    """A field of the input that was refused, and why."""

    field: str
    message: str


class Refused(GatehouseError):
    """Gatehouse refused a request. `error_code` is for programs, the message for people."""

    def __init__(
        self,
        *,
        status: int,
        error_code: str,
        message: str,
        details: Sequence[FieldProblem] = (),
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(f"{status} {error_code}: {message}")
        self.status = status
        self.error_code = error_code
        self.message = message
        self.details = tuple(details)
        self.request_id = request_id
        self.retry_after = retry_after
