"""The kinds of values that settings take: how they are read, described and shown."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from dataclasses import Field, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

from core.colors import TEXT_CONTRAST_MIN
from core.email_addresses import normalize_email
from core.lazy_dataclasses import dataclass
from core.limits import PASSWORD_CHARACTERS_MAX, PASSWORD_CHARACTERS_MIN
from core.platform.retention import FOR_EVER
from core.platform_brand import NAME_CHARACTERS_MAX, checked_platform_color, checked_platform_name
from core.secrets import Secret

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

PREFIX: Final = "GATEHOUSE_"
DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_HOST: Final = re.compile(r"[a-z0-9._-]+|[0-9a-f:.]*:[0-9a-f:.]*")
_PATH: Final = re.compile(r"[A-Za-z0-9/._~-]*")
_PORT_MAX: Final = 65535
# One server or several, as PostgreSQL takes them.
_SERVERS: Final = re.compile(r"([A-Za-z0-9._%-]*|\[[0-9a-fA-F:.]+\])(:[0-9]{1,5})?(,[A-Za-z0-9._-]+(:[0-9]{1,5})?)*")
_SHOWN_OPTIONS: Final = ("host", "hostaddr", "port", "dbname", "user", "sslmode", "target_session_attrs", "from")
MASK: Final = "***"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of value: how it is parsed, a description of the values it takes, and how it is shown."""

    read: Callable[[str], Any]
    takes: str
    show: Callable[[Any], str] = str
    show_secret: Callable[[Secret], str] = repr
    """How a value that is a `Secret` is shown: masked."""


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


def show_address(secret: Secret) -> str:
    """Show an address without its password: the server, the user, and options that are no secret.

    An address that could be read in two ways is masked as a whole, because a part of its password might be shown.
    """
    try:
        parts = urlsplit(secret.reveal())
    except ValueError:
        return repr(secret)
    login, is_logged_in, server = parts.netloc.rpartition("@")
    user, has_password, _ = login.partition(":")
    options = [option.partition("=") for option in parts.query.split("&") if option]
    has_odd_option = any(
        not separator
        or ("@" in value and (name != "from" or not is_logged_in))
        or (name == "dbname" and "%3d" in value.lower())
        for name, separator, value in options
    )
    if not _SERVERS.fullmatch(server) or "@" in parts.path or parts.fragment or has_odd_option:
        return repr(secret)
    shown = [f"{name}={value if name in _SHOWN_OPTIONS else MASK}" for name, _, value in options]
    return (
        f"{parts.scheme}://{user}{f':{MASK}' if has_password else ''}{is_logged_in}{server}{parts.path}"
        f"{'?' if shown else ''}{'&'.join(shown)}"
    )


def matching(pattern: str, made: Callable[[str], Any] = str) -> Callable[[str], Any]:
    """Return what reads a text that fits a pattern."""

    def read(text: str) -> Any:
        if not re.fullmatch(pattern, text):
            raise ValueError
        return made(text)

    return read


token: Final = matching(r"[\x21-\x7e]{8,500}", Secret)
# A mailto: or an https: address, printable and without spaces, so that it is one value of one line (RFC 9116 2.3).
security_contact: Final = matching(r"mailto:[\x21-\x3f\x41-\x7e]+@[\x21-\x3f\x41-\x7e]+|https://[a-z0-9][\x21-\x7e]*")
WEB_ADDRESS: Final = Kind(web_address, "an address such as https://id.example.com, without query or fragment")


