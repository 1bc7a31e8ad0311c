"""The changelog has a section for each release, with its date, and above them what is not released yet."""

from __future__ import annotations

import re
import tomllib

from tests.documents import CHANGELOG, ROOT


def test_the_changelog_has_the_versions_and_dates_of_the_releases_the_newest_first() -> None:
    releases = [line.split() for line in (ROOT / "ops" / "releases").read_text().splitlines() if line[0] != "#"]
    sections = re.findall(r"^## (.+)$", CHANGELOG.read_text(), re.MULTILINE)

    assert sections == ["Unreleased", *(f"{version} ({date})" for version, date, _ in reversed(releases))]
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == releases[-1][0]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", date) for _, date, _ in releases)
