"""What the installation says about the addresses that services name."""

from __future__ import annotations

from urllib.parse import urlsplit

from core.services.client_records import Outside
from entrypoints.web.serving.calls import Call


def outside(call: Call) -> Outside:
    """Return what the installation says about the addresses of services."""
    settings = call.installation.settings
    hosts = {urlsplit(url).hostname for url in (settings.base_url, settings.frontend_url) if url is not None}
    return Outside(
        allowed_networks=settings.outbound_allowed,
        own_hosts=frozenset(filter(None, hosts)),
    )
