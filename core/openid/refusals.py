"""The refusals of OAuth and OpenID Connect; `error` is the name of each in their RFCs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from core.errors import ErrorCode, Refusal
from core.services.problems import ProblemKind


class OAuthRefusal(Refusal):
    """A refusal with a name of its own in OAuth.

    `trouble` is its kind among the troubles of its client, with what the client has sent and might have sent; None if
    it is none of them (`client_troubles.py`).
    """

    code = ErrorCode.BAD_REQUEST
    error: ClassVar[str]
    trouble: ProblemKind | None = None
    sent: str | None = None
    registered: Sequence[str] = ()

    def about(self, trouble: ProblemKind, sent: str | None, registered: Sequence[str] = ()) -> Self:
        """Return this refusal as a trouble of its client."""
        self.trouble, self.sent, self.registered = trouble, sent, registered
        return self


class RequestInvalid(OAuthRefusal):
    """A parameter is missing, invalid or repeated (RFC 6749, 5.2)."""

    error = "invalid_request"
    default_message = "A parameter is missing or invalid."


class RequestObjectUnsupported(OAuthRefusal):
    """Request objects are not accepted (OpenID Connect Core, 6.1)."""

    error = "request_not_supported"
    default_message = "Request objects are not supported. Send the parameters, or push them to /auth/par."


class RequestUriUnsupported(OAuthRefusal):
    """Only references of pushed requests are accepted (OpenID Connect Core, 3.1.2.6)."""

    error = "request_uri_not_supported"
    default_message = "The request_uri is no address of a pushed request. Push the parameters to /auth/par."


class RequestUriInvalid(OAuthRefusal):
    """The reference of a pushed request is another client's, or is over (OpenID Connect Core, 3.1.2.6)."""

    error = "invalid_request_uri"
    default_message = "The pushed request is not known, has expired or was answered already. Push it again."


class ResponseTypeUnsupported(OAuthRefusal):
    """Only the code flow is supported (RFC 6749, 4.1.2.1)."""

    error = "unsupported_response_type"
    trouble = ProblemKind.RESPONSE_TYPE
    default_message = "The response_type must be code."


class ClientInvalid(OAuthRefusal):
    """The client is unknown, did not authenticate, or its organization is not active."""

    code = ErrorCode.UNAUTHORIZED
    error = "invalid_client"
    trouble = ProblemKind.CLIENT_AUTHENTICATION
    default_message = (
        "The client is unknown, or its credentials are wrong. Send the client id and the client secret of the service."
    )


class GrantInvalid(OAuthRefusal):
    """The code, refresh token or device code is not valid, or was issued to another client."""

    error = "invalid_grant"
    trouble = ProblemKind.GRANT
    default_message = "The code or token is not valid, has expired or was used already. Start again."


class ClientUnauthorized(OAuthRefusal):
    """The client may not use this grant."""

    error = "unauthorized_client"
    trouble = ProblemKind.GRANT
    default_message = "Only web and api services, which have a secret, may use this grant."


class WayUnauthorized(OAuthRefusal):
    """The service has a security profile, which allows only a pushed authorization request and its code."""

    code = ErrorCode.FORBIDDEN
    error = "unauthorized_client"
    trouble = ProblemKind.GRANT
    default_message = (
        "This service has a security profile: it pushes authorization requests to /auth/par, and exchanges their codes."
        " No other grant is open to it."
    )


class GrantTypeUnsupported(OAuthRefusal):
    """There is no such grant type."""

    error = "unsupported_grant_type"
    trouble = ProblemKind.GRANT
    default_message = (
        "The grant type is not supported. Use authorization_code, refresh_token, client_credentials or"
        " urn:ietf:params:oauth:grant-type:device_code."
    )


class ScopeInvalid(OAuthRefusal):
    """A scope is not known, or was not granted."""

    error = "invalid_scope"
    trouble = ProblemKind.SCOPE
    default_message = "The scope goes beyond what was granted. To get more, sign in with a request that names it."


class TargetInvalid(OAuthRefusal):
    """The resource is not an audience of the service (RFC 8707, 2)."""

    error = "invalid_target"
    default_message = "The resource is none of the audiences of the service. Register it with the service first."


class ProofInvalid(OAuthRefusal):
    """The DPoP proof is missing or not valid (RFC 9449, 5)."""

    error = "invalid_dpop_proof"
    default_message = "The DPoP proof is not valid. Send a new one for this request, signed with the key of the token."


class ProofUnauthorized(ProofInvalid):
    """The DPoP proof of a request with an access token is missing or not valid (RFC 9449, 7.1)."""

    code = ErrorCode.UNAUTHORIZED


class TokenBound(OAuthRefusal):
    """An access token that is bound to a key was sent without its proof, as a Bearer token (RFC 9449, 7.2).

    `algorithms` are the ones with which a proof may be signed.
    """

    code = ErrorCode.JWT_ERROR
    error = "invalid_token"
    default_message = "The token is bound to a key. Send it with the scheme DPoP, and a proof of that key."

    def __init__(self, algorithms: Sequence[str]) -> None:
        super().__init__()
        self.algorithms = algorithms


class ContextInactive(OAuthRefusal):
    """The organization of the access token is not active (RFC 6750, 3.1)."""

    code = ErrorCode.UNAUTHORIZED
    error = "invalid_token"
    default_message = "The organization of this token is not active."


class NonceRequired(OAuthRefusal):
    """The DPoP proof has no current nonce; the client repeats the request with this one (RFC 9449, 8)."""

    error = "use_dpop_nonce"
    default_message = "The DPoP proof needs the nonce of the header DPoP-Nonce. Repeat the request with it."

    def __init__(self, nonce: str) -> None:
        super().__init__()
        self.nonce = nonce


class NonceRequiredHere(NonceRequired):
    """The same refusal of a request with an access token (RFC 9449, 9)."""

    code = ErrorCode.UNAUTHORIZED


class AuthorizationPending(OAuthRefusal):
    """The user has not answered yet (RFC 8628, 3.5)."""

    code = ErrorCode.DEVICE_CODE_PENDING
    error = "authorization_pending"
    default_message = "The device is not approved yet. Keep polling."


class SlowDown(AuthorizationPending):
    """The device polls too often (RFC 8628, 3.5)."""

    error = "slow_down"
    default_message = "The device polls too often. Wait five seconds longer between two requests."


class DeviceCodeExpired(OAuthRefusal):
    """The device code or the user code has expired."""

    code = ErrorCode.DEVICE_CODE_EXPIRED
    error = "expired_token"
    default_message = "The code has expired. Start again on the device."


class AccessDenied(OAuthRefusal):
    """The user, or the organization, denied access."""

    error = "access_denied"
    default_message = "Access was denied."


class InsufficientScope(OAuthRefusal):
    """The access token was not granted the scope of the endpoint (RFC 6750, 3.1)."""

    code = ErrorCode.FORBIDDEN
    error = "insufficient_scope"
    default_message = "The access token lacks the scope openid. Ask for it in the authorization request."
    # All scopes of the operation, so that a client asks for them at once.
    scopes: ClassVar[Sequence[str]] = ("openid",)
