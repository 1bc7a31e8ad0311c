"""The sessions that service providers know: children of a user's session, each with the name in its assertion."""

from __future__ import annotations

from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.saml.messages import NameId


@dataclass(frozen=True, slots=True, kw_only=True)
class SamlSession:
    """A session as the service provider `audience` knows it; its id is the SessionIndex of the assertion."""

    session_id: UUID
    organization_id: UUID
    service_id: UUID
    audience: str
    name_id: NameId

    @property
    def index(self) -> str:
        """The SessionIndex."""
        return str(self.session_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """The state of a session that a service provider knows; `parent_id` is the session that it began from."""

    session_id: UUID
    parent_id: UUID | None
    user_id: UUID
    email: str
    is_live: bool
