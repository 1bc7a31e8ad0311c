"""The authentication context in an assertion, by what was requested and proved."""

from __future__ import annotations

import pytest

from core.saml.message_checks import MFA_CONTEXT, PASSWORD_CONTEXT, context_class

UNSPECIFIED = "urn:oasis:names:tc:SAML:2.0:ac:classes:unspecified"


@pytest.mark.parametrize(
    ("requested", "has_second_factor", "answered"),
    [
        ((), False, PASSWORD_CONTEXT),
        ((), True, MFA_CONTEXT),
        ((MFA_CONTEXT, PASSWORD_CONTEXT), True, MFA_CONTEXT),
        ((MFA_CONTEXT, PASSWORD_CONTEXT), False, PASSWORD_CONTEXT),
        ((UNSPECIFIED, MFA_CONTEXT), True, UNSPECIFIED),
        (("urn:other",), True, None),
    ],
)
def test_the_first_requested_context_that_was_proved_is_answered(
    requested: tuple[str, ...], *, has_second_factor: bool, answered: str | None
) -> None:
    assert context_class(requested, "exact", has_second_factor=has_second_factor) == answered


@pytest.mark.parametrize(("comparison", "is_answered"), [("exact", True), ("minimum", True), ("maximum", False)])
def test_a_comparison_that_asks_for_other_contexts_is_not_answered(comparison: str, *, is_answered: bool) -> None:
    answered = context_class((PASSWORD_CONTEXT,), comparison, has_second_factor=False)

    assert (answered is not None) is is_answered
