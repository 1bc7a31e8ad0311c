"""The check of answers against the OpenAPI document fails when it should."""

from __future__ import annotations

import pytest

from entrypoints.web.serving.application import Application
from tests.application import Answer
from tests.documented import assert_documented


@pytest.mark.parametrize(
    ("status", "content", "named"),
    [(418, b"", "418"), (200, b"", ""), (409, b'{"error_code": "CONFLICT"}', "CONFLICT")],
)
async def test_an_answer_that_is_not_documented_is_named(
    application: Application, status: int, content: bytes, named: str
) -> None:
    answer = Answer(status=status, headers={"Content-Type": "application/json"} if content else {}, content=content)

    if named:
        with pytest.raises(AssertionError, match=named):
            assert_documented(application, "GET", "/api/user?x=1", answer)
    else:
        assert_documented(application, "GET", "/api/user?x=1", answer)


async def test_a_request_that_matches_no_route_has_no_document(application: Application) -> None:
    assert_documented(application, "GET", "/nothing", Answer(status=404, headers={}, content=b""))
