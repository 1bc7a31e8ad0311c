"""The pages of the error codes: what each means, what the caller does next, and which operations answer it.

Every refusal names the page of its code in a `Link` header (`entrypoints/web/serving/answering/answers.py`). What the
pages say is derived from the table of codes and the declarations of the routes, beside the advice of `error_advice.py`.
"""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from itertools import groupby
from typing import Annotated, Any, Final
from uuid import UUID

from core.errors import ErrorCode, FieldError, NotFound
from core.lazy_dataclasses import dataclass
from entrypoints.installation import Installation
from entrypoints.pages.frame.refusals import refusal_page
from entrypoints.pages.frame.rendering import HTML, Page, protected, render
from entrypoints.pages.manual import links
from entrypoints.web.describing.areas import Line, addresses_of, line_of
from entrypoints.web.describing.documented_errors import ALWAYS_POSSIBLE, ErrorGroup, operations_by_code
from entrypoints.web.describing.error_advice import ADVICE
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.answering.answers import (
    CHALLENGES,
    ERROR_PAGES,
    JSON,
    AnswerStatus,
    CustomerError,
    Error,
    OfferedCustomer,
    SingleSignOnError,
    encode,
    error_page,
    help_links,
)
from entrypoints.web.serving.answering.documents import Document, generated_once
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Route, Routes

routes = Routes("reference", "This reference, for people and for programs.", refusal_page)

_REQUEST_ID: Final = "5f0c8c9d2f6b4b6a9d53c1a7c1f0e2ab"
_TIME: Final = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
_ID: Final = UUID("01890a5d-ac96-774b-bcce-b302099a8057")
_RETRY_SECONDS: Final = 30
# The bodies with more fields than every error has; a code alone does not say which these are.
_CUSTOMERS: Final[dict[str, Any]] = {
    "customers": [OfferedCustomer(id=_ID, slug="acme", name="Acme", connection_id=None)],
    "individual": False,
    "customer_token": "text",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering:
    """An operation that answers a code, and with which messages of its own."""

    line: Line
    messages: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweringArea:
    """The operations of a capability that answer a code."""

    name: str
    operations: Sequence[Answering]


@routes.get(ERROR_PAGES)
@public
async def list_errors(call: Call) -> Page | Annotated[None, AnswerStatus(304)]:
    """Show all error codes, each with the link to its page."""
    document = await generated_once(call, _write_list)
    return protected(document.response(call), connects=True)


@routes.get(f"{ERROR_PAGES}/:code", refuses=(NotFound,))
@public
async def show_error(call: Call, code: str) -> Page | Annotated[None, AnswerStatus(304)]:
    """Show what an error code means, what the caller does next, and which operations answer it."""
    known = ErrorCode.__members__.get(code.upper())
    if known is None:
        raise NotFound
    document = await generated_once(call, _ErrorPage(known))
    return protected(document.response(call), connects=True)


def codes() -> Sequence[ErrorCode]:
    """Return all codes, by their status."""
    return sorted(ErrorCode, key=lambda code: (code.status, code.name))


def _write_list(_routes: tuple[Route, ...], installation: Installation) -> Document:
    html = render("reference/errors.html", version=installation.version, codes=codes(), error_page=error_page)
    return Document.of(html.encode(), media_type=f"{HTML}; charset=utf-8")


@dataclass(frozen=True, slots=True)
class _ErrorPage:
    """Writes the page of a code."""

    code: ErrorCode

    def __call__(self, routes: tuple[Route, ...], installation: Installation) -> Document:
        """Return the page."""
        answering = operations_by_code(routes)[self.code]
        html = render(
            "reference/errors_one.html",
            version=installation.version,
            code=self.code,
            phrase=HTTPStatus(self.code.status).phrase,
            advice=ADVICE[self.code],
            manual=links.address_of(links.OF_CODES.get(self.code)),
            is_always_possible=self.code in ALWAYS_POSSIBLE,
            is_of_every_operation=len(answering) == sum(not route.is_page for route in routes),
            areas=list(_areas(routes, self.code)),
            operations_count=len(answering),
            example=example_of(self.code, installation.settings.base_url),
        )
        return Document.of(html.encode(), media_type=f"{HTML}; charset=utf-8")


def _areas(routes: tuple[Route, ...], code: ErrorCode) -> Iterator[AnsweringArea]:
    addresses, answering = addresses_of(routes), operations_by_code(routes)[code]
    for capability, group in groupby(answering.items(), key=lambda one: one[0].capability):
        yield AnsweringArea(
            name=capability[:1].upper() + capability[1:],
            operations=[
                Answering(line=line_of(route, addresses[route.operation_id]), messages=described.messages)
                for route, described in group
            ],
        )


def example_of(code: ErrorCode, base_url: str) -> str:
    """Return an answer with a code as it comes over the network, its body indented."""
    headers = {"Content-Type": JSON, "X-Request-Id": _REQUEST_ID}
    if (challenge := CHALLENGES.get(code)) is not None:
        headers["WWW-Authenticate"] = challenge
    if ErrorGroup(status=code.status, codes=(code,)).is_temporary:
        headers["Retry-After"] = str(_RETRY_SECONDS)
    headers["Link"] = help_links(base_url)[code]
    body = json.dumps(json.loads(encode(_body_of(code))), indent=2)
    lines = [
        f"{code.status} {HTTPStatus(code.status).phrase}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return "\n".join([*lines, "", body])


def _body_of(code: ErrorCode) -> Error:
    problem = FieldError(field="email", message="This is not a valid email address.")
    details, error = ((problem,), "email: " + problem.message) if code is ErrorCode.BAD_REQUEST else ((), code.meaning)
    common: dict[str, Any] = {
        "error": error,
        "error_code": code.name,
        "timestamp": _TIME,
        "request_id": _REQUEST_ID,
        "details": details,
    }
    match code:
        case ErrorCode.CUSTOMER_REQUIRED:
            return CustomerError(**common, **_CUSTOMERS)
        case ErrorCode.SSO_REQUIRED:
            return SingleSignOnError(**common, connection_id=_ID)
        case _:
            return Error(**common)
