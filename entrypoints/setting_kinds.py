"""The parts that settings are made of: the readers of values, and the declaration of a setting."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from core.secrets import Secret

if TYPE_CHECKING:
    from collections.abc import Callable

PREFIX: Final = "GATEHOUSE_"
DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_HOST: Final = re.compile(r"[a-z0-9._-]+|[0-9a-f:.]*:[0-9a-f:.]*")
_PATH: Final = re.compile(r"[A-Za-z0-9/._~-]*")
_TOKEN: Final = re.compile(r"[\x21-\x7e]{8,500}")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of value: how it is parsed, a description of the values it takes, and how it is shown."""

    read: Callable[[str], Any]
    takes: str
    show: Callable[[Any], str] = str


def web_address(text: str) -> str:
    """Normalize an address as browsers do, so that two can be compared: in lower case, without the default port."""
    parts = urlsplit(text)
    host, port = parts.hostname or "", parts.port
    if parts.scheme not in DEFAULT_PORTS or not _HOST.fullmatch(host) or "@" in parts.netloc:
        raise ValueError
    if not _PATH.fullmatch(parts.path) or "?" in text or "#" in text:
        raise ValueError
    shown_host = f"[{host}]" if ":" in host else host
    shown_port = "" if port in {None, DEFAULT_PORTS[parts.scheme]} else f":{port}"
    return f"{parts.scheme}://{shown_host}{shown_port}{parts.path.rstrip('/')}"


def token(text: str) -> Secret:
    if not _TOKEN.fullmatch(text):
        raise ValueError
    return Secret(text)


WEB_ADDRESS: Final = Kind(web_address, "an address such as https://id.example.com, without query or fragment")


def described(name: str, sentence: str, kind: Kind) -> dict[str, Any]:
    """Return the metadata of a field that is a setting."""
    return {"name": PREFIX + name, "sentence": sentence, "kind": kind}
