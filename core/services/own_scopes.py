"""The scopes of a service's own, each with a sentence for people (ops/decisions/0096).

Which of them a person may have is in `core/sessions/token_additions.py`. A scope that a role of the organization or of
the service lists is given only by roles.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from core.errors import BadRequest
from core.lazy_dataclasses import dataclass
from core.sessions.token_additions import OF_OPENID
from core.text import checked_line
from core.wording import Wording

SCOPES_MAX: Final = 50
SCOPE_CHARACTERS_MAX: Final = 255
# A sign-in of the JSON interface has all of them in its token, beside 3,072 bytes of claims, and Gatehouse itself takes
# tokens of up to 8,192 characters. One request can ask for all.
ALL_CHARACTERS_MAX: Final = 1500
SENTENCE_CHARACTERS_MAX: Final = 200

# A scope as RFC 6749, 3.3 defines it.
_SCOPE: Final = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceScope:
    """A scope of a service's own; people read its `description` before they allow it."""

    name: str
    description: str


def is_scope(name: str) -> bool:
    """Return whether a text is one scope."""
    return len(name) <= SCOPE_CHARACTERS_MAX and _SCOPE.fullmatch(name) is not None


def require_valid(scopes: Sequence[ServiceScope], machine_scopes: Sequence[str]) -> None:
    """Raise `BadRequest` for scopes that a service cannot have, and for a machine scope that is none of them."""
    if len(scopes) > SCOPES_MAX:
        raise BadRequest.of_field("scopes", Wording("At most %(maximum)s scopes.", maximum=SCOPES_MAX))
    names = {scope.name for scope in scopes}
    if len(names) < len(scopes):
        raise BadRequest.of_field("scopes", "Each scope has a name of its own.")
    for scope in scopes:
        _require_scope(scope)
    if len(" ".join(names)) > ALL_CHARACTERS_MAX:
        raise BadRequest.of_field(
            "scopes",
            Wording(
                "The names of all scopes have at most %(maximum)s characters together, with a blank between two.",
                maximum=ALL_CHARACTERS_MAX,
            ),
        )
    missing = [name for name in machine_scopes if name not in names]
    if missing:
        raise BadRequest.of_field(
            "machine_scopes", Wording("%(scope)s is none of the scopes of the service.", scope=missing[0])
        )


def _require_scope(scope: ServiceScope) -> None:
    if not is_scope(scope.name):
        raise BadRequest.of_field(
            "scopes",
            Wording(
                "A scope has 1 to %(maximum)s characters, without blanks, quotes and backslashes.",
                maximum=SCOPE_CHARACTERS_MAX,
            ),
        )
    if scope.name.lower() in OF_OPENID:
        raise BadRequest.of_field(
            "scopes", Wording("%(scope)s is a scope of OpenID Connect. Choose another name.", scope=scope.name)
        )
    if checked_line(scope.description, characters_max=SENTENCE_CHARACTERS_MAX, field="scopes") != scope.description:
        raise BadRequest.of_field("scopes", "The description of a scope neither begins nor ends with a blank.")
