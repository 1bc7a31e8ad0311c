"""How pages and mails look with a branding: rendered from their own templates, to be shown in a frame.

The framed page runs nothing, sends nothing and leads nowhere: its policy allows no script, no form and no address but
our style sheet and pictures, and the page itself is inert. It is in a light or in a dark scheme whatever the reader's
browser prefers, so it has the style sheet of one scheme alone.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum
from typing import Final
from urllib.parse import quote

from quart import Response

from core.colors import WHITE, text_color_on
from core.errors import BadRequest, FieldError, Refusal, TemporaryRefusal
from core.lazy_dataclasses import dataclass
from core.mail.brands import MailBrand
from core.mail.mail import BY_ORGANIZATION, MailTemplate
from core.mail.mail_samples import OF_ACCOUNTS, sample_of
from core.organizations.settings.brand_contrasts import (
    ColorUse,
    ComputedColor,
    RequiredContrast,
    computed_colors,
    required_contrasts,
)
from core.organizations.settings.branding import BrandedOrganization, Branding
from core.organizations.settings.pictures import Picture
from core.wording import Wording
from entrypoints.pages.frame.assets import asset_address
from entrypoints.pages.frame.brands import Brand
from entrypoints.pages.frame.languages import language_of, marked, translated
from entrypoints.pages.frame.platform_look import look_of, only_scheme
from entrypoints.pages.frame.refusals import FORM_DAMAGED, message_on_page, prefers_json, refusal_page
from entrypoints.pages.frame.rendering import HTML, render
from entrypoints.pages.frame.returns import ReturnQuery
from entrypoints.web.serving.calls import Call

# Only the page with the editor may frame it. Browsers follow `frame-ancestors` instead of X-Frame-Options.
POLICY: Final = (
    "default-src 'none'; style-src 'self' {styles}; font-src 'self'; img-src 'self' data:; form-action 'none'; "
    "frame-ancestors 'self'; base-uri 'none'; sandbox"
)
POLICY_OF_EDITOR_ADDITION: Final = "; frame-src 'self'"

# What the fields are called on the page.
LABELS: Final = {
    "primary_color": marked("Main colour"),
    "background_color": marked("Background colour"),
    "logo": marked("Logo"),
    "icon": marked("Icon"),
    "support_email": marked("Address for questions"),
    "terms_url": marked("Terms of use"),
    "privacy_url": marked("Privacy policy"),
}
# What stands above the page in the frame has a look of its own, on which no brand has an effect.
_NOTES_STYLE: Final = """
.preview-notes { padding: 0.6rem 1rem; border-bottom: 1px solid #7f8b86; background: #fff; color: #1b2321;
  font: 0.85rem/1.5 var(--text, sans-serif); }
