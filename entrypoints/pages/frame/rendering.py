"""Renders pages from templates: every value is escaped, and the security policy allows no scripts but our files.

The style sheet is `assets/styles/`; the components are the macros in `frame/components.html`; the texts are translated
as `languages.py` says.
"""

import base64
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias, cast

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from quart import Response

from core.accounts.sign_in_methods import title_of
from core.errors import BadRequest
from core.limits import PASSWORD_CHARACTERS_MIN
from core.log_times import time_of
from entrypoints.pages.frame.assets import asset_address
from entrypoints.pages.frame.brands import present_brand
from entrypoints.pages.frame.highlighting import highlighted
from entrypoints.pages.frame.impersonation_banner import present_acting
from entrypoints.pages.frame.languages import ENGLISH, LANGUAGES, Language, language_of
from entrypoints.pages.frame.platform_look import DEFAULT_LOOK, look_of
from entrypoints.pages.frame.returns import ReturnQuery
from entrypoints.web.serving.admission.browsers import SIGN_IN, form_token, present_target
from entrypoints.web.serving.answering.answers import AnswerStatus, Media
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import CARRIED_SECRETS

HTML: Final = "text/html"
# The return type of a handler that answers with a page.
Page: TypeAlias = Annotated[Response, Media(HTML)]
# The return type of a handler that redirects the browser or answers with a page.
PageOrRedirect: TypeAlias = Page | Annotated[None, AnswerStatus(303)]

# A page loads its style sheet, font, scripts and pictures, submits forms to Gatehouse only, and cannot be framed. No
# script stands in a page, and none sends a request of its own.
CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; style-src 'self'; font-src 'self'; script-src 'self'; img-src 'self' data:; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
# The page of a part of the account or the setup, whose buttons are sent to paths below it.
_PART: Final = re.compile("/app/account/[a-z-]+|/app/setup/parts/[a-z]+")
# A template stands beside the module that shows it, and is named from here: `webhooks/deliveries.html`.
TEMPLATES_FOLDER: Final = Path(__file__).parents[1]
# What a template has that carries a secret.
_CARRIED: Final = "|".join(sorted(CARRIED_SECRETS))
_REVEALS: Final = re.compile(
    rf"""\.reveal\(\)|name="({_CARRIED})" value="{{{{|message\.value|name="{{{{ name }}}}\""""
    r"""|href="{{ address }}"|ui\.code\(code,"""
)
# What a page shows that answers no call.
_WITHOUT_CALL: Final[Mapping[str, Any]] = {
    "acting": None,
    "brand": None,
    "platform": DEFAULT_LOOK,
    "password_minimum": PASSWORD_CHARACTERS_MIN,
    "has_mailbox": False,
}
# Beside that, a page whose script sends requests, such as for the challenge of a passkey.
_CONNECTING_POLICY: Final = "; connect-src 'self'"


def page(call: "Call", template: str, *, status: int = 200, **values: Any) -> Response:
    """Return a page in the language of the request, which no cache stores."""
    call.vary("Accept-Language, Cookie")
    values = {
        "brand": present_brand(call),
        "platform": look_of(call.installation.platform),
        "here": here(call, values.get("way")),
        "acting": present_acting(call),
        "password_minimum": call.installation.password_rules.characters_min,
        "has_mailbox": call.installation.settings.dev and call.installation.settings.smtp_url is None,
        **values,
    }
    call.reveals_secret = call.reveals_secret or reveals_secret(template)
    html = render(template, language_of(call), version=call.installation.version, **values)
    response = Response(html, status=status, content_type=f"{HTML}; charset=utf-8")
    response.headers["Cache-Control"] = "no-store"
    # A refusal's page gets none of the call's headers.
    response.headers["Vary"] = call.headers["Vary"]
    return protected(response)


def form_page(
    call: "Call",
    template: str,
    *,
    status: int = 200,
    connects: bool = False,
    **values: Any,
) -> Response:
    """Return a page whose forms carry the token of the browser; a template needs it as `form_token`.

    Browsers refuse redirects to other sites after a form, so such a form is answered with a page (`leading_page`).
    With `connects`, the scripts of the page may send requests to Gatehouse.
    """
    response = page(call, template, status=status, form_token=form_token(call), browser=call.browser, **values)
    # Without the referrer, a browser would not say which site its form is from.
    response.headers["Referrer-Policy"] = "same-origin"
    if connects:
        response.headers["Content-Security-Policy"] += _CONNECTING_POLICY
    return response


