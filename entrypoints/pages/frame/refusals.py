"""A refusal as a page: what did not work, and what to do next, for people who followed a link or sent a form.

The first sentence of a refusal's message states the problem; it is the heading.
Each page has at least one button (`next_steps.py`) and the id of its request, with which people ask for help. A page
that shows its own form again is not such a page, and has no id. Programs that request JSON get the usual body.

A form that came at a bad moment, for a limit or while a service is busy, is shown again with what was typed. Passwords
and codes are asked for again; everything else is filled in, so that nothing is typed twice. Where a form has no use any
longer, because its object is gone, its texts are shown to copy.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final, cast

import msgspec
from quart import Response

from core.accounts.links import LinkUnusable
from core.accounts.passwords import NoPasswordSet, PasswordAlreadySet
from core.audit.siem import SiemUnknown
from core.billing.checkout import PlanNotForSale
from core.credentials.factors import MailedProofToAddPasskey, MailedProofToChangeAddress
from core.credentials.mfa import MfaNotSetUp, SetupCodeWrong
from core.errors import (
    BadRequest,
    DatabaseFailed,
    Forbidden,
    MethodNotAllowed,
    NoSuchPath,
    NotFound,
    OrganizationNotActive,
    PayloadTooLarge,
    RateLimitExceeded,
    Refusal,
    RequestTimedOut,
    TemporaryRefusal,
    UnsupportedMediaType,
)
from core.lazy_dataclasses import dataclass
from core.openid.client_troubles import RequestRefused
from core.organizations.session_strength import PasskeyRequired, SecondFactorRequired
from core.organizations.settings.domain import DomainUnset
from core.organizations.tiers import TierUnknown
from core.saml.messages import MessageRefused
from core.scim.tokens import ScimTokenUnknown
from core.secrets import Secret
from core.services.plans import PriceTaken
from core.sessions.caller_limits import ClosedWhileImpersonating
from core.sign_in import browser_returns
from core.sign_in.upstream.domains.domain_routes import DomainRoutedAlready, RouteUnknown
from entrypoints.pages.frame.impersonation_banner import past_acting
from entrypoints.pages.frame.languages import language_of, marked
from entrypoints.pages.frame.next_steps import next_steps
from entrypoints.pages.frame.rendering import HTML, page
from entrypoints.pages.frame.returns import REGISTER, WayForm
from entrypoints.web.serving.admission.browsers import FormRefused
from entrypoints.web.serving.admission.impersonating import OwnHandOnly
from entrypoints.web.serving.answering.answers import JSON, InternalFailure, refused
from entrypoints.web.serving.calls import Call

NO_PAGE: Final = marked("There is no page at this address. Check the address, or open your account and begin there.")
TELL_THE_MAKERS: Final = marked("Go back to the application, and tell its makers what is written here.")
FORM_DAMAGED: Final = marked("This form cannot be read. Load it again, and fill it in once more.")
ADDRESS_DAMAGED: Final = marked("The address of this page cannot be read. Go back, and use its fields and buttons.")
_OF_ACCOUNTS_AND_CONSOLES: Final = re.compile("/app/(?:account|organizations|platform)(?:/|$)")
SIGNED_IN_MEANWHILE: Final = marked(
    "This form is no longer valid. You have signed in since it was opened, perhaps in another window. Continue from"
    " here, and repeat what you did if it is not done yet."
)
# In place of messages that name a path of the interface.
ON_PAGES: Final[Mapping[type[Refusal], str]] = {
    DomainRoutedAlready: marked(
        "This mail domain is claimed already, here or for another connection. If you do not see it here, ask the person"
        " who sent you the link."
    ),
    DomainUnset: marked("There is no such domain here. It may be deleted or replaced already."),
    MethodNotAllowed: marked("This address is not a page. Go back to the page that you came from, and use its button."),
    NoSuchPath: NO_PAGE,
    MfaNotSetUp: marked("There is no app to turn on. Set up an app first."),
    MessageRefused: MessageRefused.default_message,
    NoPasswordSet: marked("Your account has no password yet. Load this page again to set one."),
    PasswordAlreadySet: marked("Your account has a password by now. Load this page again to change it."),
    PlanNotForSale: marked(
        "This plan cannot be bought: it has no price at the payment provider. Ask an administrator of the organization."
    ),
    PriceTaken: marked("Another plan has this price already. A price at the payment provider belongs to one plan."),
    RouteUnknown: marked("There is no such mail domain here. It may be removed already."),
    ScimTokenUnknown: marked("There is no such token here. It may be revoked already."),
    PasskeyRequired: marked(
        "This organization accepts a passkey alone as a second factor. Use your passkey, or add one to your account."
    ),
    MailedProofToAddPasskey: marked(
        "An organization of yours accepts passkeys alone, so adding one takes a passkey, or a link that is mailed to"
        " you. Sign out, sign in with a mailed link, and add the passkey then."
    ),
    MailedProofToChangeAddress: marked(
        "An organization of yours accepts passkeys alone, so changing your address takes a passkey, or a link that is"
        " mailed to your present one. Sign out, sign in with a mailed link, and change the address then."
    ),
    SecondFactorRequired: marked(
        "This organization requires a second factor. Set one up for your account if you have none, then come back and"
        " sign in again with a code."
    ),
    TierUnknown: marked("There is no such tier any more. Load this page again, and choose another one."),
    SiemUnknown: marked("There is no receiver of the audit log. It may be deleted already."),
    SetupCodeWrong: marked(
        "This code is wrong. Wait for the next one and try again. If that fails too, check that the clock of your"
        " device is set automatically, or begin again."
    ),
}
# In place of what these refusals say of themselves, which is for programs or leaves out what to do next. A page that
# exists for other people is not there, like one that does not exist.
_IN_GENERAL: Final[Mapping[type[Refusal], str]] = {
    ClosedWhileImpersonating: OwnHandOnly.default_message,
    DatabaseFailed: marked("Something went wrong on our side. Try again in a moment."),
    Forbidden: marked(
        "You are not allowed to do this. Ask an owner or administrator of your organization, or use another account."
    ),
    InternalFailure: marked("Something went wrong on our side. Try again in a moment."),
    NotFound: NO_PAGE,
    OrganizationNotActive: marked(
        "This organization is not active. It waits for approval, or is suspended; ask its owner about it."
    ),
    PayloadTooLarge: marked("This is too large. Go back, and send less, such as a smaller file."),
    RateLimitExceeded: marked("Too many requests. They came from you, or from others in your network."),
    RequestTimedOut: marked("The form did not arrive in time. Check your connection, go back, and send it again."),
    UnsupportedMediaType: FORM_DAMAGED,
}
_FORBIDDEN: Final = 403
# What a form shows again, by the names of its fields: the label, the type and what browsers fill in.
_SHOWN: Final = {
    "email": (marked("Email address"), "email", "username"),
    "name": (marked("Name"), "text", "name"),
}
# What a form asks again.
_SECRET: Final = {
    "current_password": (marked("Current password"), "password", "current-password"),
    "password": (marked("Password"), "password", "current-password"),
    "new_password": (marked("New password"), "password", "new-password"),
    "repeated": (marked("Repeat the new password"), "password", "new-password"),
    "code": (marked("Code"), "text", "one-time-code"),
    "client_secret": (marked("Client secret"), "password", "off"),
    "siem_token": (marked("Token or API key"), "password", "off"),
}
# Texts that take a while to write.
_TEXTS: Final = {
    "emails": marked("Email addresses"),
    "note": marked("Why"),
    "reason": marked("Reason"),
}


def prefers_json(call: Call) -> bool:
    """Whether the request prefers JSON to a page."""
    return call.request.accept_mimetypes.best_match([HTML, JSON], default=HTML) == JSON


def refusal_page(call: Call, refusal: Refusal) -> Response:
    """Return the page that explains a refusal; for `Routes` whose answers are pages."""
    return _explained(
        call, refusal, _words(call, refusal), refusal.problem if isinstance(refusal, MessageRefused) else None
    )


def protocol_refusal_page(call: Call, refusal: Refusal) -> Response:
    """Return the same for `Routes` to which applications send browsers.

    Only the makers of the application can correct a parameter, so the page names it for them.
    """
    if _has_invalid_fields(refusal):
        return _explained(call, refusal, RequestRefused.default_message, refusal.message)
    return refusal_page(call, refusal)


def _explained(call: Call, refusal: Refusal, words: str, details: str | None) -> Response:
    installation = call.installation
    answer = refused(
        refusal, request_id=call.request_id, at=installation.clock(), base_url=installation.settings.base_url
    )
    if prefers_json(call):
        return answer
    language = language_of(call)
    heading, _, explanation = language.known(words).partition(". ")
    if not explanation and isinstance(refusal, RequestRefused):
        explanation = language.known(TELL_THE_MAKERS)
    is_temporary = isinstance(refusal, TemporaryRefusal)
    typed = typed_form(call) if is_temporary and call.request.method == "POST" else None
    shown = page(
        call,
        "frame/message.html",
        status=answer.status_code,
        heading=heading.removesuffix("."),
        text=explanation,
        back=None,
        steps=next_steps(call, refusal),
        typed=typed,
        # A form of another site shows nothing of its own here.
        texts=() if typed is not None or isinstance(refusal, FormRefused) else typed_texts(call),
        wait_seconds=refusal.retry_after_seconds if is_temporary else None,
        signed_in_as=_signed_in_as(call) if answer.status_code == _FORBIDDEN else None,
        acted=past_acting(call),
        details=language.known(details or ""),
        request_id=call.request_id,
    )
    if typed is not None:
        # Without the referrer, a browser would not say which site its form is from.
        shown.headers["Referrer-Policy"] = "same-origin"
    if "Retry-After" in answer.headers:
        shown.headers["Retry-After"] = answer.headers["Retry-After"]
    return shown


def _signed_in_as(call: Call) -> str | None:
    """Return the address that is signed in in the browser; None when every page says as which user it acts."""
    return call.browser.email if call.browser is not None and call.acts_for is None else None


def message_on_page(refusal: Refusal) -> str:
    """Return what a page says of a refusal, in English."""
    kind = type(refusal)
    if kind in _IN_GENERAL and refusal.message == kind.default_message:
        return _IN_GENERAL[kind]
    return ON_PAGES.get(kind, refusal.message)


def _words(call: Call, refusal: Refusal) -> str:
    """Return what the page of a refusal says, in English."""
    if _has_invalid_fields(refusal):
        if call.has_form:
            return FORM_DAMAGED
        # No person types the fields of a mailed link: when one is invalid, the link was damaged.
        return ADDRESS_DAMAGED if _OF_ACCOUNTS_AND_CONSOLES.match(call.request.path) else LinkUnusable.default_message
    if isinstance(refusal, FormRefused) and call.browser is not None and isinstance(call.form, WayForm):
        return SIGNED_IN_MEANWHILE
    return message_on_page(refusal)


def problem_of(refusal: Refusal | None) -> str:
    """Return what a page shows of a refusal: of an invalid field its problem, without the field's name."""
    if isinstance(refusal, BadRequest) and refusal.details:
        return refusal.details[0].message
    return message_on_page(refusal) if refusal is not None else ""


