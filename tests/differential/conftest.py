"""What every module of this folder draws is the same, whichever other tests run beside it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants


@pytest.fixture(scope="package", autouse=True)
def draws_that_no_import_changes() -> Iterator[None]:
    """Keep Hypothesis from drawing constants of our modules: which ones are imported depends on the tests before.

    It has no setting for this. The numbers that the other draws come from are the same in every run.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(providers, "_get_local_constants", Constants)
        providers.CONSTANTS_CACHE.cache.clear()
        yield
    providers.CONSTANTS_CACHE.cache.clear()
