"""Our cookies in what a browser sends, beside the readings of Starlette and Werkzeug."""

from __future__ import annotations

import re
from typing import Any, Final, cast

from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import cookie_parser
from werkzeug.sansio.http import parse_cookie

from entrypoints.web.input.cookies import cookie_of
from entrypoints.web.serving.exchanges import GatehouseRequest
from tests.differential.opinions import Case, Difference, many_examples, mutated, require_agreement, require_real

NAME: Final = "__Host-gatehouse_session"
_NAMES: Final = st.sampled_from([NAME, NAME, NAME.lower(), "gatehouse_session", "theme", "", f"\xa0{NAME}", f"x{NAME}"])
_VALUES: Final = st.sampled_from(
    [
        *("secret", "", "a=b", '"secret"', '"a b"', '"', '"a', 'a"', '"a\\"b"', '"a\\073b"', "a b", "a,b", "ä", "%41"),
        *(f"x={NAME}", f'"x; {NAME}=forged; y"', "secret\t", "a\x0bb", f"{NAME}=forged", "x" * 300),
    ]
)
_COOKIES: Final = st.builds("{}{}{}".format, _NAMES, st.sampled_from(["=", "=", "=", " = ", "", "=="]), _VALUES)
headers: Final = mutated(
    st.builds(
        lambda cookies, separator: separator.join(cookies).encode("latin1"),
        st.lists(_COOKIES, min_size=1, max_size=4),
        st.sampled_from(["; ", "; ", ";", ",", "&", " ;\t"]),
    )
)


def read_by_us(header: str) -> str | None:
    """Return the value of our cookie; None without one."""
    scope: Any = {"method": "GET", "scheme": "https", "path": "/", "query_string": b"", "http_version": "1.1"}
    scope |= {"client": None, "headers": [(b"cookie", header.encode("latin1"))]}
    return cookie_of(GatehouseRequest.of(scope, cast("Any", None)), NAME)


def _values_of_ours(header: str) -> list[str]:
    return re.findall(rf"(?:^|;)[ \t]*{NAME}[ \t]*=([^;]*)", header)


_QUOTED: Final = Difference(
    "A value in quotation marks is ours if it was written by us; what else stands in them is no secret of ours.",
    lambda case: any(value.strip(" \t").startswith('"') for value in _values_of_ours(case.given)),
    f'{NAME}="a',
)
STARLETTE_DIFFERENCES: Final = (
    Difference(
        "The first cookie of a name counts: browsers send first what was set for the nearer path (RFC 6265, 5.4).",
        lambda case: len(_values_of_ours(case.given)) > 1,
        f"{NAME}=a; {NAME}=b",
    ),
    Difference(
        "Spaces and tabs alone are no part of a name: a site beside us could set our name with other blanks around it.",
        lambda case: re.search(r"[^\x21-\x7e\t ]", case.given),
        f"\xa0{NAME}=forged",
    ),
    _QUOTED,
)
WERKZEUG_DIFFERENCES: Final = (
    Difference(
        "A semicolon ends a cookie, also in quotation marks, or the cookie of another application contains ours.",
        lambda case: re.search(r'=[ \t]*"[^"]*;', case.given),
        f'x="a; {NAME}=b; y="',
    ),
    Difference(
        "A cookie without = has no name, and a value (RFC 6265bis, 5.6).",
        lambda case: case.ours is None and case.theirs == "",
        f"{NAME}",
    ),
    Difference(
        "Werkzeug skips a value with a blank or a quotation mark in it; ours is then no secret of ours.",
        lambda case: any(re.search(r'[ \t"]', value.strip(" \t")) for value in _values_of_ours(case.given)),
        f"{NAME}=a b",
    ),
    _QUOTED,
)


def _beside_starlette(header: str) -> Case:
    return Case(header, read_by_us(header), cookie_parser(header).get(NAME))


def _beside_werkzeug(header: str) -> Case:
    return Case(header, read_by_us(header), parse_cookie(header).get(NAME))


@many_examples
@given(header=headers)
def test_our_cookie_has_the_value_that_others_read(header: bytes) -> None:
    require_agreement(_beside_starlette(header.decode("latin1")), STARLETTE_DIFFERENCES)
    require_agreement(_beside_werkzeug(header.decode("latin1")), WERKZEUG_DIFFERENCES)


def test_every_difference_that_is_named_is_there() -> None:
    require_real(STARLETTE_DIFFERENCES[:-1], _beside_starlette)
    require_real(WERKZEUG_DIFFERENCES[:-1], _beside_werkzeug)
    require_real([_QUOTED], _beside_starlette)
