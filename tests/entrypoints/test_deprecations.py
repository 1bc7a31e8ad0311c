"""What is deprecated: the page of upgrading has the table of the code, and a command names what is set of it."""

from __future__ import annotations

import re

import pytest

from entrypoints import deprecations, settings
from entrypoints.deprecations import DEPRECATIONS, Deprecation
from tests.documents import MANUAL
from tests.processes import CommandsHere
from tests.shown_text import shows


def test_the_page_of_upgrading_has_what_is_deprecated() -> None:
    section = (MANUAL / "upgrading.md").read_text().partition("\n## What is deprecated\n")[2].partition("\n## ")[0]

    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| ")][1:]

    assert rows == [[one.name, one.since, one.gone or "not decided", one.instead] for one in DEPRECATIONS]


def test_what_is_deprecated_is_a_setting_or_a_program_with_its_version() -> None:
    names = [one.name for one in DEPRECATIONS]

    assert len(set(names)) == len(names)
    assert [name for name in names if not re.fullmatch(r"PostgreSQL \d+", name) and name not in settings.names()] == []


def test_each_command_names_a_deprecated_setting_that_is_set(
    commands_here: CommandsHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    deprecated = Deprecation(name="GATEHOUSE_LOG_LEVEL", since="9.1.0", gone="9.2.0", instead="Unset it.")
    monkeypatch.setattr(deprecations, "DEPRECATIONS", (deprecated,))

    with_it, without = commands_here.run("config", LOG_LEVEL="error"), commands_here.run("config", LOG_FORMAT="json")

    assert (
        "GATEHOUSE_LOG_LEVEL is deprecated since 9.1.0, and 9.2.0 does not take it any more. Unset it."
        in with_it.stderr
    )
    assert not shows(without.stderr, "deprecated")
