"""What goes wrong on a connection to a target is an error of httpx, whichever error httpcore has for it."""

from __future__ import annotations

import httpcore
import httpx
import pytest

from adapters.gateways.outbound import TargetRefused, _errors_of_httpx

# Only the pool of httpcore raises it, to itself.
_INTERNAL = {"ConnectionNotAvailable"}
ERRORS = [
    error
    for name in httpcore.__all__
    if isinstance(error := getattr(httpcore, name), type) and issubclass(error, Exception) and name not in _INTERNAL
]


@pytest.mark.parametrize("error", ERRORS)
def test_each_error_of_httpcore_is_the_one_of_httpx_with_its_name(error: type[Exception]) -> None:
    with pytest.raises(httpx.HTTPError, match="why") as raised, _errors_of_httpx():
        raise error("why")

    assert type(raised.value) is getattr(httpx, error.__name__)


def test_a_target_that_is_refused_is_one_that_cannot_be_connected_to() -> None:
    with pytest.raises(httpx.ConnectError, match="why") as raised, _errors_of_httpx():
        raise TargetRefused("why")

    assert isinstance(raised.value.__cause__, TargetRefused)
    assert len(ERRORS) >= 14


def test_other_errors_stay_what_they_are() -> None:
    with pytest.raises(ValueError, match="why"), _errors_of_httpx():
        raise ValueError("why")
