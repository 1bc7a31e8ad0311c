"""SCIM filters and the paths of PATCH, beside a second reading by RFC 7644, and scim2-models."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.scim.filters import And, AttributePath, Comparison, Filter, Not, Or, Present, matches, parse, parse_target
from core.scim.refusals import InvalidFilter
from tests.differential import scim_reader
from tests.differential.opinions import (
    Case,
    Difference,
    Reader,
    many_examples,
    mutated_text,
    require_agreement,
    require_real,
)
from tests.peers import peer

_NAMES: Final = st.sampled_from(
    [
        *("id", "externalId", "displayName", "DISPLAYNAME", "active", "emails", "members", "name", "name.givenName"),
        *("emails.value", "members.type", "not", "and", "pr", "eq", "$ref", "members.$ref", "x-y_z9", "missing"),
        *("urn:ietf:params:scim:schemas:core:2.0:User:active", "urn:x:name.givenName", "URN:x:id"),
    ]
)
_VALUES: Final = st.sampled_from(
    [
        *('"a"', '"A"', '"ab"', '""', '"a\\"b"', '"a\\u0062"', '"a\\\\"', '"ä"', '"Ä"', '"\\ud83d\\udd11"', '" a "'),
        *("true", "TRUE", "false", "null", "1", "-0", "1.5", "1e3", "01", "+1", "a", "NaN", "'a'", '"a" "b"'),
        "0196c9f2-7a0e-7000-8000-000000000000",
    ]
)
_BLANK: Final = st.sampled_from([" ", " ", " ", "  ", "\t", "\r\n"])
_ANY_CASE: Final = st.sampled_from([str.lower, str.lower, str.upper, str.capitalize])
_OPERATOR: Final = st.builds(
    lambda word, change: change(word),
    st.sampled_from(["eq", "ne", "co", "sw", "ew", "gt", "ge", "lt", "le"]),
    _ANY_CASE,
)
_TERMS: Final = st.builds("{}{}{}{}{}".format, _NAMES, _BLANK, _OPERATOR, _BLANK, _VALUES) | st.builds(
    "{}{}pr".format, _NAMES, _BLANK
)


def _composed(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("{} {} {}".format, inner, st.sampled_from(["and", "or", "AND", "Or"]), inner),
        st.builds("({})".format, inner),
        st.builds("{}({})".format, st.sampled_from(["not", "not ", "NOT\t"]), inner),
        st.builds("{}[{}]".format, st.sampled_from(["emails", "members", "name", "urn:x:emails", "id"]), inner),
    )


filters: Final = mutated_text(st.recursive(_TERMS, _composed, max_leaves=6))
targets: Final = mutated_text(
    _NAMES | st.builds("{}[{}]{}".format, _NAMES, _TERMS, st.sampled_from(["", ".value", ".$ref", ".", ".a.b", " "]))
)
_WORDS: Final = st.sampled_from(["a", "A", "ab", "ä", "Ä", "", 'a"b', "a\\", " a ", "🔑"])
_ELEMENTS: Final = st.fixed_dictionaries(
    {}, optional={"value": _WORDS, "type": _WORDS, "primary": st.booleans(), "display": st.none() | _WORDS}
)
resources: Final = st.fixed_dictionaries(
    {"id": _WORDS},
    optional={
        "externalid": st.none() | _WORDS,
        "displayname": _WORDS,
        "active": st.booleans(),
        "emails": st.lists(_ELEMENTS, max_size=3),
        "members": st.lists(_ELEMENTS, max_size=3),
        "name": st.fixed_dictionaries({}, optional={"givenname": _WORDS, "formatted": _WORDS}),
    },
)


def _attribute(path: AttributePath) -> list[str | None]:
    return [path.schema, path.name, path.sub]


def _tree(filter_: Filter) -> Any:
    match filter_:
        case Comparison():
            return [filter_.operator.value, _attribute(filter_.path), filter_.value]
        case Present():
            return ["pr", _attribute(filter_.path)]
        case Not():
            return ["not", _tree(filter_.inner)]
        case And():
            return scim_reader.joined("and", _tree(filter_.left), _tree(filter_.right))
        case Or():
            return scim_reader.joined("or", _tree(filter_.left), _tree(filter_.right))
        case _:
            return ["in", _attribute(filter_.path), _tree(filter_.inner)]


def read_by_us(text: str) -> Any:
    """Return the filter in a text as a list; None when it is refused."""
    try:
        return _tree(parse(text))
    except InvalidFilter:
        return None


def read_target_by_us(text: str) -> Any:
    """Return the path of an operation as a list; None when it is refused."""
    try:
        found = parse_target(text)
    except InvalidFilter:
        return None
    return [_attribute(found.attribute), _tree(found.values) if found.values is not None else None, found.sub]


def _has_other_schema(found: Any) -> bool:
    """Return whether a reading names a schema that is no URN."""
    match found:
        case [str() as schema, str(), str() | None]:
            return not re.fullmatch(r"(?ai)urn(:[a-z0-9][\w.-]*)+", schema)
        case list():
            return any(map(_has_other_schema, found))
        case _:
            return False


DIFFERENCES: Final = (
    Difference(
        "Clients write an id without quotation marks, as our own document does.",
        lambda case: case.is_laxer and re.search(r"(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", case.given),
        "members[value eq 0196c9f2-7a0e-7000-8000-000000000000]",
    ),
    Difference(
        "The name of a schema is compared with ours afterwards, so one that is no URN is only unknown.",
        lambda case: case.is_laxer and _has_other_schema(case.ours),
        "x:id[value pr]",
    ),
    Difference(
        "A name may begin with $ because of $ref; one that is nothing but that is unknown afterwards.",
        lambda case: case.is_laxer and re.search(r"\$(?![A-Za-z])", case.given),
        "$-ref pr",
    ),
    Difference(
        "A text may contain the control characters that JSON wants escaped; its end is the same.",
        lambda case: case.is_laxer and re.search(r"[\x00-\x1f]", case.given),
        'id[value eq "a\tb"]',
    ),
    Difference(
        "A text that cannot be stored is the value of nothing: NUL, and half of a character.",
        lambda case: case.is_stricter and re.search(r"(?i)\\u(0000|d[89a-f])|\x00", case.given),
        r'id[value eq "\ud811"]',
    ),
    Difference(
        "A number has at most 18 characters, and a filter 50 terms in 10 levels, so that none takes long.",
        lambda case: case.is_stricter and re.search(r"\d{12}|([(\[].*){11}", case.given, re.DOTALL),
        f"id[value eq {'1' * 40}]",
    ),
)
SCIM2_DIFFERENCES: Final = (
    *DIFFERENCES,
    Difference(
        "An attribute may be named not; the library reads the operator.",
        lambda case: case.is_laxer and re.search(r"(?i)(?<!\w)not\s*(?!\()", case.given),
        "id[not pr]",
    ),
    Difference(
        "Brackets in brackets are refused one step later, where filters get a meaning.",
        lambda case: case.is_laxer and re.search(r"\[[^\]]*\[", case.given),
        "id[emails[value pr]]",
    ),
    Difference(
        "The library also reads a comparison of a part behind brackets, which is no filter in RFC 7644.",
        lambda case: case.is_stricter and re.search(r"\]\s*\.", case.given),
        'emails[type eq "work"].value eq "x"',
    ),
    Difference(
        "The library takes any blank of Python around words; RFC 7644 has the space.",
        lambda case: case.is_stricter and re.search(r"[\x0b\x0c\x1c-\x1f\x85\xa0\u2028]", case.given),
        "\x0cid pr",
    ),
)


@many_examples
@given(text=filters, resource=resources)
def test_a_filter_is_read_and_decided_alike(text: str, resource: dict[str, Any]) -> None:
    case = Case(text, read_by_us(text), scim_reader.read(text))

    require_agreement(case, DIFFERENCES)
    if case.ours is not None and case.ours == case.theirs:
        assert matches(parse(text), resource) == scim_reader.selects(case.theirs, resource)


@many_examples
@given(text=targets)
def test_the_path_of_an_operation_is_read_alike(text: str) -> None:
    require_agreement(Case(text, read_target_by_us(text), scim_reader.read_target(text)), DIFFERENCES)


def test_every_difference_that_is_named_is_there() -> None:
    require_real(DIFFERENCES, lambda text: Case(text, read_by_us(text), scim_reader.read(text)))


@pytest.fixture(scope="module")
def scim2() -> Iterator[Reader]:
    """The second library: its parser is made from a grammar in EBNF."""
    reader = Reader(peer("scim2").program("python"), str(Path(__file__).parent / "read_scim.py"))
    yield reader
    reader.close()


@pytest.mark.long
@many_examples
@given(text=filters, path=targets)
def test_filters_and_paths_are_read_as_scim2_models_reads_them(text: str, path: str, scim2: Reader) -> None:
    require_agreement(Case(text, read_by_us(text), scim2.ask(["filter", text])), SCIM2_DIFFERENCES)
    require_agreement(Case(path, read_target_by_us(path), scim2.ask(["path", path])), SCIM2_DIFFERENCES)


@pytest.mark.long
def test_every_difference_to_scim2_models_is_there(scim2: Reader) -> None:
    require_real(SCIM2_DIFFERENCES, lambda text: Case(text, read_by_us(text), scim2.ask(["filter", text])))
