"""The input of pages: the links in mails, and the forms that people submit.

A form is a `ProtectedForm` (`entrypoints/web/serving/admission/browsers.py`); a field of `bytes` is a file, a field
into which a secret is typed a `Secret`. Its template renders `{{ ui.protection(form_token) }}` in each form, and its
handler answers with `form_page`. A handler that changes something that matters begins with `await recent(call)`, and
the page where the form is filled in with `await recent_for_form(call)`. A form names what its page has shown
(`seen_role`), so that its use case refuses when that is no longer so.
"""

import codecs
from datetime import datetime
from typing import Annotated, TypeVar
from uuid import UUID

import msgspec

from core.errors import BadRequest
from core.positions import BEGIN
from core.secrets import Secret
from entrypoints.web.input.decoding import Query
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.admission.browsers import ProtectedForm

Form = TypeVar("Form", bound=msgspec.Struct)


class MailedLink(SecretBody, Query, kw_only=True):
    """The query of a link in a mail."""

    token: Annotated[str, msgspec.Meta(description="The token of the link.", examples=["$LINK_TOKEN"])]


class DoneQuery(Query, kw_only=True):
    """The query of a page after a form of it succeeded."""

    done: Annotated[str, msgspec.Meta(description="What was just done, as a word.")] = ""


class LinkForm(SecretBody, kw_only=True):
    """The form of a page that a mailed link opens."""

    token: str = ""


class SeenAtForm(ProtectedForm, kw_only=True):
    """When what the page has shown was changed last."""

    seen_at: str = ""


class SeenStateForm(ProtectedForm, kw_only=True):
    """The state that the page has shown."""

    seen_state: str = ""


def filled(form: type[Form], query: Query) -> Form:
    """Return a form with what a query of its page says of the same fields."""
    return form(**{name: getattr(query, name) for name in form.__struct_fields__ if name in query.__struct_fields__})


def no_secret() -> Secret:
    """Return the value of a field for a secret into which nothing is typed: `field(default_factory=no_secret)`."""
    return Secret("")


def typed_secret(typed: Secret) -> Secret | None:
    """Return a secret that was typed, without the blanks around it that come with copying; None for nothing."""
    text = typed.reveal().strip()
    return Secret(text) if text else None


def moment_seen(text: str) -> datetime | None:
    """Return when what a form has shown was changed last, as `isoformat` writes it; None when the form says nothing.

    A damaged time is one that nothing has, so that the form is refused as one on another state.
    """
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return BEGIN.at
    return moment if moment.tzinfo is not None and moment >= BEGIN.at else BEGIN.at


def challenge_id_of(text: str) -> UUID:
    """Return the challenge that a browser has answered, which the script of the page names."""
    try:
        return UUID(text)
    except ValueError:
        raise BadRequest.of_field("challenge_id", "This must be an id.") from None


def text_of_file(data: bytes) -> str:
    """Return the text of a file, which may begin with a byte order mark; damaged characters are replaced."""
    encoding = "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    return data.decode(encoding, "replace")
