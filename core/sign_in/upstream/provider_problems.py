"""Problems of an organization's provider: the closed vocabulary of the checks and of the sign-ins that fail.

A check asks the provider before anyone signs in by it: for its discovery document, and whether it takes our
credentials. For each of these words pages have a sentence that says what to do next
(`pages/sign_in/upstream/provider_problems.py`). None of them contains what a provider has sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, cast

from core.lazy_dataclasses import dataclass
from core.sign_in.reasons import SignInReason
from core.tables import PartialTable

_OK: Final = 200
_MULTIPLE_CHOICES: Final = 300
_BAD_REQUEST: Final = 400
_UNAUTHORIZED: Final = 401
# Not found, no such method, and gone.
_NOT_THERE: Final = frozenset({404, 405, 410})
# The number with which Microsoft Entra says that the secret was right but has ended (AADSTS7000222).
_SECRET_ENDED: Final = 7_000_222


class ProviderProblem(StrEnum):
    """Why a provider cannot be used, or why a sign-in by it failed."""

    # Reaching it
    NAME_UNKNOWN = "name_unknown"
    ADDRESS_REFUSED = "address_refused"
    UNREACHABLE = "unreachable"
    NO_TLS = "no_tls"
    CERTIFICATE = "certificate"
    TOO_SLOW = "too_slow"
    NO_ANSWER = "no_answer"
    TOO_LARGE = "too_large"
    BUSY = "busy"
    # Its discovery document or metadata
    NO_DOCUMENT = "no_discovery_document"
    NOT_JSON = "not_json"
    OTHER_ISSUER = "other_issuer"
    OTHER_SLASH = "other_slash"
    NO_ENDPOINT = "no_endpoint"
    NO_KEYS = "no_keys"
    METADATA = "metadata"
    METADATA_ENDED = "metadata_ended"
    # No refusal: a proxy in front of the provider may refuse all but browsers.
    REQUEST_REFUSED = "request_refused"
    # Our credentials there
    TOKEN_ENDPOINT = "token_endpoint"  # noqa: S105 - a word
    WRONG_SECRET = "wrong_secret"  # noqa: S105 - a word
    SECRET_ENDED = "secret_ended"  # noqa: S105 - a word
    UNKNOWN_CLIENT = "unknown_client"
    WRONG_REDIRECT = "wrong_redirect"
    # No refusal: the provider does not say whether the secret is right.
    SECRET_UNCLEAR = "secret_unclear"  # noqa: S105 - a word
    # Sign-ins
    DECLINED = "declined"
    ERROR_AT_PROVIDER = "error_at_provider"
    CODE_REFUSED = "code_refused"
    NO_TOKEN = "no_token"  # noqa: S105 - a word
    USER_UNKNOWN = "user_unknown"
    UNREADABLE = "unreadable"
    UNSIGNED = "unsigned"
    SIGNATURE = "signature"
    WEAK_SIGNATURE = "weak_signature"
    UNDECIPHERED = "undeciphered"
    CLOCKS = "clocks"
    FOR_ANOTHER = "for_another"
    OF_ANOTHER = "of_another"
    OTHER_SIGN_IN = "other_sign_in"
    SESSION_OVER = "session_over"
    NO_ID = "no_id"
    TRANSIENT_ID = "transient_id"
    NO_ADDRESS = "no_address"
    NOT_AN_ADDRESS = "not_an_address"
    FOREIGN_DOMAIN = "foreign_domain"
    CERTIFICATES_REPLACED = "certificates_replaced"
    NOT_ADMITTED = "not_admitted"
    ORGANIZATION_FULL = "organization_full"
    OTHER = "other"

    @property
    def prevents(self) -> bool:
        """Whether no one can sign in by a connection with this problem, so that a page does not save it."""
        return self not in {ProviderProblem.SECRET_UNCLEAR, ProviderProblem.REQUEST_REFUSED}

    @property
    def fails_test(self) -> bool:
        """Whether a program's test gets the answer that it has failed."""
        return self is not ProviderProblem.SECRET_UNCLEAR

    @property
    def is_of_one_sign_in(self) -> bool:
        """Whether a single person, or what a browser sends, may have caused it.

        After a sign-in has succeeded, such a problem does not mean that the connection fails: people decline, and
        anyone can send an error or an invalid code.
        """
        return self in _OF_ONE_SIGN_IN


