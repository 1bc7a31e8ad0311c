"""User-Agent headers: the type of device, the browser, the operating system, and a name made of them.

A few patterns instead of a library: a list of devices needs the dozen names that its owner would use, not the thousands
that exist, and a header that cannot be trusted deserves no more.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from typing import Final

from core.lazy_dataclasses import dataclass
from core.wording import Wording

UNKNOWN: Final = "Unknown device"
# How many of the latest headers are remembered; a browser sends its header with each sign-in.
REMEMBERED_MAX: Final = 256


class DeviceType(StrEnum):
    """A kind of device."""

    BROWSER = "browser"
    MOBILE = "mobile"
    DESKTOP = "desktop"
    CLI = "cli"


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What a User-Agent header claims about a device."""

    device_type: DeviceType
    browser: str | None
    browser_version: str | None
    os: str | None
    os_version: str | None

    @property
    def name(self) -> str:
        """A name for the list of devices, until its owner renames it."""
        if self.browser and self.os:
            return Wording("%(browser)s on %(system)s", browser=self.browser, system=self.os)
        return self.browser or self.os or Wording(UNKNOWN)


# The order matters: most of them also contain the names of those further down.
_ELECTRON: Final = "Electron"
_BROWSERS: Final = (
    (_ELECTRON, re.compile(r"\bElectron/([\d.]+)")),
    ("Edge", re.compile(r"\bEdg(?:e|A|iOS)?/([\d.]+)")),
    ("Opera", re.compile(r"\b(?:OPR|OPT)/([\d.]+)")),
    ("Samsung Internet", re.compile(r"\bSamsungBrowser/([\d.]+)")),
    ("Firefox", re.compile(r"\b(?:Firefox|FxiOS)/([\d.]+)")),
    ("Chrome", re.compile(r"\b(?:HeadlessChrome|Chrome|CriOS)/([\d.]+)")),
    ("Safari", re.compile(r"\bVersion/([\d.]+).*\bSafari/")),
)
_TOOLS: Final = re.compile(
    r"^(curl|wget|httpie|python-httpx|python-requests|python-urllib|go-http-client|okhttp|postmanruntime)/([\d.]+)",
    re.I,
)
_SYSTEMS: Final = (
    ("iOS", re.compile(r"\b(?:iPhone|iPad|iPod).*?\bi?OS (\d+(?:[._]\d+)*)")),
    ("Android", re.compile(r"\bAndroid(?: (\d+(?:\.\d+)*))?")),
    ("Windows", re.compile(r"\bWindows NT ([\d.]+)")),
    ("macOS", re.compile(r"\bMac OS X (\d+(?:[._]\d+)*)")),
    ("ChromeOS", re.compile(r"\bCrOS \S+ ([\d.]+)")),
    ("Linux", re.compile(r"\bLinux\b()")),
)
_MOBILE_SYSTEMS: Final = frozenset({"iOS", "Android"})


@lru_cache(REMEMBERED_MAX)
def describe(user_agent: str | None) -> Description:
    """Return a description for any User-Agent header, or none."""
    text = user_agent or ""
    tool = _TOOLS.match(text)
    system, system_version = _first_match(_SYSTEMS, text)
    browser, browser_version = (tool[1], tool[2]) if tool else _first_match(_BROWSERS, text)
    return Description(
        device_type=DeviceType.CLI if tool else _kind(browser, system),
        browser=browser,
        browser_version=browser_version,
        os=system,
        os_version=system_version.replace("_", ".") if system_version else None,
    )


def described_by(name: str) -> tuple[str, str] | None:
    """Return the browser and the operating system in a name that `describe` has made of both; None for another name."""
    browser, _, system = name.partition(" on ")
    is_browser = any(browser == known for known, _ in _BROWSERS) or _TOOLS.match(f"{browser}/1") is not None
    return (browser, system) if is_browser and any(system == known for known, _ in _SYSTEMS) else None


def _kind(browser: str | None, system: str | None) -> DeviceType:
    if system in _MOBILE_SYSTEMS:
        return DeviceType.MOBILE
    if browser is not None and browser != _ELECTRON:
        return DeviceType.BROWSER
    # A native application names its system; a client that names nothing is a script.
    return DeviceType.DESKTOP if browser is not None or system is not None else DeviceType.CLI


def _first_match(patterns: tuple[tuple[str, re.Pattern[str]], ...], text: str) -> tuple[str | None, str | None]:
    for name, pattern in patterns:
        match = pattern.search(text)
        if match is not None:
            return name, match[1] or None
    return None, None
