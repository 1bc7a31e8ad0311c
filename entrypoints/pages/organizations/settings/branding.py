"""The branding of an organization: the page that changes it, its preview, and its pictures and colours as files.

The files are on our own origin under names that change with their content. How a page looks with values that are not
saved is in `branding_preview.py`.
"""

from dataclasses import replace
from typing import Annotated, Any, Final, TypeAlias
from uuid import UUID

import msgspec
from quart import Response

from core.errors import BadRequest, FieldError, NotFound, Refusal
from core.limits import LARGE_BODY_BYTES_MAX
from core.mail.mail import MailTemplate
from core.organizations.access import Operation
from core.organizations.settings import branding
from core.organizations.settings.branding import (
    BrandedOrganization,
    BrandingChanged,
    BrandingChanges,
    BrandingUnknown,
    BrandingVersionUnknown,
    InspectedTexts,
)
from core.organizations.settings.pictures import (
    PATH,
    Picture,
    PictureKind,
    parse_data_url,
    parse_file,
    picture_path,
)
from entrypoints.pages.console.frame import Program, after, console_page, opened, page_of
from entrypoints.pages.frame.assets import PICTURE_POLICY, Png, StyleSheet
from entrypoints.pages.frame.brands import Brand
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.platform_look import CACHE_CONTROL
from entrypoints.pages.frame.refusals import problems_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.mail.mail import KINDS
from entrypoints.pages.organizations.settings.branding_preview import (
    LABELS,
    POLICY_OF_EDITOR_ADDITION,
    Previewed,
    PreviewScheme,
    PreviewView,
    framed_refusal,
    preview_page,
)
from entrypoints.shared.organizations.pictures import rebuilt
from entrypoints.web.input.decoding import Query, number_of
from entrypoints.web.serving.admission.browsers import ProtectedForm
from entrypoints.web.serving.admission.credentials import in_console, public
from entrypoints.web.serving.admission.hosts import on_custom_hosts
from entrypoints.web.serving.answering.answers import Media
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("branding", "How pages and mails of an organization look.")
editor: Routes = console_pages()
# What is framed explains a refusal in the frame.
preview = Routes(editor.capability, editor.description, framed_refusal)

BRANDING: Final = "/app/organizations/:org_slug/branding"
PREVIEW: Final = f"{BRANDING}/preview"
# Of the column that counts the versions.
_NUMBER_MAX: Final = 2**31 - 1
_TEXTS: Final = ("primary_color", "background_color", "support_email", "terms_url", "privacy_url")

Svg: TypeAlias = Annotated[Response, Media("image/svg+xml")]


class BrandingForm(ProtectedForm, kw_only=True):
    """The whole branding, and the version that the page has shown.

    An empty text removes what is saved. A picture stays where no file is sent, unless it is to be removed;
    `…_sent` carries one that was sent with a form which was refused.
    """

    primary_color: str = ""
    background_color: str = ""
    support_email: str = ""
    terms_url: str = ""
    privacy_url: str = ""
    logo: bytes = b""
    logo_sent: str = ""
    remove_logo: str = ""
    icon: bytes = b""
    icon_sent: str = ""
    remove_icon: str = ""
    seen_version: str = ""

    @property
    def texts(self) -> dict[str, str | None]:
        """The texts as they are to be saved."""
        return {name: getattr(self, name).strip() or None for name in _TEXTS}


class PreviewForm(BrandingForm, kw_only=True):
    """The branding to look at, and which page or which mail; `dark` is a box to tick."""

    view: PreviewView = PreviewView.SIGN_IN
    mail: MailTemplate = MailTemplate.MAGIC_LINK
    dark: str = ""


class VersionForm(ProtectedForm, kw_only=True):
    """An earlier version to use again, and the version that the page has shown as the present one."""

    version: str = ""
    seen_version: str = ""


