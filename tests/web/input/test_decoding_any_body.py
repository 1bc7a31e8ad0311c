"""Every body is either accepted or refused with a reason."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from core.errors import BadRequest
from entrypoints.web.input.decoding import decode_body
from tests.web.input.parcels import Parcel, is_storable


def decoded_or_refused(data: bytes) -> Parcel | BadRequest:
    try:
        return decode_body(data, Parcel)
    except BadRequest as refusal:
        return refusal


# Lone surrogates too, which JSON can express.
texts = st.text() | st.text(st.characters())
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inside: st.lists(inside, max_size=5) | st.dictionaries(texts, inside, max_size=5),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(["name", "weight", "tags", "marks", "address", "other"]), json_values))
def test_any_object_is_either_accepted_or_refused_with_a_field(value: dict[str, Any]) -> None:
    data = json.dumps(value).encode()

    decoded = decoded_or_refused(data)

    if isinstance(decoded, BadRequest):
        assert decoded.details
        # The answer can be encoded.
        assert all(f"{detail.field}{detail.message}".encode() for detail in decoded.details)
    else:
        assert all(is_storable(text) for text in [decoded.name, *decoded.tags, *decoded.marks, *decoded.marks.values()])


@given(st.binary() | st.binary().map(lambda data: b'{"name": "' + data + b'"}'))
def test_any_bytes_are_either_accepted_or_refused(data: bytes) -> None:
    decoded = decoded_or_refused(data)

    assert isinstance(decoded, BadRequest) or is_storable(decoded.name)