_OF_ONE_SIGN_IN: Final = frozenset(
    {
        ProviderProblem.DECLINED,
        ProviderProblem.ERROR_AT_PROVIDER,
        ProviderProblem.CODE_REFUSED,
        ProviderProblem.UNREADABLE,
        ProviderProblem.OTHER_SIGN_IN,
        ProviderProblem.SESSION_OVER,
        ProviderProblem.NO_ADDRESS,
        ProviderProblem.NOT_AN_ADDRESS,
        ProviderProblem.FOREIGN_DOMAIN,
        ProviderProblem.NOT_ADMITTED,
    }
)
# The reasons of refusals for which another word of this vocabulary stands.
_OF_REASONS: Final[PartialTable[str, ProviderProblem]] = PartialTable(
    {
        "wrong_issuer": ProviderProblem.OTHER_ISSUER,
        "no_authorization_endpoint": ProviderProblem.NO_ENDPOINT,
        "no_token_endpoint": ProviderProblem.NO_ENDPOINT,
        "no_jwks_uri": ProviderProblem.NO_ENDPOINT,
        "no_object": ProviderProblem.TOKEN_ENDPOINT,
        "no_metadata": ProviderProblem.METADATA,
        SignInReason.METADATA_EXPIRED: ProviderProblem.METADATA_ENDED,
        "no_code": ProviderProblem.ERROR_AT_PROVIDER,
        # The status of a SAML answer; `SignInDeclined` says that the user may not sign in.
        "refused": ProviderProblem.ERROR_AT_PROVIDER,
        "no_id_token": ProviderProblem.NO_TOKEN,
        "no_access_token": ProviderProblem.NO_TOKEN,
        "no_user": ProviderProblem.USER_UNKNOWN,
        "other_subject": ProviderProblem.USER_UNKNOWN,
        "wrong_signature": ProviderProblem.SIGNATURE,
        "expired": ProviderProblem.CLOCKS,
        "from_the_future": ProviderProblem.CLOCKS,
        "wrong_audience": ProviderProblem.FOR_ANOTHER,
        "no_authorized_party": ProviderProblem.FOR_ANOTHER,
        "wrong_destination": ProviderProblem.FOR_ANOTHER,
        "wrong_recipient": ProviderProblem.FOR_ANOTHER,
        "answer_of_another_issuer": ProviderProblem.OF_ANOTHER,
        "token_of_another_issuer": ProviderProblem.OF_ANOTHER,
        "assertion_of_another_issuer": ProviderProblem.OF_ANOTHER,
        "wrong_nonce": ProviderProblem.OTHER_SIGN_IN,
        "answer_to_another_request": ProviderProblem.OTHER_SIGN_IN,
        "unsolicited": ProviderProblem.OTHER_SIGN_IN,
        "confirmation_ended": ProviderProblem.CLOCKS,
        "not_confirmed": ProviderProblem.UNREADABLE,
        "no_assertion": ProviderProblem.UNREADABLE,
        SignInReason.SESSION_OVER_THERE: ProviderProblem.SESSION_OVER,
        "no_subject": ProviderProblem.NO_ID,
        "transient_name": ProviderProblem.TRANSIENT_ID,
        "certificates_outdated": ProviderProblem.CERTIFICATES_REPLACED,
        SignInReason.ADDRESS_NOT_VERIFIED_THERE: ProviderProblem.NO_ADDRESS,
        SignInReason.ADDRESS_UNUSABLE_THERE: ProviderProblem.NOT_AN_ADDRESS,
        SignInReason.DOMAIN_NOT_PROVED: ProviderProblem.FOREIGN_DOMAIN,
        SignInReason.NOT_OF_ORGANIZATION: ProviderProblem.NOT_ADMITTED,
    }
)


def problem_of(reason: str | None) -> ProviderProblem:
    """Return the problem for which a sign-in or a check was refused; `OTHER` for any other reason."""
    known = _OF_REASONS.get(reason or "")
    if known is not None:
        return known
    return ProviderProblem(reason) if reason in set(ProviderProblem) else ProviderProblem.OTHER


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The finding of a check; `problem` is None when everything is in order.

    `right_issuer` is how the provider names itself, when only a final slash differs. `text` is the sentence about what
    could not be read, for callers of the interface.
    """

    problem: ProviderProblem | None = None
    right_issuer: str | None = None
    text: str = ""

    @property
    def prevents(self) -> bool:
        """Whether no one can sign in by the connection."""
        return self.problem is not None and self.problem.prevents


def judge_request(status: int | None) -> ProviderProblem | None:
    """Return what the status of an identity provider's answer to a sign-in request says; None for nothing.

    A page, a redirect and a question for credentials are answers; a status of None means no answer, and says nothing.
    """
    if status is None or status < _BAD_REQUEST or status == _UNAUTHORIZED:
        return None
    return ProviderProblem.REQUEST_REFUSED


def judge_credentials(status: int, answer: Mapping[str, Any]) -> ProviderProblem | None:
    """Return what a token endpoint says of our credentials when it gets a code that it has not issued.

    None when they are right: then it refuses the code (RFC 6749, 5.2).
    """
    match answer.get("error"):
        case "invalid_grant":
            return None
        case "invalid_client":
            numbers = answer.get("error_codes")
            has_ended = isinstance(numbers, list) and _SECRET_ENDED in cast("list[Any]", numbers)
            return ProviderProblem.SECRET_ENDED if has_ended else ProviderProblem.WRONG_SECRET
        # With the status of a failed authentication, this is Keycloak's answer to a wrong secret.
        case "unauthorized_client" if status != _UNAUTHORIZED:
            return ProviderProblem.UNKNOWN_CLIENT
        case "redirect_uri_mismatch":
            return ProviderProblem.WRONG_REDIRECT
        case _ if status == _UNAUTHORIZED:
            return ProviderProblem.WRONG_SECRET
        case _ if _MULTIPLE_CHOICES <= status < _BAD_REQUEST or status in _NOT_THERE:
            # Sign-ins must not follow a redirect, because the secret would go along.
            return ProviderProblem.TOKEN_ENDPOINT
        case _:
            return ProviderProblem.SECRET_UNCLEAR


def judge_exchange(status: int, answer: Mapping[str, Any]) -> ProviderProblem:
    """Return why a token endpoint has not exchanged the code of a sign-in."""
    problem = judge_credentials(status, answer)
    if problem is None:
        return ProviderProblem.CODE_REFUSED
    return problem if problem.prevents else ProviderProblem.TOKEN_ENDPOINT


def judge_token(status: int, answer: Mapping[str, Any]) -> ProviderProblem | None:
    """Return what a token endpoint says of our credentials when asked for a token of our own; None when right."""
    if status == _OK and "error" not in answer:
        return None
    # The provider may refuse such a grant to the application although its credentials are right.
    return judge_credentials(status, answer) or ProviderProblem.SECRET_UNCLEAR
