"""Every schema and every field of the interface is described, once, and has an example that is valid."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest

from entrypoints import capabilities
from entrypoints.web.describing import openapi
from entrypoints.web.describing.descriptions import FIELDS
from entrypoints.web.describing.examples import example
from entrypoints.web.describing.openapi import describe
from entrypoints.web.describing.schemas import Schemas, answers, inner_classes

ROUTES = capabilities.routes(is_development=True)
WITH_INPUT = [route for route in ROUTES if route.sent is not None]
# The words of people: sentences, not labels.
SENTENCE = re.compile(r"[A-Z`].*[.]", re.DOTALL)


@pytest.fixture(scope="module")
def schemas() -> Schemas:
    """The schemas of all routes, with the parameters of their paths."""
    schemas = Schemas(ROUTES)
    for route in ROUTES:
        openapi.parameters_of(route, schemas)
    return schemas


@pytest.fixture(scope="module")
def components() -> dict[str, Any]:
    """The schemas of the document."""
    return describe(ROUTES, base_url="https://id.example.com", version="1")["components"]["schemas"]


def test_every_field_is_described(schemas: Schemas) -> None:
    assert schemas.undescribed == [], "describe the fields in entrypoints/web/describing/descriptions.py"


def test_every_description_is_of_a_field(schemas: Schemas) -> None:
    assert set(FIELDS) - schemas.used_descriptions == set(), (
        "delete the lines in entrypoints/web/describing/descriptions.py"
    )


def test_every_description_is_a_sentence(components: dict[str, Any]) -> None:
    texts = [words["description"] for words in FIELDS.values()]
    texts += [schema["description"] for schema in components.values()]

    assert [text for text in texts if not SENTENCE.fullmatch(text.removeprefix("- "))] == []


def test_every_name_is_that_of_a_schema_in_the_terms_of_the_field(components: dict[str, Any]) -> None:
    assert [name for name in components if not re.fullmatch(r"([A-Z][a-z]+)+", name)] == []


def test_no_name_is_that_of_two_schemas() -> None:
    classes = inner_classes(
        [shape for route in ROUTES for shape in (route.sent, *(one.shape for one in answers(route))) if shape]
    )
    names = [cls.__name__ for cls in classes]

    assert len(set(names)) == len(names)


def test_every_example_of_a_body_is_accepted_by_its_type(schemas: Schemas, subtests: pytest.Subtests) -> None:
    for route in WITH_INPUT:
        with subtests.test(route=route.name):
            value = example(schemas, schemas.of(route.sent))

            assert msgspec.convert(value, route.sent, strict=route.form is None)


def test_every_example_of_a_field_fits_its_rules(schemas: Schemas) -> None:
    for cls in inner_classes([route.sent for route in WITH_INPUT]):
        for name, schema in schemas.resolved(schemas.of(cls))["properties"].items():
            where = f"{cls.__name__}.{name}"
            for value in [one for one in schema.get("examples", []) if isinstance(one, str)]:
                for part in schema.get("anyOf", [schema]):
                    assert re.search(part.get("pattern", ""), value), where
                    assert part.get("minLength", 0) <= len(value) <= part.get("maxLength", len(value)), where
