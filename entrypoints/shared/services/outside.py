"""The hosts and networks of the installation, for the checks of the addresses that services register."""

from __future__ import annotations

from urllib.parse import urlsplit

from core.services.client_records import Outside
from entrypoints.web.serving.calls import Call


def outside(call: Call) -> Outside:
    """Return the installation's own hosts, and the networks that addresses of services may be in."""
    settings = call.installation.settings
    hosts = {urlsplit(url).hostname for url in (settings.base_url, settings.frontend_url) if url is not None}
    return Outside(
        allowed_networks=settings.outbound_allowed,
        own_hosts=frozenset(filter(None, hosts)),
    )
