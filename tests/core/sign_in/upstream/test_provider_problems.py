"""The problems of providers, and what a token endpoint says of our credentials."""

from __future__ import annotations

from typing import Any

import pytest

from core.sign_in.reasons import SignInReason
from core.sign_in.upstream.provider_problems import (
    Finding,
    ProviderProblem,
    judge_credentials,
    judge_exchange,
    judge_request,
    judge_token,
    problem_of,
)


@pytest.mark.parametrize(
    ("status", "answer", "problem"),
    [
        (400, {"error": "invalid_grant"}, None),
        (401, {"error": "invalid_client"}, ProviderProblem.WRONG_SECRET),
        (400, {"error": "invalid_client", "error_codes": [7_000_215]}, ProviderProblem.WRONG_SECRET),
        (400, {"error": "invalid_client", "error_codes": [7_000_222]}, ProviderProblem.SECRET_ENDED),
        (400, {"error": "unauthorized_client"}, ProviderProblem.UNKNOWN_CLIENT),
        (401, {"error": "unauthorized_client"}, ProviderProblem.WRONG_SECRET),
        (400, {"error": "redirect_uri_mismatch"}, ProviderProblem.WRONG_REDIRECT),
        (401, {"message": "no"}, ProviderProblem.WRONG_SECRET),
        (302, {}, ProviderProblem.TOKEN_ENDPOINT),
        (404, {"message": "no such page"}, ProviderProblem.TOKEN_ENDPOINT),
        (404, {"error": "invalid_grant"}, None),
        (500, {}, ProviderProblem.SECRET_UNCLEAR),
        (400, {"error": ["odd"]}, ProviderProblem.SECRET_UNCLEAR),
        (200, {"access_token": "at"}, ProviderProblem.SECRET_UNCLEAR),
    ],
)
def test_a_code_that_the_provider_has_not_issued_tells_whether_the_credentials_are_right(
    status: int, answer: dict[str, Any], problem: ProviderProblem | None
) -> None:
    assert judge_credentials(status, answer) is problem


@pytest.mark.parametrize(
    ("status", "answer", "problem"),
    [
        (400, {"error": "invalid_grant"}, ProviderProblem.CODE_REFUSED),
        (401, {"error": "invalid_client"}, ProviderProblem.WRONG_SECRET),
        (400, {"error": "invalid_client", "error_codes": [7_000_222]}, ProviderProblem.SECRET_ENDED),
        (400, {"error": "unauthorized_client"}, ProviderProblem.UNKNOWN_CLIENT),
        (503, {"error": "temporarily_unavailable"}, ProviderProblem.TOKEN_ENDPOINT),
        (307, {}, ProviderProblem.TOKEN_ENDPOINT),
    ],
)
def test_the_code_of_a_sign_in_is_refused_for_itself_or_for_our_credentials(
    status: int, answer: dict[str, Any], problem: ProviderProblem
) -> None:
    assert judge_exchange(status, answer) is problem
    assert problem.is_of_one_sign_in == (problem is ProviderProblem.CODE_REFUSED)


@pytest.mark.parametrize(
    ("status", "answer", "problem"),
    [
        (200, {"access_token": "at"}, None),
        (200, {"error": "invalid_client"}, ProviderProblem.WRONG_SECRET),
        (400, {"error": "invalid_grant"}, ProviderProblem.SECRET_UNCLEAR),
        (400, {"error": "invalid_scope"}, ProviderProblem.SECRET_UNCLEAR),
    ],
)
def test_a_token_of_our_own_tells_it_where_codes_are_looked_at_first(
    status: int, answer: dict[str, Any], problem: ProviderProblem | None
) -> None:
    assert judge_token(status, answer) is problem


@pytest.mark.parametrize(
    ("reason", "problem"),
    [
        (None, ProviderProblem.OTHER),
        ("Its assertion is not signed.", ProviderProblem.OTHER),
        ("unreachable", ProviderProblem.UNREACHABLE),
        ("no_token_endpoint", ProviderProblem.NO_ENDPOINT),
        (SignInReason.ADDRESS_NOT_VERIFIED_THERE, ProviderProblem.NO_ADDRESS),
        (SignInReason.DOMAIN_NOT_PROVED, ProviderProblem.FOREIGN_DOMAIN),
    ],
)
def test_each_reason_stands_for_one_problem(reason: str | None, problem: ProviderProblem) -> None:
    assert problem_of(reason) is problem


def test_a_secret_of_which_nothing_is_known_prevents_nothing() -> None:
    problems = (None, ProviderProblem.SECRET_UNCLEAR, ProviderProblem.WRONG_SECRET)

    assert [Finding(problem=one).prevents for one in problems] == [False, False, True]


@pytest.mark.parametrize(
    ("status", "is_refused"),
    [(None, False), (200, False), (302, False), (401, False), (400, True), (403, True), (500, True)],
)
def test_a_request_for_a_sign_in_is_answered_or_refused(status: int | None, *, is_refused: bool) -> None:
    problem = judge_request(status)

    assert problem is (ProviderProblem.REQUEST_REFUSED if is_refused else None)


def test_what_a_test_tells_and_what_keeps_a_connection_from_being_saved() -> None:
    saved = {problem for problem in ProviderProblem if not problem.prevents}

    assert saved == {ProviderProblem.SECRET_UNCLEAR, ProviderProblem.REQUEST_REFUSED}
    assert {problem for problem in ProviderProblem if not problem.fails_test} == {ProviderProblem.SECRET_UNCLEAR}
