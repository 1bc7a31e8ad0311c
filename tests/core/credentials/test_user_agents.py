"""Descriptions of devices from User-Agent headers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.credentials.user_agents import DeviceType, describe, described_by

WINDOWS = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)"
MAC = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)"
LINUX = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)"
IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"
IPAD = "Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"
ANDROID = "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko)"
CHROMEBOOK = "Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko)"

DEVICES = {
    f"{WINDOWS} Chrome/126.0.0.0 Safari/537.36": ("browser", "Chrome", "126.0.0.0", "Windows", "10.0"),
    f"{WINDOWS} Chrome/126.0.0.0 Safari/537.36 Edg/126.0.2592.81": (
        "browser",
        "Edge",
        "126.0.2592.81",
        "Windows",
        "10.0",
    ),
    f"{WINDOWS} Chrome/125.0.0.0 Safari/537.36 OPR/111.0.0.0": ("browser", "Opera", "111.0.0.0", "Windows", "10.0"),
    f"{MAC} Version/17.4.1 Safari/605.1.15": ("browser", "Safari", "17.4.1", "macOS", "10.15.7"),
    "Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0": (
        "browser",
        "Firefox",
        "127.0",
        "Linux",
        None,
    ),
    f"{LINUX} HeadlessChrome/126.0.0.0 Safari/537.36": ("browser", "Chrome", "126.0.0.0", "Linux", None),
    f"{CHROMEBOOK} Chrome/126.0.0.0 Safari/537.36": ("browser", "Chrome", "126.0.0.0", "ChromeOS", "14541.0.0"),
    f"{IPHONE} Version/17.5 Mobile/15E148 Safari/604.1": ("mobile", "Safari", "17.5", "iOS", "17.5.1"),
    f"{IPHONE} CriOS/126.0.6478.35 Mobile/15E148 Safari/604.1": ("mobile", "Chrome", "126.0.6478.35", "iOS", "17.5.1"),
    f"{IPAD} FxiOS/127.0 Mobile/15E148 Safari/605.1.15": ("mobile", "Firefox", "127.0", "iOS", "16.6"),
    f"{ANDROID} Chrome/126.0.0.0 Mobile Safari/537.36": ("mobile", "Chrome", "126.0.0.0", "Android", "14"),
    f"{ANDROID} SamsungBrowser/25.0 Chrome/121.0.0.0 Mobile Safari/537.36": (
        "mobile",
        "Samsung Internet",
        "25.0",
        "Android",
        "14",
    ),
    "Mozilla/5.0 (Android; Mobile; rv:127.0) Gecko/127.0 Firefox/127.0": (
        "mobile",
        "Firefox",
        "127.0",
        "Android",
        None,
    ),
    "Notes/3.1 (iPhone; iOS 17.5; Scale/3.00)": ("mobile", None, None, "iOS", "17.5"),
    f"{MAC} Ledger/1.4.2 Chrome/124.0.6367.243 Electron/30.1.0 Safari/537.36": (
        "desktop",
        "Electron",
        "30.1.0",
        "macOS",
        "10.15.7",
    ),
    "Ledger/1.4.2 (Windows NT 10.0)": ("desktop", None, None, "Windows", "10.0"),
    "curl/8.5.0": ("cli", "curl", "8.5.0", None, None),
    "python-requests/2.32.3": ("cli", "python-requests", "2.32.3", None, None),
    "Wget/1.21.4 (linux-gnu)": ("cli", "Wget", "1.21.4", None, None),
    "a program of ours": ("cli", None, None, None, None),
    "": ("cli", None, None, None, None),
}


@pytest.mark.parametrize(("user_agent", "described"), DEVICES.items())
def test_common_user_agents_are_described_as_their_users_would(
    user_agent: str, described: tuple[str | None, ...]
) -> None:
    seen = describe(user_agent)

    assert (seen.device_type, seen.browser, seen.browser_version, seen.os, seen.os_version) == described


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        (f"{IPHONE} Version/17.5 Mobile/15E148 Safari/604.1", "Safari on iOS"),
        ("curl/8.5.0", "curl"),
        ("Ledger/1.4.2 (Windows NT 10.0)", "Windows"),
        ("a program of ours", "Unknown device"),
        (None, "Unknown device"),
    ],
)
def test_a_device_has_a_name_before_its_owner_gives_it_one(user_agent: str | None, name: str) -> None:
    assert describe(user_agent).name == name


@pytest.mark.parametrize(
    ("name", "described"),
    [
        ("Safari on iOS", ("Safari", "iOS")),
        ("curl on Linux", ("curl", "Linux")),
        ("Samsung Internet on Android", ("Samsung Internet", "Android")),
        ("Netscape on Windows", None),
        ("Chrome on my desk", None),
        ("My telephone", None),
        ("curl", None),
    ],
)
def test_a_name_that_was_made_of_a_browser_and_a_system_tells_both(
    name: str, described: tuple[str, str] | None
) -> None:
    assert described_by(name) == described


@given(st.text(max_size=400))
def test_any_user_agent_has_a_description(user_agent: str) -> None:
    described = describe(user_agent)

    assert described.device_type in DeviceType
    assert described.name