def problems_of(refusal: Refusal | None) -> Mapping[str, str]:
    """Return what is wrong with each field of a form, for its template; nothing for every other name."""
    details = refusal.details if isinstance(refusal, BadRequest) else ()
    return defaultdict(str, {one.field: one.message for one in details})


def _has_invalid_fields(refusal: Refusal) -> bool:
    return isinstance(refusal, BadRequest) and bool(refusal.details)


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedField:
    """A field that is shown: its label is in English; of a secret the value is empty."""

    name: str
    label: str
    type: str
    autocomplete: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedForm:
    """A form to send again: where to, what it carries unseen, and its fields."""

    action: str
    carried: tuple[tuple[str, str], ...]
    fields: tuple[TypedField, ...]


def typed_form(call: Call) -> TypedForm | None:
    """Return the form of a request to send again; None for a request without one."""
    path = browser_returns.safe_path(call.request.path)
    if call.form is None or path is None:
        return None
    sent = _sent(_values(call.form))
    fields = [_field(call, name, value) for name, value in sent]
    shown = tuple(field for field in fields if field is not None)
    names = {field.name for field in shown}
    return TypedForm(
        action=_with_query(call, path),
        carried=tuple((name, value) for name, value in sent if name not in names),
        fields=shown,
    )


def typed_texts(call: Call) -> tuple[tuple[str, str], ...]:
    """Return the labels, in English, and the values of the texts that a form was sent with, for its sender to copy."""
    if call.form is None:
        return ()
    return tuple((_TEXTS[name], value) for name, value in _sent(_values(call.form)) if name in _TEXTS)


