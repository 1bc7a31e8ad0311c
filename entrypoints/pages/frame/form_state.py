"""A form that came at a bad moment, shown again with what was typed: for a limit, or a service that is busy.

Passwords and codes are asked for again; everything else is filled in, so that nothing is typed twice. Where a form has
no use any longer, because its object is gone, its texts are shown to copy.
"""

from __future__ import annotations

from typing import Any, Final, cast

import msgspec

from core.lazy_dataclasses import dataclass
from core.secrets import Secret
from core.sign_in import browser_returns
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.returns import REGISTER
from entrypoints.web.serving.calls import Call

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
