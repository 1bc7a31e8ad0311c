"""The addresses of Gatehouse under the custom domains of organizations."""

from __future__ import annotations

from urllib.parse import urlsplit


def under(host_name: str | None, url: str) -> str:
    """Return an address of Gatehouse under a custom host, with the same port; as it is for None, the base URL."""
    if host_name is None:
        return url
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port is not None else ""
    return parts._replace(netloc=f"{host_name}{port}").geturl()
