"""What every page shows while a platform owner acts as another user in this browser, and when that has ended."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Final
from uuid import UUID

from core.lazy_dataclasses import dataclass
from entrypoints.web.serving.admission.browsers import masked
from entrypoints.web.serving.admission.impersonating import STOP
from entrypoints.web.serving.calls import Call

_SECONDS: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Acting:
    """As which user the browser acts, until when, and what the form that stops it carries: the own session's token."""

    email: str
    user_id: UUID
    until: datetime
    seconds_left: int
    form_token: str
    action: str = STOP

    @property
    def minutes_left(self) -> int:
        """The minutes until then, a begun one included."""
        return math.ceil(self.seconds_left / _SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Acted:
    """The note that the browser no longer acts as another user, with the form by which its person continues."""

    form_token: str
    action: str = STOP


def present_acting(call: Call) -> Acting | None:
    """Return as which user the browser of a request acts; None when it acts as no other user."""
    own, acting = call.acts_for, call.browser
    if own is None or acting is None or acting.impersonated_until is None:
        return None
    until = acting.impersonated_until
    left = (until - call.installation.clock()).total_seconds()
    return Acting(
        email=acting.email,
        user_id=acting.user_id,
        until=until,
        seconds_left=max(int(left), 0),
        form_token=masked(own.form_token),
    )


def past_acting(call: Call) -> Acted | None:
    """Return the note and form for a browser that acted as another user until now; None when it did not."""
    if not call.has_acted or call.browser is None:
        return None
    return Acted(form_token=masked(call.browser.form_token))
