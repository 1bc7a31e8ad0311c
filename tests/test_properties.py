"""How the tests of properties draw their examples, in every profile that `ops/test` and CI use."""

import hypothesis
import pytest


@pytest.mark.parametrize("profile", ["gatehouse", "thorough"])
def test_each_run_tries_other_examples_and_a_failure_says_how_to_repeat_it(profile: str) -> None:
    settings = hypothesis.settings.get_profile(profile)

    assert not settings.derandomize
    assert settings.print_blob


def test_the_profile_of_this_run_is_one_of_them() -> None:
    assert not hypothesis.settings().derandomize
    assert hypothesis.settings().print_blob
