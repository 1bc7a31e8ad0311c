"""Checks that the OpenAPI document names every status and error code that the application answers.

The client of all HTTP tests calls it with every response, so that a refusal which a route does not declare fails the
test that provokes it.
"""

from __future__ import annotations

import json
from functools import cache
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import unquote

from werkzeug.exceptions import HTTPException

from entrypoints.web.describing.documented_errors import ALWAYS_POSSIBLE, refusals
from entrypoints.web.describing.schemas import answers
from entrypoints.web.serving.application import Application
from entrypoints.web.serving.routes import Route

if TYPE_CHECKING:
    from tests.application import Answer

ANYWHERE = {code.name for code in ALWAYS_POSSIBLE}
FIRST_ERROR = HTTPStatus.BAD_REQUEST


def assert_documented(application: Application, method: str, path: str, answer: Answer) -> None:
    """Fail when the document of the route does not have the status, or the error code, of the answer."""
    route = _route(application, method, path)
    if route is None:
        return
    statuses, codes = _documented(route)
    code = _error_code(answer)
    if code is None:
        assert answer.status in statuses, f"{route.name} does not document the status {answer.status}"
    elif code not in ANYWHERE:
        assert code in codes, f"{route.name} does not document {code} ({answer.status}): declare it in `refuses`"


def _route(application: Application, method: str, path: str) -> Route | None:
    """Return the route that a request matches; OPTIONS is the same for all paths and not documented."""
    if method == "OPTIONS":
        return None
    try:
        route, _ = application.paths.find(method, unquote(path.partition("?")[0]))
    except HTTPException:
        return None
    return route


@cache
def _documented(route: Route) -> tuple[set[int], set[str]]:
    found = refusals(route)
    statuses = {answer.status for answer in answers(route)} | {one.code.status for one in found}
    return statuses, {one.code.name for one in found}


def _error_code(answer: Answer) -> str | None:
    """Return the error code of a refusal in JSON; None for any other response."""
    if answer.status < FIRST_ERROR or not answer.headers.get("Content-Type", "").startswith("application/json"):
        return None
    return json.loads(answer.content or b"{}").get("error_code")
