"""What is kept of a refused request: enough to find the mistake, and no secret, code, token or person."""

import pytest

from core.services.shown_requests import shown_address, shown_words

TOKEN = "x" * 40


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("openid profile offline_access", "openid profile offline_access"),
        ("id_token token", "id_token token"),
        ("openid ada@example.com", "openid …"),
        (f"openid {'x' * 65}", "openid …"),
        ("a\x00b\n", "a…b…"),
        ("ab " * 100, "ab " * 67 + "…"),
    ],
)
def test_words_are_kept_that_are_none_of_a_person_and_no_secret(sent: str, shown: str) -> None:
    assert shown_words(sent) == shown


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("https://app.example.com:8443/call-back/", "https://app.example.com:8443/call-back/"),
        ("com.example.app:/callback", "com.example.app:/callback"),
        ("http://localhost:3000", "http://localhost:3000"),
        ("https://[::1]:3000/cb", "https://[::1]:3000/cb"),
        ("/callback", "/callback"),
        ("", ""),
        (
            "https://wiki.example/index.php?title=Special:PluggableAuthLogin",
            "https://wiki.example/index.php?title=Special:PluggableAuthLogin",
        ),
        ("https://a.example/x?action=open-id-authorize&", "https://a.example/x?action=open-id-authorize&"),
        ("https://a.example/x?openid-connect", "https://a.example/x?openid-connect"),
        ("https://a.example/x?ada@example.com", "https://a.example/x?…"),
        ("https://a.example/x?number=7&user=ada", "https://a.example/x?number=…&user=…"),
        ("https://a.example/x?provider=acme&id=ada", "https://a.example/x?provider=acme&id=…"),
        ("https://a.example/x?ada%40example.com=yes", "https://a.example/x?…"),
        ("https://a.example/x#access_token=t", "https://a.example/x#…"),
        ("https://ada:hunter@a.example/x", "https://…@a.example/x"),
        ("https://a.example/ada@example.com/x", "https://a.example/…/x"),
        ("https://a.example/ada%40example.com", "https://a.example/…"),
        (f"https://a.example/{TOKEN}/x", "https://a.example/…/x"),
        ("mailto:ada@example.com", "…"),
        ("https://[::1/callback", "https://[::1/callback"),
        ("https://[::1/callback?code=c", "https://[::1/callback…"),
        ("https://a.example:port/x?code=c", "https://a.example:port/x…"),
        ("https://a.example/a b\n", "https://a.example/a b…"),
        (f"https://a.example/?{'x' * 2000}", "https://a.example/…"),
    ],
)
def test_of_an_address_are_left_out_the_parts_that_could_say_more(sent: str, shown: str) -> None:
    assert shown_address(sent) == shown
