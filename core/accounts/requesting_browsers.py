"""Requesting browsers: the browser in which a mailed link was requested on a page, and where its sign-in leads.

A link that is opened in the same browser signs in at once. Any other browser has to prove more: else a link that an
attacker requested for their own account would sign its reader in there.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field
from typing import Any

from core.secrets import hash_token


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestingBrowser:
    """The browser that requests a link on a page: the value that binds its forms, and where its sign-in leads."""

    binding: str = field(repr=False)
    return_to: str
    return_id: str

    def is_bound_to(self, binding: str | None) -> bool:
        """Return whether this is the browser with that binding, of which the hash is stored."""
        return binding is not None and hmac.compare_digest(self.binding, _hash_of(binding))

    def stored(self) -> dict[str, str]:
        """Return what is stored with a link, which `recall` reads."""
        return {"browser": _hash_of(self.binding), "return_to": self.return_to, "return_id": self.return_id}


def recall(data: dict[str, Any]) -> RequestingBrowser | None:
    """Return the browser that is stored with a link, with the hash of its binding; None without one."""
    if "browser" not in data:
        return None
    return RequestingBrowser(binding=data["browser"], return_to=data["return_to"], return_id=data["return_id"])


def _hash_of(binding: str) -> str:
    return hash_token(binding).hex()
