"""The README is short and leads on; paths, statements and log events in the documents agree with the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from adapters.postgres.driver.connection import RawConnection
from core.accounts.sign_in_methods import Provider
from core.events.events import EventType
from core.organizations.access import Capability
from core.sign_in.upstream.providers import ExternalProvider
from entrypoints import capabilities
from entrypoints.web.serving.routes import Route
from tests.documents import CONTRIBUTING, PAGES, README, ROOT, RUNBOOKS, links

LAYERS = ("core", "adapters", "actors", "entrypoints")
LINES_MAX = 150
HTTP = ROOT / "entrypoints" / "http"
# More of them are a rule that does not hold.
EXCEPTIONS_MAX = 13


def areas() -> list[str]:
    """Return the areas, in the order of the table of CONTRIBUTING."""
    [found] = re.findall(r"^\| Area \|.*?\n\n", CONTRIBUTING.read_text(), re.MULTILINE | re.DOTALL)
    return re.findall(r"^\| `(\w+)/` \|", found, re.MULTILINE)


def exceptions() -> list[tuple[str, list[str]]]:
    """Return the table of CONTRIBUTING that maps paths to a file: the file of each row, and its paths."""
    rows = re.findall(r"^\| (`/.*?`) \| `(.*?\.py)` \|$", CONTRIBUTING.read_text(), re.MULTILINE)
    return [(file, re.findall(r"`(.*?)`", paths)) for paths, file in rows]


def excepted_file(path: str) -> str | None:
    """Return the file that the table gives for a path: the row that says most about it counts."""
    matches = [
        (len(mentioned), file)
        for file, paths in exceptions()
        for mentioned in paths
        if path == mentioned.removesuffix("…") or (mentioned.endswith("…") and path.startswith(f"{mentioned[:-1]}/"))
    ]
    return max(matches)[1] if matches else None


def fixed_words(path: str) -> list[str]:
    """Return the fixed words of a path, as the names of files are written."""
    words = [word.removeprefix(".").partition(".")[0] for word in path.split("/") if not word.startswith(":")]
    return [word.lower().replace("-", "_") for word in words if word]


def file_by_words(path: str) -> str | None:
    """Return the file below `entrypoints/http/` to which the rule of CONTRIBUTING leads; None for none."""
    order = areas()
    words = fixed_words(path)
    named = [area for word in words for area in order if f"{word}_".startswith(f"{area.removesuffix('_api')}_")]
    if {"organizations", "customers"} <= {*words}:
        named.insert(0, "customers")
    for word in reversed(words):
        last_parts = word.partition("_")[2]
        for name in (word, f"{word}s", last_parts, f"{last_parts}s"):
            found = [file.relative_to(HTTP) for file in HTTP.rglob(f"{name}.py")]
            of_areas = {file.parts[0]: file.as_posix() for file in found}
            for area in (*named, *order, *of_areas):
                if area in of_areas:
                    return of_areas[area]
    return None


def file_of(route: Route) -> str:
    """Return where a route is declared, below `entrypoints/http/`."""
    return f"{route.handler.__module__.removeprefix('entrypoints.http.').replace('.', '/')}.py"


def logged_events() -> set[str]:
    """Return the names of all events that Gatehouse logs."""
    source = "\n".join(path.read_text() for layer in LAYERS for path in (ROOT / layer).rglob("*.py"))
    # The dispatchers share events, which each of them logs under its own subject.
    subjects = re.findall(r'^    subject(?:: str)? = "([a-z_]+)"$', source, re.MULTILINE)
    shared = re.findall(r'\blog\.\w+\(\s*f"\{self\.subject\}\.([a-z_]+)"', source)
    named = re.findall(r'log\.\w+\(\s*"([a-z_]+\.[a-z_]+)"', source)
    return {*named, *(f"{subject}.{event}" for subject in subjects for event in shared)}


def begins_with(route: Route, path: str) -> bool:
    """Return whether a route's path begins with these words; any word matches a parameter."""
    words, mentioned = route.path.split("/"), path.split("/")
    pairs = zip(words, mentioned, strict=False)
    return len(mentioned) <= len(words) and all(word in (own, "") or own.startswith(":") for own, word in pairs)


def test_the_readme_is_short_and_links_every_page_of_the_manual() -> None:
    linked = {(README.parent / link.partition("#")[0]).resolve() for link in links(README)}

    assert len(README.read_text().splitlines()) <= LINES_MAX
    assert set(PAGES) - linked == set()
    assert len(PAGES) > 20


def test_every_path_of_the_interface_leads_to_its_file_by_its_words_or_by_the_table() -> None:
    routes = [
        route
        for route in capabilities.routes(is_development=True)
        if not route.is_page and route.path != "/openapi.json"
    ]
    declared = {route: file_of(route) for route in routes}
    by_words = {route: file_by_words(route.path) for route in routes}
    excepted = {route: excepted_file(route.path) for route in routes}

    assert [
        (route.name, file) for route, file in declared.items() if file != (excepted[route] or by_words[route])
    ] == []
    assert [route.name for route in routes if excepted[route] == by_words[route]] == [], "the table repeats the rule"
    assert [
        mentioned
        for _, paths in exceptions()
        for mentioned in paths
        if not any(route.path.startswith(mentioned.removesuffix("…")) for route in routes)
    ] == []
    assert len(exceptions()) <= EXCEPTIONS_MAX


def test_every_path_in_the_documents_for_operators_is_a_route() -> None:
    # The example of the manual.
    acme = ExternalProvider(provider=Provider("acme"), title="Acme ID", scopes=(), issuer="https://id.acme.example")
    routes = capabilities.routes(is_development=True, added=[acme])
    # Recipes are about programs of others; tests/test_programs_page.py reads where they lead here.
    texts = [path.read_text().partition("<!-- recipes: begin")[0] for path in (README, *PAGES, *RUNBOOKS)]

    mentioned = {path for text in texts for path in re.findall(r"/(?:api|auth|dev|health)/[^\s'\"`<>?|),]*", text)}

    assert {path for path in mentioned if not any(begins_with(route, path) for route in routes)} == set()
    assert "/api/platform/users/search" in mentioned


@pytest.mark.parametrize("runbook", RUNBOOKS, ids=lambda path: path.stem)
def test_every_statement_of_a_runbook_fits_the_schema(raw_connection: RawConnection, runbook: Path) -> None:
    for statements in re.findall(r"^ *```sql\n(.*?)^ *```$", runbook.read_text(), re.MULTILINE | re.DOTALL):
        raw_connection.execute(statements)


def test_every_event_that_a_document_mentions_is_logged() -> None:
    events = logged_events()
    subjects = {event.partition(".")[0] for event in events}

    mentioned = {name for path in (*PAGES, *RUNBOOKS) for name in re.findall(r"`([a-z_]+\.[a-z_]+)`", path.read_text())}

    other = {*Capability, *(event.value for event in EventType)}

    assert {name for name in mentioned if name.partition(".")[0] in subjects} - events - other == set()
    assert "mail.deferred" in mentioned & events