@dataclass(frozen=True, slots=True)
class Bind:
    """An address to listen on."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def breached_passwords(text: str) -> Path | str:
    """Return the address of a server, or else the path of a file."""
    return web_address(text) if re.match("https?:", text) else Path(text)


def switch(text: str) -> bool:
    return {"on": True, "true": True, "yes": True, "1": True, "off": False, "false": False, "no": False, "0": False}[
        text.lower()
    ]


def bind(text: str) -> Bind:
    match = re.fullmatch(r"(?:\[([0-9a-fA-F:.]+)\]|([^\[\]:\s]+)):([0-9]{1,5})", text)
    if match is None or int(match[3]) > _PORT_MAX:
        raise ValueError
    return Bind(match[1] or match[2], int(match[3]))


def name_server(text: str) -> Bind:
    server = bind(text)
    return Bind(str(ipaddress.ip_address(server.host)), server.port)


def origin(text: str) -> str:
    address = web_address(text)
    if urlsplit(address).path:
        raise ValueError
    return address


def show_addresses(secret: Secret) -> str:
    """Show addresses that spaces separate, each as `show_address` does."""
    return " ".join(show_address(Secret(one)) for one in secret.reveal().split())


def database_address(text: str) -> Secret:
    if urlsplit(text).scheme not in {"postgresql", "postgres"}:
        raise ValueError
    return Secret(text)


def database_addresses(text: str) -> Secret:
    addresses = [database_address(one).reveal() for one in text.split()]
    return Secret(" ".join(addresses))


def password(text: str) -> Secret:
    if not PASSWORD_CHARACTERS_MIN <= len(text) <= PASSWORD_CHARACTERS_MAX:
        raise ValueError
    return Secret(text)


def email(text: str) -> str:
    if not text.rpartition("@")[2].isascii():
        # Checked before anything is started (`equipment.py`), because only an adapter knows these domains.
        return text
    return normalize_email(text, str)


def number(minimum: int, maximum: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not re.fullmatch("[0-9]{1,9}", text) or not minimum <= int(text) <= maximum:
            raise ValueError
        return int(text)

    return read


def one_of(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text.lower() not in words:
            raise ValueError
        return text.lower()

    return read


def domain(text: str) -> str:
    return matching(r"[a-z0-9-]+(\.[a-z0-9-]+)*")(text.lower())


def list_of(read: Callable[[str], Any]) -> Callable[[str], tuple[Any, ...]]:
    return lambda text: tuple(read(item.strip()) for item in text.split(",") if item.strip())


def show_list(items: tuple[Any, ...]) -> str:
    return ",".join(str(item) for item in items)


def show_seconds(duration: timedelta) -> str:
    return f"{duration.total_seconds():.0f}"


def show_days(duration: timedelta) -> str:
    return f"{duration.days}" if duration < FOR_EVER else "for ever"


def whole_number(minimum: int, maximum: int) -> Kind:
    """Return the kind of whole numbers within these bounds."""
    return Kind(number(minimum, maximum), f"a whole number from {minimum} to {maximum}")


FOLDER: Final = Kind(Path, "a folder")
DATABASE_ADDRESS: Final = Kind(
    database_address, "an address such as postgresql://user:password@host/database", show_secret=show_address
)
SWITCH: Final = Kind(switch, "on or off", lambda value: "on" if value else "off")
NAME: Final = Kind(
    checked_platform_name,
    f"a name of at most {NAME_CHARACTERS_MAX} characters, without angle brackets, quotation marks and colons",
)
COLOR: Final = Kind(
    checked_platform_color,
    f"a colour such as #14544a, dark enough to be read on white (a contrast of {TEXT_CONTRAST_MIN} at least)",
)
ORIGINS: Final = Kind(
    list_of(origin), "a comma-separated list of origins such as https://app.example.com, without a path", show_list
)
NETWORKS: Final = Kind(
    list_of(ipaddress.ip_network), "a comma-separated list of networks such as 10.0.0.0/8", show_list
)


def setting(sentence: str, kind: Kind, default: Any, **more: Any) -> Any:
    """Return a field that is a setting, with a sentence for operators; `variable_of` names its variable."""
    return field(default=default, metadata={"sentence": sentence, "kind": kind, **more})


def variable_of(attribute: Field[Any]) -> str:
    """Return the environment variable of a setting: the name of its field, and the unit where that is named."""
    return PREFIX + attribute.name.upper() + attribute.metadata.get("unit", "")
