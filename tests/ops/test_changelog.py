"""The changelog has a section for each release, with its date, and above them what is not released yet."""

from __future__ import annotations

import re
import tomllib
from typing import Final

import pytest

from tests.documents import CHANGELOG, ROOT

AREAS: Final = {
    *(
        "To do with the upgrade",
        "Security",
        "Operating",
        "Developing",
        "Signing in",
        "Accounts",
        "Organizations",
        "Services",
        "Billing",
    ),
    *("SAML", "OpenID Connect", "Provisioning", "Webhooks", "Audit", "Privacy", "Pages", "Platform"),
}


def test_the_changelog_has_the_versions_and_dates_of_the_releases_the_newest_first() -> None:
    releases = [line.split() for line in (ROOT / "ops" / "releases").read_text().splitlines() if line[0] != "#"]
    sections = re.findall(r"^## (.+)$", CHANGELOG.read_text(), re.MULTILINE)

    released = [f"{version} ({date})" for version, date, _ in reversed(releases)]
    # The commit of a version has no line yet that would name it.
    assert sections[0] == "Unreleased"
    assert released in (sections[1:], sections[2:])
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert sections[1].startswith(f"{version} (")
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", date) for _, date, _ in releases)


@pytest.mark.parametrize("version", ["0.4.0", "0.3.0", "0.2.0"])
def test_the_changes_of_a_version_stand_by_area_in_two_lines_each(version: str) -> None:
    changes = CHANGELOG.read_text().partition(f"\n## {version}")[2].partition("\n## ")[0]
    sections = re.split(r"^### ", changes, flags=re.MULTILINE)[1:]
    entries = [entry for section in sections for entry in section.rstrip().split("\n- ")[1:]]

    assert {section.partition("\n")[0] for section in sections} <= AREAS
    assert entries
    assert [entry for entry in entries if entry.count("\n") > 1] == []
