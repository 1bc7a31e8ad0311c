"""Every schema and every field of the interface is described, once, and has an example that is valid.

A schema has the name of its class, so a class of the interface is named in the terms of the field, and uniquely.
"""

from __future__ import annotations

import math
import re
from typing import Any

import msgspec
import pytest

from core.secrets import Secret
from entrypoints import capabilities
from entrypoints.web.describing import event_payloads, openapi
from entrypoints.web.describing.answer_values import VALUES
from entrypoints.web.describing.descriptions import FIELDS, PARTS
from entrypoints.web.describing.examples import answer_example, example, text_fields_without_example
from entrypoints.web.describing.openapi import describe
from entrypoints.web.describing.schemas import Schemas, answers, inner_classes

ROUTES = capabilities.routes(is_development=True)
ANSWERED = [
    *(shape for route in ROUTES for answer in answers(route) for shape in answer.shapes),
    *event_payloads.shapes(),
]
WITH_INPUT = [route for route in ROUTES if route.sent is not None]
# Of one character of a word, on average; a random word of base64 with 43 characters has about 4.9.
ENTROPY_BITS_MAX = 4.5
# The code challenge of RFC 7636, and the beginning of an SVG image.
PUBLIC = ("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "PHN2Zy")
# The words of people: sentences, not labels.
SENTENCE = re.compile(r"[A-Z`].*[.]", re.DOTALL)


@pytest.fixture(scope="module")
def schemas() -> Schemas:
    """The schemas of all routes, with the parameters of their paths."""
    schemas = Schemas(ROUTES, delivered=event_payloads.shapes())
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


def test_no_field_has_two_descriptions() -> None:
    fields = [field for part in PARTS for names in part for field in names.split()]

    assert len(fields) == len(set(fields))


def test_every_description_is_a_sentence(components: dict[str, Any]) -> None:
    texts = [words["description"] for words in FIELDS.values()]
    texts += [schema["description"] for schema in components.values()]

    assert [text for text in texts if not SENTENCE.fullmatch(text.removeprefix("- "))] == []


def test_every_name_is_that_of_a_schema_in_the_terms_of_the_field(components: dict[str, Any]) -> None:
    assert [name for name in components if not re.fullmatch(r"([A-Z][a-z]+)+", name)] == []


def test_no_name_is_that_of_two_schemas() -> None:
    classes = inner_classes(
        [
            shape
            for route in ROUTES
            for shape in (route.sent, *(part for one in answers(route) for part in one.shapes))
            if shape
        ]
    )
    names = [cls.__name__ for cls in classes]

    assert len(set(names)) == len(names)


def test_every_example_of_a_body_is_accepted_by_its_type(schemas: Schemas, subtests: pytest.Subtests) -> None:
    for route in WITH_INPUT:
        with subtests.test(route=route.name):
            value = example(schemas, schemas.of(route.sent))

            # Of a type of its own is only a secret that is typed.
            assert msgspec.convert(value, route.sent, strict=route.form is None, dec_hook=lambda _, text: Secret(text))


def test_every_example_of_a_field_fits_its_rules(schemas: Schemas) -> None:
    for cls in inner_classes([route.sent for route in WITH_INPUT]):
        for name, schema in schemas.resolved(schemas.of(cls))["properties"].items():
            where = f"{cls.__name__}.{name}"
            for value in [one for one in schema.get("examples", []) if isinstance(one, str)]:
                for part in schema.get("anyOf", [schema]):
                    assert re.search(part.get("pattern", ""), value), where
                    assert part.get("minLength", 0) <= len(value) <= part.get("maxLength", len(value)), where


def test_every_example_of_an_answer_is_one_of_its_type(schemas: Schemas, subtests: pytest.Subtests) -> None:
    for shape in dict.fromkeys(ANSWERED):
        with subtests.test(shape=shape):
            value = answer_example(schemas, schemas.of(shape))

            assert msgspec.convert(value, shape) is not None


def test_an_example_of_an_answer_has_all_of_its_fields(schemas: Schemas) -> None:
    for shape in dict.fromkeys(ANSWERED):
        schema = schemas.resolved(schemas.of(shape))
        if "properties" in schema:
            assert answer_example(schemas, schemas.of(shape)).keys() == schema["properties"].keys(), shape


def test_every_text_of_an_answer_has_an_example(schemas: Schemas) -> None:
    found = [name for cls in inner_classes(ANSWERED) for name in text_fields_without_example(schemas, schemas.of(cls))]

    assert found == [], "give them values in entrypoints/web/describing/answer_values.py"


def test_every_value_of_examples_is_of_a_field(schemas: Schemas) -> None:
    names = {"ScimError.schemas", "FieldError.message"}
    for cls in inner_classes(ANSWERED):
        for field in schemas.resolved(schemas.of(cls)).get("properties", {}):
            names |= {field, f"{schemas.name_of(cls)}.{field}"}

    assert set(VALUES) - names == set(), "delete the lines in entrypoints/web/describing/answer_values.py"


def test_no_example_looks_like_a_secret(components: dict[str, Any], schemas: Schemas) -> None:
    values = [answer_example(schemas, schemas.of(shape)) for shape in dict.fromkeys(ANSWERED)]
    values += [value for schema in components.values() for value in examples_in(schema)]

    words = {word for value in values for text in texts_in(value) for word in re.findall(r"[A-Za-z0-9+/_-]{24,}", text)}
    secrets = [word for word in words if looks_random(word) and not word.startswith(PUBLIC)]

    assert words
    assert secrets == [], secrets


def examples_in(schema: Any) -> list[Any]:
    """Return every example inside a schema."""
    if isinstance(schema, dict):
        return [*schema.get("examples", []), *(found for part in schema.values() for found in examples_in(part))]
    return [found for part in schema for found in examples_in(part)] if isinstance(schema, list) else []


def texts_in(value: Any) -> list[str]:
    """Return every text inside a value."""
    if isinstance(value, dict):
        return [text for part in value.values() for text in texts_in(part)]
    if isinstance(value, list):
        return [text for part in value for text in texts_in(part)]
    return [value] if isinstance(value, str) else []


def looks_random(word: str) -> bool:
    """Return whether a scanner of sources would call a word a secret: mixed characters, of high entropy."""
    counts = [word.count(character) / len(word) for character in set(word)]
    has_all_kinds = all(re.search(kind, word) for kind in ("[a-z]", "[A-Z]", "[0-9]"))
    return has_all_kinds and -sum(share * math.log2(share) for share in counts) > ENTROPY_BITS_MAX
