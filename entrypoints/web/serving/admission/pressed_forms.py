"""A form that was sent too long after its user signed in: kept until they have signed in again, and sent then.

It is kept as what a page shows once, so it is sealed, belongs to the browser session, and ends with it and after ten
minutes. Its id is carried in the query of the page to which the sign-in leads, and taken from it there. A form with a
secret that was typed, or with a file, is not kept: its page asks for that again.
"""

from __future__ import annotations

from typing import Any, Final, cast
from urllib.parse import parse_qs, quote, urlencode
from uuid import UUID

import msgspec

from core.secrets import Secret
from core.sessions import shown_secrets
from core.sessions.shown_secrets import Holder, ToShow
from core.sign_in.browser_returns import safe_path, safe_target
from entrypoints.web.serving.calls import Call

PAGE: Final = "/app/sign-in-again/form"
CHARACTERS_MAX: Final = 16_000
_PARAMETER: Final = "pressed_form"
_TOKEN: Final = "form_token"  # noqa: S105 - the name of a field


class PressedForm(msgspec.Struct, frozen=True, kw_only=True):
    """A form to send again: where to, and its fields, without the token of the browser."""

    action: str
    fields: list[tuple[str, str]]


async def keep(call: Call, page: str) -> str | None:
    """Keep the form of a request; return the page with the id of the form. None for a request without one to keep."""
    form = _pressed(call)
    if form is None:
        return None
    text = Secret(msgspec.json.encode(form).decode())
    if len(text.reveal()) > CHARACTERS_MAX:
        return None
    _, form_id = await call.transact(
        shown_secrets.keep, _holder(call), lambda _: None, lambda _: ToShow(page=PAGE, secrets=(text,))
    )
    return f"{page}{'&' if '?' in page else '?'}{urlencode({_PARAMETER: str(form_id)})}"


def page_of(target: str) -> str:
    """Return the path of the page whose form is sent after a sign-in that leads there; empty where none is."""
    page, form_id = _parted(target)
    return page.partition("?")[0] if form_id else ""


def address_of(target: str) -> str:
    """Return where a browser goes after a sign-in that leads to this path: where a form is kept, the page with it."""
    page, form_id = _parted(target)
    return f"{PAGE}/{quote(form_id, safe='')}?{urlencode({'page': page})}" if form_id else page


async def take(call: Call, form_id: UUID) -> PressedForm | None:
    """Return a form for the only time; None where it was taken, has expired, or is of another session."""
    found = await call.step(shown_secrets.show, _holder(call), form_id, page=PAGE)
    return msgspec.json.decode(found[0].reveal(), type=PressedForm) if found else None


def _parted(target: str) -> tuple[str, str]:
    """Return a page without the id of a form in its query, and the id; empty without one."""
    before, _, last = target.rpartition(f"{_PARAMETER}=")
    if before[-1:] not in {"?", "&"}:
        return target, ""
    return before[:-1], parse_qs(f"id={last}").get("id", [""])[0]


def _pressed(call: Call) -> PressedForm | None:
    path = safe_path(call.request.path)
    if call.form is None or path is None:
        return None
    query = call.request.query_string.decode("ascii", "replace")
    fields: list[tuple[str, str]] = []
    for name, value in msgspec.structs.asdict(call.form).items():
        match value:
            case Secret() | bytes():
                if value.reveal() if isinstance(value, Secret) else value:
                    return None
            case list():
                fields += [(name, str(one)) for one in cast("list[Any]", value)]
            case None:
                pass
            case _:
                # Also an empty text: what was cleared stays so, and lists that belong together keep their order.
                fields.append((name, str(value)))
    action = f"{path}?{query}" if query else path
    kept = [(name, value) for name, value in fields if name != _TOKEN]
    return PressedForm(action=action, fields=kept) if safe_target(action) is not None else None


def _holder(call: Call) -> Holder:
    return Holder(session_id=call.in_browser.session_id)
