"""How the tests of properties draw their inputs, by the profiles of Hypothesis.

The gate and CI draw the same inputs each time: they follow from the text of a test. What found something becomes an
example. A report draws new ones, by the seed that it gives as `--hypothesis-seed`.
"""

from __future__ import annotations

from typing import Final

import hypothesis
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

EXAMPLES_OF_THE_GATE: Final = 10
EXAMPLES_OF_THE_THOROUGH: Final = 100


def register_profiles() -> None:
    """Register `gatehouse`, which a run has by itself, `thorough`, which CI has too, and `drawing`, for reports."""
    hypothesis.settings.register_profile(
        "gatehouse",
        parent=hypothesis.settings.get_profile("default"),
        derandomize=True,
        # Inputs that failed in earlier runs would be tried first.
        database=None,
        deadline=None,
        max_examples=EXAMPLES_OF_THE_GATE,
        print_blob=True,
        suppress_health_check=[hypothesis.HealthCheck.too_slow],
    )
    thorough = hypothesis.settings(hypothesis.settings.get_profile("gatehouse"), max_examples=EXAMPLES_OF_THE_THOROUGH)
    hypothesis.settings.register_profile("thorough", parent=thorough)
    hypothesis.settings.register_profile("drawing", parent=thorough, derandomize=False)
    hypothesis.settings.load_profile("gatehouse")


def draw_no_constants() -> None:
    """Keep Hypothesis from drawing constants of our modules: which ones are imported depends on the tests before.

    It has no setting for this.
    """
    providers._get_local_constants = Constants
