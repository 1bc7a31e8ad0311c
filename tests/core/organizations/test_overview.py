"""What is set up in an organization."""

from dataclasses import fields, replace

import pytest

from core.organizations.overview import SetupSteps

COMPLETE = SetupSteps(
    has_service=True,
    has_colleague=True,
    has_provider=True,
    has_domain=True,
    has_webhook=True,
    has_second_factor=True,
)


def test_a_setup_is_complete_with_all_of_its_steps() -> None:
    assert COMPLETE.is_complete


@pytest.mark.parametrize("step", [one.name for one in fields(SetupSteps)])
def test_a_setup_without_one_of_its_steps_is_not_complete(step: str) -> None:
    assert not replace(COMPLETE, **{step: False}).is_complete
