"""The outcome for each of several chosen rows."""

import pytest

from core.errors import BadRequest, ServiceUnavailable
from entrypoints.pages.console.lists import CHOSEN_MAX, attempted, each_once


def test_rows_are_chosen_once_in_their_order() -> None:
    assert each_once(["b", "a", "b"], "rows", none="None.", too_many="Too many.") == ["b", "a"]
    assert len(each_once(["a"] * 500, "rows", none="None.", too_many="Too many.")) == 1


@pytest.mark.parametrize(("number", "message"), [(0, "None."), (CHOSEN_MAX + 1, "Too many.")])
def test_none_and_too_many_are_refused(number: int, message: str) -> None:
    with pytest.raises(BadRequest) as refused:
        each_once(range(number), "rows", none="None.", too_many="Too many.")

    assert [(one.field, one.message) for one in refused.value.details] == [("rows", message)]


async def test_whatever_refuses_one_row_is_its_result() -> None:
    async def changed() -> int:
        return 7

    async def busy() -> int:
        raise ServiceUnavailable(retry_after_seconds=1)

    assert await attempted(changed()) == (7, "")
    result, problem = await attempted(busy())
    assert result is None
    assert problem
