"""The origin of a request: where it came from and under which host. Its caller is in `callers.py`."""

from __future__ import annotations

from uuid import UUID

from core.lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomHost:
    """A verified domain of an organization, under which a request came."""

    domain_id: UUID
    name: str
    organization_id: UUID
    organization_slug: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The origin of a request, as the audit log and the login events record it; empty for background work.

    `custom_host` is None for requests under the base URL, and `proof_algorithm` without a DPoP proof beside the access
    token. `language` is the tag of the language in which the person behind the request reads, as far as it is known.
    """

    request_id: str | None = None
    ip_address: str | None = None
    user_agent: str | None = None
    custom_host: CustomHost | None = None
    proof_algorithm: str | None = None
    language: str | None = None

    @property
    def domain_id(self) -> UUID | None:
        """The custom domain to which what begins with this request belongs; None for the base URL."""
        return self.custom_host.domain_id if self.custom_host is not None else None

    @property
    def host_name(self) -> str | None:
        """The name of the custom host; None for the base URL."""
        return self.custom_host.name if self.custom_host is not None else None


BACKGROUND = Origin()
