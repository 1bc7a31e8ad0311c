"""Requesting browsers: the browser in which a mailed link was requested on a page, and where its sign-in leads.

A link that is opened in the same browser goes on there: it signs in, or leads to the sign-in, on the way to the service
to which the sign-in was to lead. Any other browser has to prove more, and gets nothing of what waits in the first one:
otherwise a link that an attacker requested for their own account would sign its reader in there.
"""

from __future__ import annotations

import hmac
from dataclasses import field
from typing import Any

from core.lazy_dataclasses import dataclass
from core.secrets import hash_token

_BINDING_HASH = "browser"
_RETURN_TO, _RETURN_ID = "return_to", "return_id"
# Other names than a return target has: those say where a link of a program signs in.
_ORGANIZATION, _SERVICE = "way_org_slug", "way_service_slug"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestingBrowser:
    """The browser that requests a link on a page: the hash of what binds it, and where its sign-in leads.

    The slugs name the organization and the service to which the sign-in leads, if any; the mail names them.
    """

    binding_hash: str = field(repr=False)
    return_to: str
    return_id: str = field(repr=False)
    organization_slug: str | None = None
    service_slug: str | None = None

    def is_bound_to(self, binding: str | None) -> bool:
        """Return whether this is the browser with that binding."""
        return binding is not None and hmac.compare_digest(self.binding_hash, _hash_of(binding))

    def stored(self) -> dict[str, str]:
        """Return what is stored with a link, which `recall` reads."""
        slugs = {_ORGANIZATION: self.organization_slug, _SERVICE: self.service_slug}
        return {
            _BINDING_HASH: self.binding_hash,
            _RETURN_TO: self.return_to,
            _RETURN_ID: self.return_id,
            **{name: slug for name, slug in slugs.items() if slug is not None},
        }


def requesting(
    binding: str,
    *,
    return_to: str = "",
    return_id: str = "",
    organization_slug: str | None = None,
    service_slug: str | None = None,
) -> RequestingBrowser:
    """Return the browser with this binding; only its hash is stored."""
    return RequestingBrowser(
        binding_hash=_hash_of(binding),
        return_to=return_to,
        return_id=return_id,
        organization_slug=organization_slug,
        service_slug=service_slug,
    )


def recall_browser(data: dict[str, Any]) -> RequestingBrowser | None:
    """Return the browser that is stored with a link; None without one."""
    if _BINDING_HASH not in data:
        return None
    return RequestingBrowser(
        binding_hash=data[_BINDING_HASH],
        return_to=data[_RETURN_TO],
        return_id=data[_RETURN_ID],
        organization_slug=data.get(_ORGANIZATION),
        service_slug=data.get(_SERVICE),
    )


def _hash_of(binding: str) -> str:
    return hash_token(binding).hex()
