"""Paging: limits above the maximum are lowered, invalid values are refused, nothing overflows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import BadRequest
from core.limits import PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX, PAGE_NUMBER_MAX
from entrypoints.web.input.decoding import Paged, Sliced, decode_query
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes
from tests.web.probe import Answer, ask, serving

BIGINT_MAX = 2**63 - 1

routes = Routes("pages", "Routes of this test.")


@routes.get("/paged")
@public
async def paged(call: Call, query: Paged) -> dict[str, int]:
    """Return the page."""
    return {"page": query.page, "limit": query.limit}


@routes.get("/sliced")
@public
async def sliced(call: Call, query: Sliced) -> dict[str, int]:
    """Return the slice."""
    return {"offset": query.offset, "limit": query.limit}


async def got(target: str) -> Answer:
    return await ask(serving(routes), "GET", target)


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("/paged", {"page": 1, "limit": PAGE_ITEMS_DEFAULT}),
        ("/sliced", {"offset": 0, "limit": PAGE_ITEMS_DEFAULT}),
        ("/paged?page=2&limit=10", {"page": 2, "limit": 10}),
        ("/sliced?offset=0&limit=1", {"offset": 0, "limit": 1}),
        ("/sliced?offset=30", {"offset": 30, "limit": PAGE_ITEMS_DEFAULT}),
    ],
)
async def test_pages_and_slices_have_defaults(target: str, expected: dict[str, int]) -> None:
    answer = await got(target)

    assert (answer.status, answer.json) == (200, expected)


async def test_a_limit_above_the_maximum_is_lowered_to_it(subtests: pytest.Subtests) -> None:
    for limit in (PAGE_ITEMS_MAX, PAGE_ITEMS_MAX + 1, 10**9, 10**18, 10**30, 10**4000):
        for path in ("/paged", "/sliced"):
            with subtests.test(path=path, limit=limit):
                answer = await got(f"{path}?limit={limit}")

                assert (answer.status, answer.json["limit"]) == (200, PAGE_ITEMS_MAX)


async def test_a_limit_or_page_below_one_or_not_whole_is_400(subtests: pytest.Subtests) -> None:
    for path, field in (("/paged", "limit"), ("/paged", "page"), ("/sliced", "limit")):
        for value in ("0", "-1", "-" + "9" * 30, "", "x", "1.5", "1e1", "0x1", "%201", "+1", "1,2", "NaN"):
            with subtests.test(value=value, path=path, field=field):
                answer = await got(f"{path}?{field}={value}")

                assert (answer.status, answer.code, answer.fields) == (400, "BAD_REQUEST", [field])


@pytest.mark.parametrize("value", ["-1", "-" + "9" * 30, "", "x", "0.5"])
async def test_an_offset_below_zero_or_not_whole_is_400(value: str) -> None:
    answer = await got(f"/sliced?offset={value}")

    assert (answer.status, answer.fields) == (400, ["offset"])


@given(page=st.integers(1), limit=st.integers(1))
def test_no_page_exceeds_the_range_of_the_database(page: int, limit: int) -> None:
    query = decode_query(f"page={page}&limit={limit}".encode(), Paged)

    assert query.page * query.limit <= BIGINT_MAX
    assert query.page == min(page, PAGE_NUMBER_MAX)


@given(offset=st.integers(0), limit=st.integers(1))
def test_no_slice_exceeds_the_range_of_the_database(offset: int, limit: int) -> None:
    query = decode_query(f"offset={offset}&limit={limit}".encode(), Sliced)

    assert query.offset + query.limit <= BIGINT_MAX
    assert query.offset == min(offset, PAGE_NUMBER_MAX)


@given(st.text())
def test_any_text_is_a_number_or_is_refused(text: str) -> None:
    try:
        query = decode_query(f"limit={text}".encode(errors="replace"), Sliced)
    except BadRequest:
        return

    assert 1 <= query.limit <= PAGE_ITEMS_MAX
