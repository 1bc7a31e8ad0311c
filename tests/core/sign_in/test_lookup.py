"""The lookup of a domain: how its addresses sign in."""

from __future__ import annotations

import pytest

from adapters.domain_names import IdnaDomainNames
from core.errors import BadRequest
from core.sign_in.lookup import AuthMethod, Lookup, by_domain

TO_ASCII = IdnaDomainNames().to_ascii


def test_a_domain_without_a_provider_of_its_own_signs_in_by_password() -> None:
    assert by_domain(" Ada@Example.ORG ", TO_ASCII) == Lookup(domain="example.org", auth_method=AuthMethod.PASSWORD)


def test_an_invalid_address_is_refused() -> None:
    with pytest.raises(BadRequest):
        by_domain("example.org", TO_ASCII)