def _values(form: Any) -> dict[str, Any]:
    """Return the fields of a form; of a secret that was typed, that there was one."""
    return msgspec.to_builtins(form, enc_hook=_mark_of)


def _mark_of(typed: Any) -> str:
    assert isinstance(typed, Secret), f"a form has a field of {type(typed).__name__}"
    return str(typed) if typed.reveal() else ""


def _sent(form: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the fields of a form that have a value; of a list, such as ticked boxes, one for each value."""
    sent: list[tuple[str, str]] = []
    for name, value in form.items():
        values = cast("list[Any]", value) if isinstance(value, list) else [value]
        sent += [(name, str(one)) for one in values if one not in {None, ""}]
    return sent


def _with_query(call: Call, path: str) -> str:
    """Return the path with the query of the request, on which the form may depend; a damaged query is left out."""
    query = call.request.query_string.decode("ascii", "replace")
    return browser_returns.safe_target(f"{path}?{query}") or path if query else path


def _field(call: Call, name: str, value: str) -> TypedField | None:
    if name in _SHOWN:
        label, kind, autocomplete = _SHOWN[name]
        return TypedField(name=name, label=label, type=kind, autocomplete=autocomplete, value=value)
    if name in _SECRET:
        label, kind, autocomplete = _SECRET[name]
        if call.request.path == REGISTER:
            autocomplete = "new-password"
        return TypedField(name=name, label=label, type=kind, autocomplete=autocomplete, value="")
    return None
