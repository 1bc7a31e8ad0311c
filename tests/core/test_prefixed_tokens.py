"""The form reserved for tokens that name their region: no present token has it, and no token is read by it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core.organizations import key_callers
from core.prefixed_tokens import PrefixedToken
from core.scim import tokens as scim_tokens
from core.services import api_keys

RANDOM = f"a1B2c3_{'k' * 43}"


@pytest.mark.parametrize(
    ("kind", "presented"),
    [("sk", api_keys.presented), ("gk", key_callers.presented), ("scim_live", scim_tokens.presented)],
)
# Also one that looks like a prefix, and one that is a word of a kind.
@pytest.mark.parametrize("region", ["eu", "us1", "a1b2c3", "live"])
def test_a_token_that_names_a_region_is_refused_like_any_other_form(
    kind: str, presented: Callable[[str], PrefixedToken], region: str
) -> None:
    assert presented(f"{kind}_{RANDOM}").prefix == f"{kind}_a1B2c3"
    assert presented(f"{kind}_{region}_{RANDOM}").prefix == ""
