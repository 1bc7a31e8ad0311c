"""How the tests of properties draw their inputs, in every profile that `ops/test`, CI and reports use."""

from __future__ import annotations

import hypothesis
import pytest
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants


@pytest.mark.parametrize("profile", ["gatehouse", "thorough"])
def test_each_run_of_the_gate_and_of_ci_tries_the_same_inputs(profile: str) -> None:
    settings = hypothesis.settings.get_profile(profile)

    assert settings.derandomize
    assert settings.database is None


def test_a_report_tries_others_and_a_failure_says_how_to_repeat_it() -> None:
    settings = hypothesis.settings.get_profile("drawing")

    assert not settings.derandomize
    assert settings.database is None
    assert settings.print_blob
    assert settings.max_examples == hypothesis.settings.get_profile("thorough").max_examples


def test_a_run_has_the_profile_of_the_gate_by_itself(request: pytest.FixtureRequest) -> None:
    given = request.config.getoption("--hypothesis-profile")

    assert hypothesis.settings.get_current_profile_name() == (given or "gatehouse")


def test_inputs_are_no_constants_of_the_modules_that_were_imported() -> None:
    assert providers._get_local_constants() == Constants()
