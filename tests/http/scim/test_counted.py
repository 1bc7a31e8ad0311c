"""The lists and objects of SCIM bodies are counted before anything else reads them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from core.errors import PayloadTooLarge
from core.scim.refusals import NAMED_MAX, TooManyMembersNamed
from entrypoints.http.scim.dialect import COMMAS_MAX, CONTAINERS_MAX, GROUP_SCHEMA, OTHERS_MAX, decode_named
from entrypoints.http.scim.resources import ScimGroupInput, ScimPatch, ScimUserInput
from tests.world.directory import PATCH, USER

MEMBER = {"value": "0196c9f2-0000-7000-8000-000000000000", "type": "User", "display": "Lovelace, Ada", "$ref": "x"}


def put(number: int) -> bytes:
    """Return a group with so many members, as directories send it."""
    return msgspec.json.encode({"schemas": [GROUP_SCHEMA], "displayName": "Sales", "members": [MEMBER] * number})


def patch(*values: int) -> bytes:
    """Return operations that add so many members each."""
    operations = [{"op": "add", "path": "members", "value": [MEMBER] * number} for number in values]
    return msgspec.json.encode({"schemas": [PATCH], "Operations": operations})


def test_as_many_members_as_a_call_may_name_are_taken() -> None:
    assert len(decode_named(put(NAMED_MAX), ScimGroupInput).members or []) == NAMED_MAX
    assert len(decode_named(patch(NAMED_MAX), ScimPatch).operations) == 1
    assert len(decode_named(patch(*[NAMED_MAX // 1_000] * 1_000), ScimPatch).operations) == 1_000


@pytest.mark.parametrize(
    ("data", "shape"), [(put(NAMED_MAX + 1), ScimGroupInput), (patch(NAMED_MAX, 1), ScimPatch)], ids=["PUT", "PATCH"]
)
def test_one_member_more_is_refused_however_often_it_is_the_same(data: bytes, shape: type[Any]) -> None:
    with pytest.raises(TooManyMembersNamed):
        decode_named(data, shape)


@pytest.mark.parametrize(
    "body",
    [
        {"emails": [{"value": "ada@example.com"}] * (OTHERS_MAX + 1)},
        {"schemas": [USER] * (OTHERS_MAX + 1)},
        # Of an attribute that is ignored.
        {"nickName": [[]] * CONTAINERS_MAX},
        {"nickName": [{}] * CONTAINERS_MAX},
        {"nickName": [0] * (COMMAS_MAX + 2)},
    ],
    ids=["addresses", "schemas", "lists", "objects", "numbers"],
)
def test_a_body_has_few_other_elements(body: dict[str, Any]) -> None:
    with pytest.raises(PayloadTooLarge):
        decode_named(msgspec.json.encode({"userName": "ada", **body}), ScimUserInput)
