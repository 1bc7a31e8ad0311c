"""What an authorization request asks for."""

from __future__ import annotations

import pytest

from core.limits import EMAIL_CHARACTERS_MAX
from core.openid.requests import AuthorizationRequest

END = "@example.com"
LONGEST = "x" * (EMAIL_CHARACTERS_MAX - len(END)) + END


@pytest.mark.parametrize(
    ("hint", "expected"),
    [(LONGEST, LONGEST), (f"x{LONGEST}", None), ("ada", None), (None, None)],
    ids=["longest", "too_long", "no_address", "none"],
)
def test_the_hint_of_a_user_is_an_address_or_means_any_user(hint: str | None, expected: str | None) -> None:
    request = AuthorizationRequest(
        redirect_uri="https://shop.example/",
        state=None,
        scopes=(),
        nonce=None,
        code_challenge=None,
        audience=None,
        key_thumbprint=None,
        prompts=(),
        max_age_seconds=None,
        login_hint=hint,
        wants_second_factor=False,
    )

    assert request.hinted_email == expected
