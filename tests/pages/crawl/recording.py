"""Records the pages that handlers show: with what each template was filled in, and which templates that took."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, cast
from unittest.mock import patch
from urllib.parse import urlsplit

from entrypoints import capabilities
from entrypoints.pages.frame import rendering
from entrypoints.pages.frame.languages import ENGLISH, Language
from entrypoints.pages.frame.rendering import TEMPLATES
from entrypoints.pages.organizations.settings import branding_preview
from entrypoints.web.serving.routes import Route
from tests.application import Answer, Client

SERVER_ERROR = 500
# The element, and what tells it from others of its kind.
_ELEMENTS = re.compile(r"<[a-z][^>]*?>")
_TELLING = re.compile(r'^<[a-z0-9]+|(?:class|type)="[^"]*"')
_CHANGING = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9]+")


@dataclass(frozen=True, eq=False)
class Shown:
    """A page that a handler showed: how the crawl came to it, its template with the values, and its English source."""

    way: str
    template: str
    values: Mapping[str, Any]
    html: str

    @property
    def name(self) -> str:
        """What a failed assertion says."""
        return f"{self.template} ({self.way})"

    @property
    def traits(self) -> set[str]:
        """What distinguishes this page from others of its template: its kinds of elements."""
        return {
            _CHANGING.sub("0", " ".join(_TELLING.findall(element))) for element in set(_ELEMENTS.findall(self.html))
        }


@dataclass
class Recorder:
    """The pages that were shown while it recorded, and the templates that these were made of."""

    shown: list[Shown] = field(default_factory=list[Shown])
    used: set[str] = field(default_factory=set[str])
    reached: set[str] = field(default_factory=set[str])
    failures: list[str] = field(default_factory=list[str])
    way: str = ""
    request: str = ""

    @contextmanager
    def recording(self) -> Generator[None]:
        """Record every page in English of this process."""
        render, get_template = rendering.render, TEMPLATES.get_template

        def recorded(template: str, language: Language = ENGLISH, **values: Any) -> str:
            html = render(template, language, **values)
            self.shown.append(Shown(f"{self.way}: {self.request}", template, values, html))
            return html

        def noted(name: Any, *args: Any, **options: Any) -> Any:
            self.used.add(str(name))
            return get_template(name, *args, **options)

        with (
            patch.object(rendering, "render", recorded),
            patch.object(branding_preview, "render", recorded),
            patch.object(TEMPLATES, "get_template", noted),
        ):
            yield


def members_in(values: Iterable[Any]) -> dict[type[Enum], set[str]]:
    """Return the names of the members of enumerations in values, and in what these are made of."""
    found = defaultdict[type[Enum], set[str]](set)
    for value in _parts_of(values):
        if isinstance(value, Enum):
            found[type(value)].add(value.name)
    return found


def texts_of(field: str, values: Iterable[Any]) -> set[str]:
    """Return the texts in a field of rows in values, and in what these are made of."""
    named = (getattr(value, field, None) for value in _parts_of(values) if is_dataclass(value))
    return {text for text in named if isinstance(text, str)}


def _parts_of(values: Iterable[Any]) -> Iterator[Any]:
    """Return values and what these are made of."""
    waiting, known = list(values), set[int]()
    while waiting:
        value = waiting.pop()
        yield value
        if isinstance(value, Mapping | Sequence | Set) and not isinstance(value, str | bytes):
            # Keys of a mapping have words on pages, and are not shown themselves.
            waiting += value.values() if isinstance(value, Mapping) else cast("Iterable[Any]", value)
        elif is_dataclass(value) and id(value) not in known:
            known.add(id(value))
            waiting += [getattr(value, one.name) for one in fields(value)]


def telling(pages: Iterable[Shown]) -> list[Shown]:
    """Return those pages that show what none before them has shown of the same template."""
    known: dict[str, set[str]] = {}
    chosen: list[Shown] = []
    for page in sorted(pages, key=lambda one: -len(one.html)):
        traits = known.setdefault(page.template, set())
        if not page.traits <= traits:
            traits |= page.traits
            chosen.append(page)
    return sorted(chosen, key=lambda one: one.template)


@cache
def page_routes() -> list[tuple[re.Pattern[str], Route]]:
    """Return the routes with pages by the pattern of their paths, those with fixed paths first."""
    routes = [route for route in capabilities.routes(is_development=True) if route.refusal_page is not None]
    routes.sort(key=lambda route: (route.path.count(":"), route.takes_rest))
    return [(re.compile(re.sub(r"\\?:[a-z_]+", "[^/]+", re.escape(route.path))), route) for route in routes]


def route_of(method: str, path: str) -> Route | None:
    """Return the route with pages to which a request goes."""
    return next((route for pattern, route in page_routes() if route.method == method and pattern.fullmatch(path)), None)


@dataclass(frozen=True)
class RecordingClient(Client):
    """Sends requests to an application, and records to which pages."""

    recorder: Recorder = field(default_factory=Recorder)

    async def request(self, method: str, path: str, **options: Any) -> Answer:
        """Send a request."""
        self.recorder.request = f"{method} {path}"
        answer = await super().request(method, path, **options)
        if (route := route_of(method, urlsplit(path).path)) is not None:
            self.recorder.reached.add(route.name)
        if answer.status >= SERVER_ERROR:
            self.recorder.failures.append(f"{self.recorder.way}: {method} {path}")
        return answer
