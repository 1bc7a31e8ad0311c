"""The parts of an OpenAPI document, for the tests in this folder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from entrypoints import capabilities
from entrypoints.web.serving.routes import Route
from tests import specimen

BASE_URL = "https://id.example.com"


def every_route() -> list[Route]:
    """Return all routes, also of the specimen, which uses every kind of declaration."""
    return [*capabilities.routes(is_development=True), *specimen.routes.routes]


def operation(document: dict[str, Any], method: str, path: str) -> dict[str, Any]:
    """Return an operation."""
    return document["paths"][path][method]


def component(document: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a schema."""
    return document["components"]["schemas"][name]


def resolved(document: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """Return the response that a reference names, or the response itself."""
    return document["components"]["responses"][answer["$ref"].rpartition("/")[2]] if "$ref" in answer else answer


def everything_in(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every object in a document."""
    if isinstance(value, dict):
        yield value
        for part in value.values():
            yield from everything_in(part)
    elif isinstance(value, list):
        for part in value:
            yield from everything_in(part)