def here(call: "Call", way: "ReturnQuery | None") -> str:
    """Return the path that shows the page of this request in another language; empty where none does.

    For the answer to a form of a sign-in it is the page that continues the sign-in, and for the answer to a button of a
    part of the account or the setup it is this part.
    """
    present = present_target(call)
    if call.request.method == "POST" and way is not None:
        return way.on(present.target if present is not None else SIGN_IN)
    if present is not None:
        return present.target
    part = _PART.match(call.request.path)
    return part[0] if part is not None else ""


def render(template: str, language: Language = ENGLISH, **values: Any) -> str:
    """Fill in a template; raise `UndefinedError` when a value that it needs is missing."""
    return templates(language).get_template(template).render({**_WITHOUT_CALL, **values})


@cache
def reveals_secret(template: str) -> bool:
    """Return whether a template has a hidden field with a secret, or reveals one in another way."""
    return _REVEALS.search((TEMPLATES_FOLDER / template).read_text()) is not None


def protected(response: Response, *, connects: bool = False) -> Response:
    """Add the security policy to a response, and return it; with `connects`, scripts may send requests to Gatehouse."""
    response.headers["Content-Security-Policy"] = CONTENT_SECURITY_POLICY + (_CONNECTING_POLICY if connects else "")
    return response


def prose(text: str) -> Markup:
    """Format a docstring: paragraphs at empty lines, `code` between backticks."""
    paragraphs = (paragraph.strip() for paragraph in text.split("\n\n"))
    return Markup("").join(Markup("<p>{}</p>").format(inline(paragraph)) for paragraph in paragraphs if paragraph)


def inline(text: str) -> Markup:
    """Format a sentence: `code` between backticks."""
    return Markup("").join(_inline_parts(text))


def breakable(path: str) -> Markup:
    """Format a path so that it can wrap after its slashes."""
    return Markup("/<wbr>").join(path.split("/"))


def field_time(typed: str) -> str:
    """Return a typed time in the format of a field for times, in UTC; empty for a text that is no time."""
    try:
        moment = time_of("", typed).replace(tzinfo=None, microsecond=0)
    except BadRequest:
        return ""
    return moment.isoformat(timespec="seconds" if moment.second else "minutes")


def in_base64(text: str) -> str:
    """Return a text as the data of an address that carries it, such as a picture."""
    return base64.b64encode(text.encode()).decode()


def _inline_parts(text: str) -> Iterator[Markup]:
    for index, part in enumerate(text.split("`")):
        yield Markup("<code>{}</code>").format(part) if index % 2 else escape(part)


@cache
def templates(language: Language) -> Environment:
    """Return the templates, which are compiled for each language, with its texts as `_` and, by number, `ngettext`."""
    environment = Environment(
        extensions=["jinja2.ext.i18n"],
        loader=FileSystemLoader(TEMPLATES_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        # A template is compiled when it is first used, and its file is not checked again.
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["asset"] = asset_address
    environment.filters["prose"] = prose
    environment.filters["inline"] = inline
    environment.filters["breakable"] = breakable
    environment.filters["highlighted"] = cast("Callable[..., Markup]", highlighted)
    environment.filters["base64"] = in_base64
    environment.filters["moment"] = language.moment
    environment.filters["brief"] = language.brief
    environment.filters["field_time"] = field_time
    environment.filters["day"] = language.day
    environment.filters["grouped"] = language.number
    # For words that are data, such as the name of a role.
    environment.filters["known"] = language.known
    environment.filters["device_name"] = language.device_name
    environment.filters["provider_title"] = title_of
    # For sentences that are stored, such as the last error of a receiver.
    environment.filters["recognized"] = language.recognized
    environment.policies["ext.i18n.trimmed"] = True
    extended: Any = environment
    extended.globals["language"] = language
    extended.globals["languages"] = LANGUAGES.values()
    # The extension adds this method. A text may contain markup; the values in it are escaped.
    extended.install_gettext_translations(language.translations, newstyle=True)
    # The extension's own alias finds the function again at each call, which takes as long as the text itself.
    extended.globals["_"] = extended.globals["gettext"]
    return environment


TEMPLATES: Final = templates(ENGLISH)