.preview-notes:focus-visible { outline: 3px solid #14544a; outline-offset: -3px; }
.preview-notes ul { margin: 0; padding-inline-start: 1.1rem; }
.preview-notes .bad { color: #9c2a1f; font-weight: 600; }
.previewed { display: contents; }
"""
_SCRIPT: Final = re.compile(r"<script\b[^>]*></script>\s*")
# No field gets the focus in the frame, which browsers would complain about.
_AUTOFOCUS: Final = re.compile(r"(<input\b[^>]*) autofocus\b")
_STYLE_SHEET: Final = re.compile(r'<link rel="stylesheet"[^>]*>\s*')
_SCHEMES: Final = 'content="light dark"'
_BODY: Final = re.compile(r"<body\b[^>]*>")


class PreviewView(StrEnum):
    """What is shown with a branding."""

    SIGN_IN = "sign_in"
    REGISTRATION = "registration"
    MAIL = "mail"


class PreviewScheme(StrEnum):
    """The scheme of colours in which it is shown."""

    LIGHT = "light"
    DARK = "dark"


@dataclass(frozen=True)
class PreviewedBrand(Brand):
    """A brand with pictures that are not served, by their names; the others are."""

    pictures: Mapping[str, Picture] = field(default_factory=dict[str, "Picture"])

    def _path(self, name: str | None) -> str | None:
        picture = self.pictures.get(name) if name is not None else None
        return picture.data_url if picture is not None else super()._path(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Previewed:
    """A branding to look at, its pictures that are not served, and what is wrong with the fields that it leaves out."""

    organization: BrandedOrganization
    pictures: Sequence[Picture] = ()
    problems: Sequence[FieldError] = ()

    @property
    def brand(self) -> PreviewedBrand | None:
        """The brand that pages would show; None for an organization that has never set one."""
        branding = self.organization.branding
        if branding == Branding():
            return None
        return PreviewedBrand(self.organization, None, {picture.name: picture for picture in self.pictures})

    @property
    def is_valid(self) -> bool:
        """Whether it could be saved."""
        branding = self.organization.branding
        contrasts = required_contrasts(branding.primary_color, branding.background_color)
        return not self.problems and all(one.is_enough for one in contrasts)


def preview_page(
    call: Call, previewed: Previewed, view: PreviewView, scheme: PreviewScheme, mail: MailTemplate
) -> Response:
    """Return a page, or this mail, as it looks with a branding, for the frame."""
    name = call.installation.platform.name
    brand = previewed.brand
    shown = replace(brand, platform=name) if brand is not None else None
    is_mail = view is PreviewView.MAIL
    html = _mail(call, shown, mail) if is_mail else _page(call, shown, view)
    html = _BODY.sub(
        lambda body: f'{body[0]}\n{_notes(call, previewed, mail if is_mail else None)}<div class="previewed" inert>',
        html,
        count=1,
    )
    html = html.replace("</body>", "</div>\n</body>", 1)
    response = _framed(call, html, scheme, brand=shown, is_mail=is_mail)
    response.status_code = 200 if previewed.is_valid else 400
    return response


def framed_refusal(call: Call, refusal: Refusal) -> Response:
    """Return what was refused, for the frame; for `Routes` that answer with what is framed."""
    if prefers_json(call):
        return refusal_page(call, refusal)
    language = language_of(call)
    html = render(
        "organizations/settings/branding_preview_refused.html",
        language,
        # The fields that are judged before the preview are not typed by people.
        text=language.known(FORM_DAMAGED if isinstance(refusal, BadRequest) else message_on_page(refusal)),
        platform=look_of(call.installation.platform),
        page=quote(call.request.path.removesuffix("/preview")),
        request_id=call.request_id,
    )
    response = _framed(call, html, PreviewScheme.LIGHT)
    # Its button shows the page with the editor again.
    response.headers["Content-Security-Policy"] += " allow-top-navigation-by-user-activation"
    response.status_code = refusal.code.status
    if isinstance(refusal, TemporaryRefusal):
        response.headers["Retry-After"] = str(refusal.retry_after_seconds)
    return response


def _page(call: Call, brand: PreviewedBrand | None, view: PreviewView) -> str:
    language = language_of(call)
    template = "sign_in/login.html" if view is PreviewView.SIGN_IN else "accounts/registration.html"
    return render(
        template,
        language,
        brand=brand,
        platform=look_of(call.installation.platform),
        # The form has no token: nothing here can be sent.
        form_token="",
        here="/",
        way=ReturnQuery(),
        cancel="",
        place=translated(call, "your application") if brand is not None else "",
        owner=brand.name if brand is not None and view is PreviewView.SIGN_IN else "",
        elsewhere="",
        links=False,
        providers=[],
        required=None,
        way_place=(None, None),
        is_closed=False,
        email="",
        name="",
        proposed_email="",
        is_invalid=False,
        problem="",
        problems={},
    )


def _mail(call: Call, brand: PreviewedBrand | None, mail: MailTemplate) -> str:
    language = language_of(call)
    message = sample_of(
        mail,
        organization=brand.name if brand is not None else "",
        service=language.text(marked("your application")),
        language=language.tag,
    )
    shown = _mail_brand(brand, mail) if brand is not None and mail not in OF_ACCOUNTS else None
    return call.installation.mail_renderer.render(message, shown).html


def _mail_brand(brand: PreviewedBrand, mail: MailTemplate) -> MailBrand:
    stored = brand.organization.branding
    color = stored.primary_color
    shown = MailBrand(
        name=brand.name,
        logo=brand.logo if _is_in_mails(stored) else None,
        primary_color=color,
        on_primary_color=text_color_on(color) if color is not None else None,
        support_email=stored.support_email,
        terms_url=stored.terms_url,
        privacy_url=stored.privacy_url,
    )
    return shown if mail in BY_ORGANIZATION else shown.without_links()


def _is_in_mails(branding: Branding) -> bool:
    # Few mail programs show another type of picture.
    return branding.logo is not None and branding.logo.endswith(".png")


def _notes(call: Call, previewed: Previewed, mail: MailTemplate | None) -> str:
    """Return what is wrong with the values, which contrasts they have, and what a mail leaves out."""
    language = language_of(call)
    branding = previewed.organization.branding
    primary, background = branding.primary_color, branding.background_color
    lines = [
        (True, f"{language.known(LABELS.get(one.field, one.field))}: {language.known(one.message)}")
        for one in previewed.problems
    ]
    lines += [(not one.is_enough, language.known(_required(one))) for one in required_contrasts(primary, background)]
    lines += [(False, language.known(_computed(one))) for one in computed_colors(primary, background)]
    if mail is not None:
        if branding.logo is not None and not _is_in_mails(branding):
            lines.append(
                (False, translated(call, "Mail programs show no SVG, so mails leave this logo out. A PNG is shown."))
            )
        if mail in OF_ACCOUNTS:
            lines.append(
                (False, translated(call, "It is about the account of a person, and has the look of the platform."))
            )
        elif mail not in BY_ORGANIZATION:
            lines.append(
                (
                    False,
                    translated(call, "A mail that signs a person in shows no address and no link that you have set."),
                )
            )
    if previewed.brand is None:
        lines.append((False, translated(call, "Nothing is set, so this is the look of the platform.")))
    return render("organizations/settings/branding_preview_notes.html", language, lines=lines)


def _required(one: RequiredContrast) -> str:
    values = {"what": one.what, "ratio": round(one.ratio, 1), "minimum": one.ratio_min}
    if one.is_enough:
        return Wording("Contrast of the main colour and %(what)s: %(ratio)s, good (at least %(minimum)s).", **values)
    return Wording(
        "Contrast of the main colour and %(what)s: %(ratio)s, too low. It must be %(minimum)s at least to be saved.",
        **values,
    )


def _computed(one: ComputedColor) -> str:
    ratio = round(one.ratio, 1)
    named = Wording("white") if one.color == WHITE else Wording("black")
    match one.use:
        case ColorUse.TEXT_ON_BUTTONS:
            return Wording("Text on buttons is %(color)s: contrast %(ratio)s, good.", color=named, ratio=ratio)
        case ColorUse.TEXT_ON_BACKGROUND:
            return Wording(
                "Text on the background colour is %(color)s: contrast %(ratio)s, good.", color=named, ratio=ratio
            )
        case ColorUse.LIGHT_LINKS:
            if one.is_as_chosen:
                return Wording("Links on a light page have the main colour: contrast %(ratio)s, good.", ratio=ratio)
            return Wording(
                "Links on a light page are darkened to %(color)s, to be readable: contrast %(ratio)s.",
                color=one.color,
                ratio=ratio,
            )
        case ColorUse.DARK_ACCENT:
            if one.is_as_chosen:
                return Wording("Dark pages have the main colour as it is: contrast %(ratio)s, good.", ratio=ratio)
            return Wording(
                "On dark pages the main colour is lightened to %(color)s, to be readable: contrast %(ratio)s.",
                color=one.color,
                ratio=ratio,
            )


def _framed(
    call: Call,
    html: str,
    scheme: PreviewScheme,
    *,
    brand: PreviewedBrand | None = None,
    is_mail: bool = False,
) -> Response:
    """Return a page or a mail for the frame: in one scheme, and without scripts."""
    style = _NOTES_STYLE
    if is_mail:
        html = only_scheme(html, scheme)
        head = ""
    else:
        look = look_of(call.installation.platform)
        of_platform = [file for file in look.files.values() if file.address == look.style_sheet]
        colors = "".join(file.content.decode() for file in of_platform) + (brand.colors if brand is not None else "")
        style += only_scheme(colors, scheme)
        head = f'<link rel="stylesheet" href="{asset_address(f"gatehouse-{scheme}.css")}">\n'
    # Templates have no script in the page itself, and values are escaped, so these are all.
    html = _AUTOFOCUS.sub(r"\1", _STYLE_SHEET.sub("", _SCRIPT.sub("", html))).replace(_SCHEMES, f'content="{scheme}"')
    html = html.replace("</head>", f"{head}<style>{style}</style>\n</head>", 1)
    response = Response(html, content_type=f"{HTML}; charset=utf-8")
    # A mail has its styles in its elements.
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    response.headers["Content-Security-Policy"] = POLICY.format(
        styles="'unsafe-inline'" if is_mail else f"'sha256-{digest}'"
    )
    response.headers["X-Frame-Options"] = "SAMEORIGIN"
    call.vary("Accept-Language, Cookie")
    response.headers["Vary"] = call.headers["Vary"]
    return response
