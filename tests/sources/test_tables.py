"""Every table that is keyed by an enumeration has all of its members, or says that it lacks some on purpose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from importlib import import_module
from typing import Any, Final, cast

import pytest

from core.mail.mail import MailState
from core.tables import PartialTable
from tests.sources.reading import ROOT

LAYERS: Final = ("core", "adapters", "actors", "entrypoints")


def tables() -> Iterator[tuple[str, Mapping[Any, Any] | PartialTable[Any, Any]]]:
    """Return the tables at the top of all modules, each once, with their names."""
    known = set[int]()
    paths = sorted(path for layer in LAYERS for path in (ROOT / layer).rglob("*.py"))
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in paths]
    # All of them first: some add to the tables of others.
    for path, module in zip(paths, [import_module(name) for name in names], strict=True):
        for name, value in list(vars(module).items()):
            if isinstance(value, Mapping | PartialTable) and id(value) not in known:
                known.add(id(value))
                yield f"{path.relative_to(ROOT)}: {name}", cast("Mapping[Any, Any] | PartialTable[Any, Any]", value)


def missing(keys: Iterable[Any]) -> set[str]:
    """Return the members that a table lacks of the product's own enumerations by which it is keyed."""
    has = list(keys)
    kinds = {type(one) for one in has if isinstance(one, Enum) and type(one).__module__.startswith(LAYERS)}
    return {f"{kind.__name__}.{member.name}" for kind in kinds for member in kind if member not in has}


def test_a_table_that_is_keyed_by_an_enumeration_has_all_of_its_members_or_says_that_it_lacks_some() -> None:
    found = {name: (isinstance(table, PartialTable), missing(table)) for name, table in tables()}

    # Add the members. What is said about some of them only is a `PartialTable`, which is never indexed.
    assert {name: lacks for name, (is_partial, lacks) in found.items() if lacks and not is_partial} == {}
    # These lack none: take a mapping, so that what is looked up is there.
    assert [name for name, (is_partial, lacks) in found.items() if is_partial and not lacks] == []
    assert "entrypoints/pages/mail/mail.py: KINDS" in found


@pytest.mark.parametrize(
    ("keys", "lacks"),
    [
        (list(MailState), set[str]()),
        ([None, *MailState], set[str]()),
        ([one for one in MailState if one is not MailState.SENT], {"MailState.SENT"}),
        (["sent", *(one for one in MailState if one is not MailState.KEPT)], {"MailState.KEPT"}),
        (["sent"], set[str]()),
    ],
)
def test_what_a_table_lacks_is_found(keys: list[Any], lacks: set[str]) -> None:
    assert missing(keys) == lacks
