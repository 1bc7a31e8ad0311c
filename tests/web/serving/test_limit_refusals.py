"""The vocabulary of the limits is complete, so that each limit's series is 0 before it refuses."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from core.errors import RateLimitExceeded
from entrypoints import capabilities
from entrypoints.web.serving.admission.limit_refusals import vocabulary
from tests.documents import ROOT

LAYERS = ("core", "entrypoints", "adapters")


def named() -> Iterator[tuple[str, str, str]]:
    """Yield each limit that the code names by `refusal.of("name", counts="…")`, with its file."""
    for layer in LAYERS:
        for file in (ROOT / layer).rglob("*.py"):
            if ".of(" not in (text := file.read_text()):
                continue
            for call in ast.walk(ast.parse(text)):
                match call:
                    case ast.Call(
                        func=ast.Attribute(attr="of"),
                        args=[ast.Constant(value=str(limit))],
                        keywords=[ast.keyword(arg="counts", value=ast.Constant(value=str(counts)))],
                    ):
                        yield str(file.relative_to(ROOT)), limit, counts
                    case _:
                        pass


def refusals(of: type[RateLimitExceeded]) -> Iterator[type[RateLimitExceeded]]:
    """Yield the refusals of the code, which may have a limit of their own."""
    yield of
    for more in of.__subclasses__():
        yield from refusals(more)


def test_each_limit_that_a_use_case_names_is_in_the_vocabulary() -> None:
    found = list(named())

    assert ("core/accounts/sign_in_failures.py", "sign_in_failures", "failures") in found
    assert [one for one in found if one[1:] not in set(vocabulary())] == []


def test_each_refusal_with_a_limit_of_its_own_is_in_the_vocabulary() -> None:
    # With the routes, all modules are loaded.
    assert capabilities.routes(is_development=True, has_billing_provider=True)
    found = [one for one in refusals(RateLimitExceeded) if one.__module__.startswith(LAYERS)]

    assert len(found) >= 4
    assert [one.__name__ for one in found if (one.limit, one.counts) not in set(vocabulary())] == []


def test_no_limit_is_in_the_vocabulary_twice() -> None:
    limits = list(vocabulary())

    assert len(limits) == len(set(limits))
