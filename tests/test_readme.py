"""The documents are correct: commands work as pasted, and tables agree with the code."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from entrypoints import capabilities, settings
from tests.processes import Services, services

if TYPE_CHECKING:
    from adapters.postgres.driver.connection import RawConnection
    from entrypoints.web.routes import Route

__all__ = ["services"]

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
RUNBOOKS = sorted((ROOT / "ops" / "runbooks").glob("*.md"))
DECISIONS = sorted((ROOT / "ops" / "decisions").glob("*.md"))
LAYERS = ("core", "adapters", "actors", "entrypoints")
BEGIN = "<!-- settings: begin; written by tests/test_readme.py, which fails when this table and the code differ -->"
END = "<!-- settings: end -->"
TOUR_SECONDS_MAX = 45.0
ADDRESS = "http://localhost:8000"


def table() -> str:
    rows = settings.rows(settings.Settings())
    lines = ["| Setting | Takes | Default | |", "|---|---|---|---|"]
    lines += [
        f"| `{row.name}` | {row.takes} | {f'`{row.default}`' if row.default else ''} | {row.sentence} |" for row in rows
    ]
    return "\n".join(lines)


def block(section: str, language: str) -> str:
    """Return the code block in that language of a section of the README."""
    [text] = re.findall(rf"^## {section}$(.*?)(?=^## )", README.read_text(), re.MULTILINE | re.DOTALL)
    [found] = re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return found


def files_of_paths() -> dict[str, str]:
    """Return the table of CONTRIBUTING that maps a path to its file."""
    rows = re.findall(r"^\| (`/.*?) \| `(entrypoints/.*?\.py)` \|$", CONTRIBUTING.read_text(), re.MULTILINE)
    return {path: file for paths, file in rows for path in re.findall(r"`(.*?)`", paths)}


def file_of(route: Route) -> str:
    """Return the file in which a route is declared."""
    return f"{route.handler.__module__.replace('.', '/')}.py"


def names_its_file(route: Route) -> bool:
    """Return whether a word of a path is the name of its file, apart from the plural and hyphens."""
    nouns = {word.partition(".")[0].replace("-", "_") for word in route.path.split("/")}
    stem = Path(file_of(route)).stem.removeprefix("platform_")
    return stem in nouns or stem.removesuffix("s") in nouns


def logged_events() -> set[str]:
    """Return the names of all events that Gatehouse logs."""
    sources = (path.read_text() for layer in LAYERS for path in (ROOT / layer).rglob("*.py"))
    return {name for source in sources for name in re.findall(r'\blog\.\w+\(\s*"([a-z_]+\.[a-z_]+)"', source)}


def begins_with(route: Route, path: str) -> bool:
    """Return whether a route's path begins with these words; any word matches a parameter."""
    words, mentioned = route.path.split("/"), path.split("/")
    pairs = zip(words, mentioned, strict=False)
    return len(mentioned) <= len(words) and all(word in (own, "") or own.startswith(":") for own, word in pairs)


def test_the_table_of_settings_agrees_with_the_code() -> None:
    text = README.read_text()
    before, _, rest = text.partition(BEGIN)
    written, _, after = rest.partition(END)

    if os.environ.get("GATEHOUSE_TEST_RENEW"):
        README.write_text(f"{before}{BEGIN}\n{table()}\n{END}{after}")
        return

    assert written.strip() == table(), "run GATEHOUSE_TEST_RENEW=1 .venv/bin/python -m pytest tests/test_readme.py"


@pytest.mark.skipif(shutil.which("curl") is None and "CI" not in os.environ, reason="the tour needs curl")
def test_the_tour_and_the_import_work_as_pasted(services: Services, tmp_path: Path) -> None:
    service = services.ready(DEV="on", BASE_URL=ADDRESS, RATE_LIMITS="on")
    # The tour runs unchanged; curl connects to the test's own server at the address in the README.
    (tmp_path / ".curlrc").write_text(f'noproxy = "*"\nconnect-to = "localhost:8000:127.0.0.1:{service.port}"\n')
    (tmp_path / ".venv").symlink_to(sys.prefix)
    (tmp_path / ".gatehouse").symlink_to(service.data_folder)
    (tmp_path / "people.jsonl").write_text(block("Importing accounts", "json"))
    script = block("A tour", "sh") + block("Importing accounts", "sh")

    done = subprocess.run(
        ["bash", "-euc", script],
        check=False,
        cwd=tmp_path,
        env=service.environment | {"CURL_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=TOUR_SECONDS_MAX,
    )

    assert (done.returncode, done.stderr) == (0, "")
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [answer["error_code"] for answer in answers if "error" in answer] == ["UNAUTHORIZED"]
    assert {"status", "email", "refresh_token", "backup_codes", "sessions", "devices"} <= set().union(*answers)
    [log] = [answer["logs"] for answer in answers if "logs" in answer]
    assert [entry["action"] for entry in log] == [
        "user.joined",
        "invitation.accepted",
        "user.invited",
        "organization.updated",
    ]
    assert "Imported: 3. Skipped, because the address is taken: 0. Left out: 0." in done.stdout


def test_every_path_leads_to_its_file_by_its_words_or_by_the_table() -> None:
    exceptions = files_of_paths()
    routes = capabilities.routes(is_development=True)

    assert set(exceptions) <= {route.path for route in routes}
    assert {route.path: file_of(route) for route in routes if route.path in exceptions} == exceptions
    assert [route.name for route in routes if route.path not in exceptions and not names_its_file(route)] == []


def test_every_link_between_documents_has_a_target() -> None:
    documents = [README, CONTRIBUTING, ROOT / "CHANGELOG.md", *RUNBOOKS, *DECISIONS]
    links = [(path, link) for path in documents for link in re.findall(r"\]\(([^)#:]+)[^):]*\)", path.read_text())]

    assert (README, "CONTRIBUTING.md") in links
    assert [(path.name, link) for path, link in links if not (path.parent / link).exists()] == []


def test_every_path_in_the_documents_for_operators_is_a_route() -> None:
    routes = capabilities.routes(is_development=True)
    texts = [path.read_text() for path in (README, *RUNBOOKS)]

    mentioned = {path for text in texts for path in re.findall(r"/(?:api|auth|dev|health)/[^\s'\"`<>?|),]*", text)}

    assert {path for path in mentioned if not any(begins_with(route, path) for route in routes)} == set()
    assert "/api/platform/users/search" in mentioned


@pytest.mark.parametrize("runbook", RUNBOOKS, ids=lambda path: path.stem)
def test_every_statement_of_a_runbook_fits_the_schema(raw_connection: RawConnection, runbook: Path) -> None:
    for statements in re.findall(r"^ *```sql\n(.*?)^ *```$", runbook.read_text(), re.MULTILINE | re.DOTALL):
        raw_connection.execute(statements)


def test_every_event_that_a_runbook_mentions_is_logged() -> None:
    events = logged_events()
    subjects = {event.partition(".")[0] for event in events}

    mentioned = {name for path in RUNBOOKS for name in re.findall(r"`([a-z_]+\.[a-z_]+)`", path.read_text())}

    assert {name for name in mentioned if name.partition(".")[0] in subjects} - events == set()
    assert "mail.deferred" in mentioned & events
