"""Refusals: the table of codes, and that every refusal has a code of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.errors import (
    BadRequest,
    ErrorCode,
    FieldError,
    MethodNotAllowed,
    NotFound,
    RateLimitExceeded,
    Refusal,
    ServiceUnavailable,
    TemporaryRefusal,
    all_checked,
    all_valid,
)

# Clients rely on the codes and on their statuses.
DOCUMENTED = {
    "BAD_REQUEST": 400,
    "UNAUTHORIZED": 401,
    "TOKEN_EXPIRED": 401,
    "JWT_ERROR": 401,
    "FORBIDDEN": 403,
    "ORGANIZATION_NOT_ACTIVE": 403,
    "NOT_FOUND": 404,
    "SERVICE_LIMIT_EXCEEDED": 400,
    "TEAM_LIMIT_EXCEEDED": 400,
    "INVITATION_EXPIRED": 400,
    "DEVICE_CODE_EXPIRED": 400,
    "DEVICE_CODE_PENDING": 400,
    "RATE_LIMIT_EXCEEDED": 429,
    "INTERNAL_SERVER_ERROR": 500,
    "DATABASE_ERROR": 500,
    "OAUTH_ERROR": 500,
    "PROVIDER_ERROR": 502,
    "BILLING_ERROR": 500,
    "AUDIT_ERROR": 500,
    "CONFLICT": 409,
    "GONE": 410,
    "PRECONDITION_FAILED": 412,
    "PAYLOAD_TOO_LARGE": 413,
    "UNSUPPORTED_MEDIA_TYPE": 415,
    "METHOD_NOT_ALLOWED": 405,
    "SERVICE_UNAVAILABLE": 503,
    "FEATURE_NOT_AVAILABLE_IN_TIER": 403,
    "SSO_REQUIRED": 403,
    "CUSTOMER_REQUIRED": 409,
    "REAUTH_REQUIRED": 409,
    "REQUEST_TIMEOUT": 408,
    "PASSWORD_TOO_COMMON": 400,
    "PASSWORD_BREACHED": 400,
    "NOT_IMPLEMENTED": 501,
}


def refusals(kind: type[Refusal] = Refusal) -> Iterator[type[Refusal]]:
    """List the refusals of `core.errors`, except base classes without a code."""
    for subclass in kind.__subclasses__():
        if subclass.__module__ == "core.errors":
            if hasattr(subclass, "code"):
                yield subclass
            yield from refusals(subclass)


def make(kind: type[Refusal]) -> Refusal:
    if issubclass(kind, TemporaryRefusal):
        return kind(retry_after_seconds=3)
    if issubclass(kind, MethodNotAllowed):
        return kind(("GET", "HEAD"))
    return kind()


def test_the_codes_are_the_documented_ones_with_their_statuses() -> None:
    assert {code.name: code.status for code in ErrorCode} == DOCUMENTED


def test_every_code_that_others_can_cause_is_known_as_external() -> None:
    external = {code.name for code in ErrorCode if code.is_external}

    assert external == {"OAUTH_ERROR", "PROVIDER_ERROR", "BILLING_ERROR", "NOT_IMPLEMENTED"}


def test_every_code_has_a_meaning_of_its_own() -> None:
    meanings = [code.meaning for code in ErrorCode]

    assert all(meaning.endswith(".") for meaning in meanings)
    assert len(set(meanings)) == len(meanings)


@pytest.mark.parametrize("kind", list(refusals()), ids=lambda kind: kind.__name__)
def test_every_refusal_has_a_code_and_a_readable_message(kind: type[Refusal]) -> None:
    refusal = make(kind)

    assert refusal.code in ErrorCode
    assert refusal.message.endswith(".")
    assert str(refusal) == refusal.message


def test_a_refusal_can_have_a_message_of_its_own() -> None:
    assert NotFound("There is no such invitation.").message == "There is no such invitation."


def test_an_invalid_field_is_named_in_the_message_and_in_the_details() -> None:
    refusal = BadRequest.of_field("email", "This is not a valid email address.")

    assert refusal.message == "email: This is not a valid email address."
    assert refusal.details == (FieldError(field="email", message="This is not a valid email address."),)


def test_a_refused_method_comes_with_the_allowed_methods() -> None:
    refusal = MethodNotAllowed(("GET", "HEAD"))

    assert refusal.allowed == ("GET", "HEAD")
    assert refusal.message == "This path accepts GET, HEAD."


@pytest.mark.parametrize("kind", [RateLimitExceeded, ServiceUnavailable])
def test_a_temporary_refusal_has_a_retry_after(kind: type[TemporaryRefusal]) -> None:
    assert kind(retry_after_seconds=7).retry_after_seconds == 7


def test_all_valid_returns_the_result_of_every_check() -> None:
    assert all_valid(lambda: 1, lambda: "a") == (1, "a")


def test_all_checked_checks_the_fields_that_have_a_check() -> None:
    assert all_checked({"a": 1, "b": "x"}, {"a": str, "c": int}) == {"a": "1", "b": "x"}


def test_all_valid_names_every_invalid_field() -> None:
    def refuse(field: str) -> str:
        raise BadRequest.of_field(field, "Too small.")

    with pytest.raises(BadRequest) as refused:
        all_valid(lambda: refuse("a"), lambda: 1, lambda: refuse("b"))

    assert [problem.field for problem in refused.value.details] == ["a", "b"]
    assert refused.value.message == "a: Too small. b: Too small."


def test_nothing_answers_that_the_audit_log_could_not_be_written() -> None:
    root = Path(__file__).parents[2]
    sources = [path for layer in ("core", "adapters", "actors", "entrypoints") for path in (root / layer).rglob("*.py")]

    # The table of errors says that it does not happen.
    assert [str(path.relative_to(root)) for path in sources if "AUDIT_ERROR" in path.read_text()] == [
        "core/errors.py",
        "entrypoints/web/describing/error_advice.py",
    ]
