"""The product uses no private part of another package that its decision record does not list, and pins no other one."""

from __future__ import annotations

import re
import tomllib
from types import SimpleNamespace
from typing import Final

import h11
import pytest

from tests.documents import ROOT
from tests.sources.private_parts import LAYERS, PrivatePart, private_parts

RECORD: Final = ROOT / "ops" / "decisions" / "0115-private-parts-of-the-stack.md"
_ROW: Final = re.compile(r"^\| ([\w-]+)[^|]*\| `([\w.]+)`[^|]*\| `([\w/]+\.py)` \|", re.MULTILINE)
_OF_THIS_TEST: Final = "entrypoints/example.py"


def listed() -> set[PrivatePart]:
    """Return what the record lists."""
    return {PrivatePart(package.replace("-", "_"), *place) for package, *place in _ROW.findall(RECORD.read_text())}


def test_the_record_lists_every_private_part_that_is_used() -> None:
    paths = sorted(path for layer in LAYERS for path in (ROOT / layer).rglob("*.py"))
    found = {part for path in paths for part in private_parts(path.relative_to(ROOT).as_posix(), path.read_text())}

    assert len(paths) > 1_000
    assert sorted(found - listed()) == [], "A private part may change without an error. Use a public one, or list it."
    assert sorted(listed() - found) == [], "The record lists what is used no more."


def test_the_record_names_every_upper_bound() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    bounds = {requirement for requirement in project["dependencies"] if "<" in requirement}
    text = RECORD.read_text()

    assert {bound.partition(">")[0] for bound in bounds} == {"h11", "hypercorn"}
    assert [bound for bound in bounds if f"`{bound}`" not in text] == []


class ExtendedConnection(h11.Connection):
    """What a module of the product might have."""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from h11._headers import Headers", {("h11", "h11._headers")}),
        ("import h11._headers", {("h11", "h11._headers")}),
        ("from h11 import _headers as headers", {("h11", "h11._headers")}),
        ("import h11\nh11.Connection._reader", {("h11", "_reader")}),
        ("from h11 import Connection\nConnection._reader", {("h11", "_reader")}),
        ("import h11\nh11.SERVER = 1", {("h11", "h11.SERVER")}),
        (
            "import h11\nclass ExtendedConnection(h11.Connection):\n def _process_event(self): pass",
            {("h11", "_process_event")},
        ),
        (
            "import h11\nclass ExtendedConnection(h11.Connection):\n def read(self): self._receive_buffer.x",
            {("h11", "_receive_buffer")},
        ),
        (
            "import h11\nclass ExtendedConnection(h11.Connection):\n def read(self): super()._get_io_object(1)",
            {("h11", "_get_io_object")},
        ),
        ("import h11\nclass ExtendedConnection(h11.Connection):\n def _own(self): self._mine = 1", set[str]()),
        ("if TYPE_CHECKING:\n from h11._headers import Headers", set[str]()),
        ("import h11\nh11.Connection.__init__\nfrom core._x import y\nimport os\nos._exit(1)", set[str]()),
    ],
)
def test_each_use_of_a_private_part_is_found(text: str, found: set[tuple[str, str]]) -> None:
    module = SimpleNamespace(ExtendedConnection=ExtendedConnection)

    parts = private_parts(_OF_THIS_TEST, text, load=lambda _: module)

    assert {(part.package, part.name) for part in parts} == found
