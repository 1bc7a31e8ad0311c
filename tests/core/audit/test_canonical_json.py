"""Canonical JSON as RFC 8785 defines it."""

from __future__ import annotations

import json
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.audit.canonical_json import canonical

# Texts without lone surrogates, which JSON in UTF-8 cannot contain.
texts = st.text(st.characters(exclude_categories=["Cs"]))
numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(texts, inner, max_size=5),
    max_leaves=20,
)

# RFC 8785, appendix B: the bits of a double, and its text.
DOUBLES = {
    "0000000000000000": "0",
    "8000000000000000": "0",
    "0000000000000001": "5e-324",
    "8000000000000001": "-5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308",
    "ffefffffffffffff": "-1.7976931348623157e+308",
    "4340000000000000": "9007199254740992",
    "c340000000000000": "-9007199254740992",
    "4430000000000000": "295147905179352830000",
    "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23",
    "44b52d02c7e14af7": "1.0000000000000001e+23",
    "444b1ae4d6e2ef4e": "999999999999999700000",
    "444b1ae4d6e2ef4f": "999999999999999900000",
    "444b1ae4d6e2ef50": "1e+21",
    "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "3eb0c6f7a0b5ed8d": "0.000001",
    "41b3de4355555553": "333333333.3333332",
    "41b3de4355555554": "333333333.33333325",
    "41b3de4355555555": "333333333.3333333",
    "41b3de4355555556": "333333333.3333334",
    "41b3de4355555557": "333333333.33333343",
    "becbf647612f3696": "-0.0000033333333333333333",
    "43143ff3c1cb0959": "1424953923781206.2",
}


@pytest.mark.parametrize(("bits", "text"), DOUBLES.items())
def test_a_number_is_written_as_by_ecmascript(bits: str, text: str) -> None:
    [number] = struct.unpack(">d", bytes.fromhex(bits))

    assert canonical(number).decode() == text


def test_the_example_of_the_rfc_has_the_bytes_of_the_rfc() -> None:
    # RFC 8785, 3.2.2 and 3.2.3.
    value = json.loads(
        r"""
        {"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
         "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
         "literals": [null, true, false]}
        """
    )

    assert canonical(value) == (
        b'{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        b'"string":"\xe2\x82\xac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )


def test_names_are_ordered_by_their_utf_16_code_units() -> None:
    names = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6"]

    ordered = list(json.loads(canonical(dict.fromkeys(names))))

    assert ordered == ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]


@given(values)
def test_the_canonical_form_is_the_same_value(value: Any) -> None:
    # As in ECMAScript, every number is a double.
    assert json.loads(canonical(value), parse_int=float) == value


@given(values)
def test_the_canonical_form_of_a_canonical_form_is_itself(value: Any) -> None:
    assert canonical(json.loads(canonical(value))) == canonical(value)


@given(st.dictionaries(texts, values))
def test_the_order_of_the_members_does_not_matter(value: dict[str, Any]) -> None:
    assert canonical(dict(reversed(value.items()))) == canonical(value)
