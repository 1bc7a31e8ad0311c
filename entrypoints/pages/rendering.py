"""From a template and its values to a page: everything is escaped, nothing runs, and the browser is told so too.

The style sheet is `assets/styles/`; the pieces that pages are made of are the macros in `templates/components.html`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from quart import Response

from entrypoints.pages.assets import asset_address
from entrypoints.web.answers import Media

if TYPE_CHECKING:
    from entrypoints.web.calls import Call

HTML: Final = "text/html"
# What a handler says that it answers.
Page: TypeAlias = Annotated[Response, Media(HTML)]

# A page loads its style sheet and pictures, sends its forms to us alone, is framed by nobody and runs nothing.
CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'"
)


def page(call: "Call", template: str, *, status: int = 200, **values: Any) -> Response:
    """Show a person a page."""
    html = render(template, version=call.installation.version, **values)
    response = Response(html, status=status, content_type=f"{HTML}; charset=utf-8")
    response.headers["Cache-Control"] = "no-store"
    return protected(response)


def render(template: str, **values: Any) -> str:
    """Fill a template in; a value that it needs and does not get is an error."""
    return TEMPLATES.get_template(template).render(values)


def protected(response: Response) -> Response:
    """Tell the browser what the page may do, which is hardly anything."""
    response.headers["Content-Security-Policy"] = CONTENT_SECURITY_POLICY
    return response


def prose(text: str) -> Markup:
    """Set a docstring: paragraphs at its empty lines, `code` between its backticks."""
    paragraphs = (paragraph.strip() for paragraph in text.split("\n\n"))
    return Markup("").join(Markup("<p>{}</p>").format(inline(paragraph)) for paragraph in paragraphs if paragraph)


def inline(text: str) -> Markup:
    """Set a sentence: `code` between its backticks."""
    return Markup("").join(_inline_parts(text))


def breakable(path: str) -> Markup:
    """Let a path wrap behind its slashes."""
    return Markup("/<wbr>").join(path.split("/"))


def _inline_parts(text: str) -> Iterator[Markup]:
    for index, part in enumerate(text.split("`")):
        yield Markup("<code>{}</code>").format(part) if index % 2 else escape(part)


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        # A template is compiled when it is first shown, and never looked at again.
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["asset"] = asset_address
    environment.filters["prose"] = prose
    environment.filters["inline"] = inline
    environment.filters["breakable"] = breakable
    return environment


TEMPLATES: Final = _environment()
