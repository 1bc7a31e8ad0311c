"""The manual, served from the installation: its pages as HTML and as Markdown, its search, and a list of them all.

Each page is the same for every reader, and is rendered when it is first asked for, once in a process.
"""

from typing import Annotated, Final, TypeAlias

import msgspec
import trio
from quart import Response

from core.errors import NotFound
from core.lazy_dataclasses import dataclass
from entrypoints.installation import Installation
from entrypoints.pages.frame.refusals import refusal_page
from entrypoints.pages.frame.rendering import HTML, Page, protected, render
from entrypoints.pages.manual.contents import GROUPS, MANUAL, PICTURES, ManualPage, is_page, pages, pictures
from entrypoints.pages.manual.markdown import html_of, plain_text
from entrypoints.pages.manual.searching import found_in_manual
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.answering.answers import AnswerStatus, Media
from entrypoints.web.serving.answering.documents import THREADS, Document, generated_once
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Route, Routes

routes = Routes("manual", "The manual, for people and for programs.", refusal_page)

_MARKDOWN: Final = "text/markdown"
_TEXT: Final = "text/plain"
_PNG: Final = "image/png"
_SUFFIX: Final = ".md"

PageOrSource: TypeAlias = Page | Annotated[Response, Media(_MARKDOWN)]


class ManualQuery(Query, kw_only=True):
    """What to find in the manual."""

    q: Annotated[str, msgspec.Meta(description="Words of the manual.", max_length=254)] = ""


@routes.get(MANUAL)
@public
async def show_contents(call: Call, query: ManualQuery) -> Page | Annotated[None, AnswerStatus(304)]:
    """Show the contents of the manual, or what a search finds in it."""
    if query.q.strip():
        found = await trio.to_thread.run_sync(found_in_manual, query.q, limiter=THREADS)
        html = render("manual/found.html", version=call.installation.version, searched=query.q, found=found)
        return protected(Response(html, content_type=f"{HTML}; charset=utf-8"))
    document = await generated_once(call, _write_contents)
    return protected(document.response(call))


@routes.get(f"{MANUAL}/{PICTURES}/:name", refuses=(NotFound,))
@public
async def show_picture(call: Call, name: str) -> Annotated[Response, Media(_PNG)] | Annotated[None, AnswerStatus(304)]:
    """Return a picture of the manual."""
    if name not in pictures():
        raise NotFound
    document = await generated_once(call, _Picture(name))
    return document.response(call)


@routes.get(f"{MANUAL}/:page", refuses=(NotFound,), takes_rest=True)
@public
async def show_page(call: Call, page: str) -> PageOrSource | Annotated[None, AnswerStatus(304)]:
    """Show a page of the manual, or with `.md` behind its name its Markdown."""
    slug = page.removesuffix(_SUFFIX)
    if not is_page(slug):
        raise NotFound
    if slug != page:
        source = await generated_once(call, _Source(slug))
        return source.response(call)
    document = await generated_once(call, _RenderedPage(slug))
    return protected(document.response(call))


@routes.get("/llms.txt")
@public
async def for_language_models(
    call: Call,
) -> Annotated[Response, Media(_TEXT)] | Annotated[None, AnswerStatus(304)]:
    """List the pages of the manual in Markdown, as <https://llmstxt.org> asks, for language models."""
    document = await generated_once(call, _write_list)
    return document.response(call)


def _write_contents(_routes: tuple[Route, ...], installation: Installation) -> Document:
    html = render("manual/contents.html", version=installation.version, groups=_groups())
    return Document.of(html.encode(), media_type=f"{HTML}; charset=utf-8")


@dataclass(frozen=True, slots=True)
class _RenderedPage:
    """Writes a page."""

    slug: str

    def __call__(self, _routes: tuple[Route, ...], installation: Installation) -> Document:
        """Return the page."""
        page, sections = pages()[self.slug], pages()[self.slug].sections
        in_order = list(pages().values())
        at = in_order.index(page)
        html = render(
            "manual/page.html",
            version=installation.version,
            page=page,
            pages_of_group=[one for one in in_order if one.group == page.group],
            headings=[
                (section.heading.anchor, plain_text(section.heading.text))
                for section in sections
                if section.heading.level == 2
            ],
            text=html_of(sections, page.resolve),
            before=in_order[at - 1] if at else None,
            behind=in_order[at + 1] if at + 1 < len(in_order) else None,
        )
        return Document.of(html.encode(), media_type=f"{HTML}; charset=utf-8")


@dataclass(frozen=True, slots=True)
class _Source:
    """Writes the Markdown of a page."""

    slug: str

    def __call__(self, _routes: tuple[Route, ...], _installation: Installation) -> Document:
        """Return the Markdown."""
        return Document.of(pages()[self.slug].source.encode(), media_type=f"{_MARKDOWN}; charset=utf-8")


@dataclass(frozen=True, slots=True)
class _Picture:
    """Reads a picture."""

    name: str

    def __call__(self, _routes: tuple[Route, ...], _installation: Installation) -> Document:
        """Return the picture."""
        return Document.of(pictures()[self.name], media_type=_PNG)


def _write_list(_routes: tuple[Route, ...], installation: Installation) -> Document:
    base_url = installation.settings.base_url
    lines = [
        f"# {installation.platform.name}",
        "",
        "> A self-hosted identity platform: sign-in, organizations, single sign-on and provisioning in one process.",
        "",
        f"This is the manual of Gatehouse {installation.version}. [The interface]({base_url}/openapi.json) is an"
        f" OpenAPI document; [its errors]({base_url}/docs/errors) and [events]({base_url}/docs/events) have pages.",
    ]
    for group, of_group in _groups():
        lines += ["", f"## {group}", ""]
        for page in of_group:
            about = f": {page.summary}" if page.summary else ""
            lines.append(f"- [{page.title}]({base_url}{page.path}{_SUFFIX}){about}")
    return Document.of(("\n".join(lines) + "\n").encode(), media_type=f"{_TEXT}; charset=utf-8")


def _groups() -> list[tuple[str, list[ManualPage]]]:
    return [(group, [page for page in pages().values() if page.group == group]) for group, _ in GROUPS]