class PreviewQuery(Query, kw_only=True):
    """Which version of the branding to look at, and on which page."""

    version: Annotated[str, msgspec.Meta(description="The number of a version; the saved branding without.")] = ""
    view: Annotated[PreviewView, msgspec.Meta(description="The page or the mail to show.")] = PreviewView.SIGN_IN
    mail: Annotated[MailTemplate, msgspec.Meta(description="Which mail to show.")] = MailTemplate.MAGIC_LINK
    scheme: Annotated[PreviewScheme, msgspec.Meta(description="The scheme of colours.")] = PreviewScheme.LIGHT


@editor.get(BRANDING)
@in_console(Operation.BRANDING_READ)
async def show_branding(
    call: Call,
    org_slug: str,
    *,
    query: DoneQuery | None = None,
    form: BrandingForm | VersionForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show the branding of an organization, with a preview and its earlier versions."""
    standing, history = await opened(call, org_slug, Operation.BRANDING_READ, branding.show_history)
    saved, typed = history.present.branding, form if isinstance(form, BrandingForm) else None
    response = console_page(
        call,
        "organizations/settings/branding.html",
        standing,
        program=Program(
            "branding_change_branding",
            org_slug,
            body={name: value for name in _TEXTS if (value := getattr(saved, name)) is not None},
        ),
        done=query.done if query is not None else "",
        refusal=refusal,
        history=history,
        saved=saved,
        # What was typed stays, also when another person has saved something else meanwhile.
        typed={name: getattr(typed, name) if typed is not None else getattr(saved, name) or "" for name in _TEXTS},
        pictures=[_shown_picture(history.present, kind, typed) for kind in PictureKind],
        changed_meanwhile=isinstance(refusal, BrandingChanged) and typed is not None,
        problems=problems_of(refusal if typed is not None else None),
        labels=LABELS,
        page=f"{page_of(org_slug)}/branding",
        frame=f"{page_of(org_slug)}/branding/preview",
        mails=KINDS,
        shown_mail=MailTemplate.MAGIC_LINK,
    )
    response.headers["Content-Security-Policy"] += POLICY_OF_EDITOR_ADDITION
    return response


@editor.post(BRANDING, body_bytes_max=LARGE_BODY_BYTES_MAX, refuses=(BrandingChanged,))
@in_console(Operation.BRANDING_CHANGE)
@shows_again(show_branding, BadRequest, BrandingChanged)
async def save_branding(call: Call, org_slug: str, form: BrandingForm) -> PageOrRedirect:
    """Save the branding; programs use `PATCH /api/organizations/:slug/branding`."""
    # Whether the caller may do this is decided before pictures are read.
    inspected = await call.read(branding.inspect, org_slug, form.texts)
    pictures, problems = await _pictures(call, form)
    if inspected.problems or problems:
        raise BadRequest.of_fields([*inspected.problems, *problems])
    wanted = BrandingChanges(texts=inspected.texts, pictures=pictures)
    await call.transact(branding.change, org_slug, wanted, seen_version=_number(form.seen_version))
    return after(f"{page_of(org_slug)}/branding", "branding-saved")


@editor.post(f"{BRANDING}/use-again", refuses=(BrandingVersionUnknown, BrandingChanged))
@in_console(Operation.BRANDING_CHANGE)
@shows_again(show_branding, BadRequest, BrandingChanged)
async def use_version_again(call: Call, org_slug: str, form: VersionForm) -> PageOrRedirect:
    """Save what an earlier version of the branding has, with its pictures, as the newest version."""
    version, seen = _number(form.version), _number(form.seen_version)
    await call.transact(branding.use_again, org_slug, version, seen_version=seen)
    return after(f"{page_of(org_slug)}/branding", "branding-used-again")


@preview.get(PREVIEW, refuses=(BrandingVersionUnknown,))
@in_console(Operation.BRANDING_READ)
async def preview_saved(call: Call, org_slug: str, query: PreviewQuery) -> Page:
    """Show in the frame of the branding how a page or a mail looks with what is saved, or with an earlier version."""
    if query.version:
        kept = await call.read(branding.read_version, org_slug, _number(query.version))
        previewed = Previewed(organization=kept.organization, pictures=tuple(kept.pictures.values()))
    else:
        previewed = Previewed(organization=await call.read(branding.show, org_slug))
    return preview_page(call, previewed, query.view, query.scheme, query.mail)


@preview.post(PREVIEW, body_bytes_max=LARGE_BODY_BYTES_MAX)
@in_console(Operation.BRANDING_READ)
async def preview_typed(call: Call, org_slug: str, form: PreviewForm) -> Page:
    """Show in the frame of the branding how a page or a mail looks with what is filled in. Nothing is saved."""
    inspected = await call.read(branding.inspect, org_slug, form.texts)
    pictures, problems = await _pictures(call, form)
    previewed = Previewed(
        organization=_with(inspected, pictures),
        pictures=tuple(picture for picture in pictures.values() if picture is not None),
        problems=(*inspected.problems, *problems),
    )
    scheme = PreviewScheme.DARK if form.dark else PreviewScheme.LIGHT
    return preview_page(call, previewed, form.view, scheme, form.mail)


@routes.get(f"{PATH}/:organization_id/:name", refuses=(BrandingUnknown,))
@on_custom_hosts
@public
async def show_file(call: Call, organization_id: UUID, name: str) -> Png | Svg | StyleSheet:
    """Return a picture or the style sheet of an organization's branding, which may be cached for ever."""
    response = await (_style_sheet if name.endswith(".css") else _picture)(call, organization_id, name)
    response.headers["Cache-Control"] = CACHE_CONTROL
    # Mails and the applications of the organization show it on pages of other origins.
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response


async def _style_sheet(call: Call, organization_id: UUID, name: str) -> Response:
    found = await call.read(branding.brand_of, organization_id)
    brand = Brand(found, None) if found is not None else None
    if brand is None or brand.style_sheet != picture_path(organization_id, name):
        raise NotFound
    return Response(brand.colors, content_type="text/css; charset=utf-8")


async def _picture(call: Call, organization_id: UUID, name: str) -> Response:
    picture = await call.read(branding.picture, organization_id, name)
    response = Response(picture.content, content_type=picture.type.value)
    response.headers["Content-Security-Policy"] = PICTURE_POLICY
    return response


def _number(text: str) -> int:
    """Return the number of a version, and for a damaged one a number that no version has."""
    return min(number_of(text), _NUMBER_MAX)


async def _pictures(call: Call, form: BrandingForm) -> tuple[dict[PictureKind, Picture | None], list[FieldError]]:
    """Return the pictures that a form changes, rebuilt, and what is wrong with the others.

    The form carries what is right, so that no file has to be chosen twice.
    """
    pictures: dict[PictureKind, Picture | None] = {}
    problems: list[FieldError] = []
    for kind in PictureKind:
        file, sent = getattr(form, kind), getattr(form, f"{kind}_sent")
        setattr(form, f"{kind}_sent", "")
        try:
            if getattr(form, f"remove_{kind}"):
                pictures[kind] = None
            elif file or sent:
                found = parse_file(file, kind) if file else parse_data_url(sent, kind)
                pictures[kind] = picture = await rebuilt(call, found, kind)
                setattr(form, f"{kind}_sent", picture.data_url)
        except BadRequest as refusal:
            problems += refusal.details
    return pictures, problems


def _with(inspected: InspectedTexts, pictures: dict[PictureKind, Picture | None]) -> BrandedOrganization:
    """Return the organization with the valid ones of the values that were filled in."""
    names = {kind.value: picture.name if picture is not None else None for kind, picture in pictures.items()}
    present = inspected.present
    return replace(present, branding=replace(present.branding, **inspected.texts, **names))


def _shown_picture(present: BrandedOrganization, kind: PictureKind, typed: BrandingForm | None) -> dict[str, Any]:
    """Return what the page shows of a picture: the saved one, or the one that was sent with a refused form."""
    name = getattr(present.branding, kind)
    sent = getattr(typed, f"{kind}_sent") if typed is not None else ""
    return {
        "name": kind.value,
        "sent": sent,
        "address": sent or (picture_path(present.organization_id, name) if name is not None else ""),
        "is_removed": typed is not None and bool(getattr(typed, f"remove_{kind}")),
    }
