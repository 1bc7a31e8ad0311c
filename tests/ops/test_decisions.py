"""The decision records: what they name is in the code, and the times that they state are dated."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from entrypoints.settings import Settings, rows
from tests.documents import DECISIONS, ROOT

FOLDERS = ("core", "ports", "adapters", "actors", "entrypoints", "tests", "ops")
# Names in alternatives that were not taken.
OF_OTHERS = {
    "CAP_SYS_ADMIN",
    "SO_REUSEPORT",
    "account.password.lead",
    "create_distributed_table_concurrently",
    "output_plugin_libraries",
    "psycopg.sql",
    "require_pushed_authorization_requests",
    "spawn",
}


@cache
def files() -> dict[str, str]:
    """Return the text of every source file by its path, apart from the decision records."""
    suffixes = {"", ".html", ".lock", ".py", ".sql", ".toml"}
    paths = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in suffixes]
    paths += [ROOT / "pyproject.toml", *(ROOT / "entrypoints").rglob("*.po")]
    return {str(path.relative_to(ROOT)): path.read_text() for path in paths if path.is_file()}


@cache
def source() -> str:
    return "\n".join(text for path, text in files().items() if path != str(Path(__file__).relative_to(ROOT)))


@cache
def words() -> set[str]:
    return {word.removeprefix("_") for word in re.findall(r"\w+", source())} | {row.name for row in rows(Settings())}


def is_file(name: str) -> bool:
    return any(path == name or path.endswith(f"/{name}") for path in files())


def is_name(name: str) -> bool:
    """Return whether the code has a name, such as `accept`, `invitations.accept` or `memberships.confirmed_at`."""
    owner, _, member = name.rpartition(".")
    if not owner:
        return name in source() or name in words()
    is_owner = any(is_in_source(f"{kind} {owner}") for kind in ("class", "CREATE TABLE"))
    return is_in_source(name) or (is_owner and member in words())


def is_in_source(text: str) -> bool:
    """Return whether the code has a text between the ends of words."""
    # A pattern that begins with the text itself is looked for several times as fast.
    literal = re.escape(text)
    return re.search(rf"{literal}(?!\w)(?<!\w{literal})", source()) is not None


def test_every_file_and_every_name_in_a_decision_is_in_the_code() -> None:
    missing: list[tuple[str, str]] = []
    for decision in DECISIONS:
        for quoted in re.findall(r"`([^`\n]+)`", decision.read_text()):
            name = quoted.partition("(")[0]
            if re.fullmatch(r"[\w/-]+\.(?:lock|md|po|py|sql|toml)", name) and name not in OF_OTHERS:
                if not is_file(name):
                    missing.append((decision.name, quoted))
            elif re.fullmatch(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*", name) and not is_name(name):
                missing.append((decision.name, quoted))

    assert [one for one in missing if one[1] not in OF_OTHERS] == []
    assert not is_name("place.require")
    assert is_name("core.errors")


def test_every_section_that_states_a_time_says_when_it_was_measured() -> None:
    sections = [
        (decision.name, section)
        for decision in DECISIONS
        for section in re.split(r"^## ", decision.read_text(), flags=re.MULTILINE)
        if re.search(r"\d (?:ms|µs)\b", section)
    ]

    assert len(sections) >= 10
    assert [name for name, section in sections if re.search(r"\b20\d\d-\d\d\b", section) is None] == []
