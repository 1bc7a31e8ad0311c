"""Why a receiver has not answered, as a sentence for the people who have configured it.

The texts of libraries and of the operating system are written for programmers, change with their versions and quote
the receiver's answer, so they are never passed on.
"""

from __future__ import annotations

import errno
import ssl
from collections.abc import Iterator
from typing import Final, cast

import httpx

from adapters.gateways.name_lookups import NameUnknown
from adapters.gateways.outbound import TargetRefused
from core.sign_in.upstream.provider_problems import ProviderProblem
from core.wording import Wording

RECEIVER: Final = "the receiver"
PROVIDER: Final = "the provider"
MAIL_SERVER: Final = "the mail server"
# What a sentence about each of them calls it, at its beginning and inside.
_NAMES: Final = {
    RECEIVER: (Wording("The receiver"), Wording("the receiver")),
    PROVIDER: (Wording("The provider"), Wording("the provider")),
    MAIL_SERVER: (Wording("The mail server"), Wording("the mail server")),
}

# The codes of OpenSSL (openssl-verification-options, X509_V_ERR_…).
_CERTIFICATES: Final = {
    9: Wording("it is not valid yet"),
    10: Wording("it has expired"),
    18: Wording("it is self-signed"),
    19: Wording("its issuer is not trusted"),
    20: Wording("its issuer is not trusted, or the certificates between are missing"),
    21: Wording("its issuer is not trusted, or the certificates between are missing"),
    62: Wording("it is for another name"),
    64: Wording("it is for another address"),
}
_UNREACHABLE: Final = {
    errno.ECONNREFUSED: Wording("it refused the connection"),
    errno.ENETUNREACH: Wording("there is no way to its network"),
    errno.EHOSTUNREACH: Wording("there is no way to its address"),
    errno.ETIMEDOUT: Wording("it did not accept the connection in time"),
}
_INVALID: Final = "%(who)s's answer is no valid HTTP."
# What the library says begins so; anything else is an answer that makes no sense.
_PROTOCOL: Final = (
    ("Server disconnected", "%(who)s closed the connection without an answer."),
    ("peer closed connection", "%(who)s closed the connection before the answer was complete."),
    ("Receive buffer too long", "%(who)s's answer has too long headers."),
    ("Invalid URL in location header", "%(who)s redirects to an address that is not valid."),
)


def reason_of(error: BaseException, who: str = RECEIVER) -> str:
    """Return why a request, or an SMTP session, has failed; `who` is one of the names above."""
    begun, inside = _NAMES[who]
    for cause in _causes(error):
        match cause:
            case TargetRefused():
                return Wording.of(cause)
            case ssl.SSLCertVerificationError():
                problem = _CERTIFICATES.get(cause.verify_code, Wording("it is not trusted"))
                return Wording("The certificate of %(who)s is not valid: %(problem)s.", who=inside, problem=problem)
            case _:
                """Its own cause may tell more."""
    match error:
        case httpx.RemoteProtocolError():
            text = next((sentence for start, sentence in _PROTOCOL if str(error).startswith(start)), _INVALID)
            return Wording(text, who=begun)
        case httpx.ConnectError() | httpx.ConnectTimeout() | OSError():
            return Wording("%(who)s cannot be reached: %(problem)s.", who=begun, problem=_unreachable(error))
        case httpx.NetworkError():
            return Wording("%(who)s closed the connection before the answer was complete.", who=begun)
        case httpx.ProtocolError() | httpx.UnsupportedProtocol() | httpx.InvalidURL():
            return "No request can be sent there. Check the address, and the token if there is one."
        case _:
            return Wording("The connection to %(who)s failed.", who=inside)


def problem_of(error: BaseException) -> ProviderProblem:
    """Return the kind of a failure whose sentence `reason_of` returns."""
    for cause in _causes(error):
        match cause:
            case TargetRefused(__cause__=NameUnknown()):
                return ProviderProblem.NAME_UNKNOWN
            case TargetRefused():
                return ProviderProblem.ADDRESS_REFUSED
            case ssl.SSLCertVerificationError():
                return ProviderProblem.CERTIFICATE
            case ssl.SSLError():
                return ProviderProblem.NO_TLS
            case TimeoutError() | httpx.ConnectTimeout():
                return ProviderProblem.TOO_SLOW
            case _:
                """Its own cause may tell more."""
    return ProviderProblem.UNREACHABLE if isinstance(error, httpx.ConnectError) else ProviderProblem.NO_ANSWER


def _unreachable(error: BaseException) -> str:
    for cause in _causes(error):
        match cause:
            case ssl.SSLError():
                return Wording("it does not speak TLS 1.2 or newer at this port")
            case TimeoutError() | httpx.ConnectTimeout():
                return _UNREACHABLE[errno.ETIMEDOUT]
            case OSError(errno=number) if number in _UNREACHABLE:
                return _UNREACHABLE[number]
            case _:
                """Its own cause may tell more."""
    return Wording("no connection could be made")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Return an error and what has led to it; of several failures at once, the first."""
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
        else:
            error = error.__cause__ or error.__context__
