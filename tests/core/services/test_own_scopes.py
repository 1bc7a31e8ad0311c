"""The scopes that a service may have."""

from __future__ import annotations

import pytest

from core.errors import BadRequest
from core.services.own_claims import ServiceScope, require_scopes


@pytest.mark.parametrize("description", ["", " Read", "Read ", "Re\nad", "x" * 201])
def test_a_description_is_one_line_without_blanks_around_it(description: str) -> None:
    require_scopes([ServiceScope(name="read", description="Read your orders")], ["read"])

    with pytest.raises(BadRequest):
        require_scopes([ServiceScope(name="read", description=description)], ["read"])
