"""What is a path of Gatehouse to return to, and what is not."""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.sign_in.browser_returns import (
    PATH_CHARACTERS_MAX,
    TARGET_CHARACTERS_MAX,
    BrowserReturn,
    safe_path,
    safe_target,
)

BASE = "https://id.example.com/app/sign-in"
pieces = st.sampled_from(
    [
        *("/", "\\", "%2f", "%5c", "%255c", "..", ".", "%2e", "@", ":", "a", "evil.example"),
        *("?", "#", "\t", " ", "%00", "%0d%0a", ";", "é"),
    ]
)


@given(st.lists(pieces, max_size=8).map("".join))
def test_whatever_is_accepted_stays_on_this_host(text: str) -> None:
    for check in (safe_path, safe_target):
        accepted = check(text)
        if accepted is not None:
            assert accepted == text
            assert urlsplit(urljoin(BASE, accepted)).netloc == "id.example.com"
            assert accepted.startswith("/")
            assert not accepted.startswith("//")
            assert "\\" not in accepted.partition("?")[0]


@pytest.mark.parametrize("text", ["/", "/app", "/app/", "/app/a-b/c_d.e~f", "/app/%C3%A9"])
def test_paths_are_accepted(text: str) -> None:
    assert safe_path(text) == text


@pytest.mark.parametrize(
    "text",
    ["", "app", "//a", "/\\a", "/a//b", "/../a", "/%2e%2e/a", "/%2f", "/%252f", "/a%0d", "/a b", "/a?b", "/a#b", "/é"],
)
def test_everything_else_is_refused(text: str) -> None:
    assert safe_path(text) is None


def test_a_target_may_have_a_query_of_printed_characters() -> None:
    assert safe_target("/app?a=//evil.example&b=%0d") == "/app?a=//evil.example&b=%0d"
    assert safe_target("/app?a=\r\n") is None
    assert safe_target("//evil.example?a=b") is None


def test_both_have_a_maximum() -> None:
    assert safe_path("/" + "a" * (PATH_CHARACTERS_MAX - 1)) is not None
    assert safe_path("/" + "a" * PATH_CHARACTERS_MAX) is None
    assert safe_target("/?" + "a" * (TARGET_CHARACTERS_MAX - 2)) is not None
    assert safe_target("/?" + "a" * (TARGET_CHARACTERS_MAX - 1)) is None


def test_a_step_before_the_request_says_which_request_it_answers() -> None:
    target = "/auth/authorize/resume?request_id=1"

    assert BrowserReturn(target=target).answering == target
    assert BrowserReturn(target="/app/second-factor/set-up", request_target=target).answering == target


def test_a_page_of_an_organization_says_to_which_one_a_sign_in_leads() -> None:
    for path in ("/app/organizations/acme", "/app/organizations/acme/people?page=2", "/app/invitations/joined/acme"):
        assert BrowserReturn(target=path).leads_to_organization == "acme"
    assert BrowserReturn(target="/app/organizations/acme", organization_slug="globex").leads_to_organization == "globex"
    for path in ("/app/organizations", "/app/organizations/", "/app/account", "/x/app/organizations/acme"):
        assert BrowserReturn(target=path).leads_to_organization is None
