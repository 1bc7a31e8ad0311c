"""What is kept of a refused request: enough to find the mistake, and no secret, code, token or person."""

import pytest

from core.services.problems import shown_address, shown_words

TOKEN = "x" * 40
LABEL = "a" * 63
# As long as a name of DNS may be.
HOST = ".".join([LABEL, LABEL, LABEL, "a" * 61])


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("openid profile offline_access", "openid profile offline_access"),
        ("id_token token", "id_token token"),
        ("openid ada@example.com", "openid …"),
        (f"openid {'x' * 65}", "openid …"),
        (f"openid {TOKEN}", "openid …"),
        ("openid https://api.example.com/documents/read.all", "openid https://api.example.com/documents/read.all"),
        ("ada\N{FULLWIDTH COMMERCIAL AT}example.com", "…"),
        ("ada%2540example.com", "…"),
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
        ("https://a.example/x#", "https://a.example/x#"),
        ("https://ada:hunter@a.example/x", "https://…@a.example/x"),
        ("https://a.example/ada@example.com/x", "https://a.example/…/x"),
        ("https://a.example/ada%40example.com", "https://a.example/…"),
        (f"https://a.example/{TOKEN}/x", "https://a.example/…/x"),
        (f"https://{LABEL}.example/x", f"https://{LABEL}.example/x"),
        (f"https://a{LABEL}.example/x", "https://…/x"),
        (f"https://{HOST}/x", f"https://{HOST}/x"),
        (f"https://{HOST}a/x", "https://…/x"),
        ("mailto:ada@example.com", "…"),
        ("https://[::1/callback", "https://[::1/callback"),
        ("https://[::1/callback?code=c", "https://[::1/callback?code=…"),
        ("https://a.example:port/x?code=c", "https://a.example:port/x?code=…"),
        ("https://a.example/a b\n", "https://a.example/a b…"),
        (f"https://a.example/?{'x' * 2000}", "https://a.example/…"),
        ("https://ada:hunter@a.example:port/x", "https://…@a.example:port/x"),
        ("https://ada:hunter@[::1/x", "https://…@[::1/x"),
        ("https://ada:hunter%40a.example/x", "https://…/x"),
        (f"https://ada:{'x' * 2000}@a.example/x", "https://…@a.example/x…"),
        (f"https://{TOKEN * 2}.example/x", "https://…/x"),
        (f"https://a.{'a.' * 200}example/x", "https://…/x"),
        ("https://a.example/ada%2540example.com", "https://a.example/…"),
        ("https://a.example/ada\N{FULLWIDTH COMMERCIAL AT}example.com", "https://a.example/…"),
        ("https://a.example/x%3Fcode%3Dc", "https://a.example/x…"),
        ("https://a.example/x&code=c", "https://a.example/x…"),
        ("https://a.example/x;jsessionid=c/y", "https://a.example/x…/y"),
        ("ada@example.com://a.example/x", "…//a.example/x"),
        ("ada:hunter@a.example/x", "…/x"),
        ("//ada:hunter@a.example/x", "//…@a.example/x"),
        ("https%3A%2F%2Fa.example%2Fx", "https%3A%2F%2Fa.example%2Fx"),
    ],
)
def test_of_an_address_are_left_out_the_parts_that_could_say_more(sent: str, shown: str) -> None:
    assert shown_address(sent) == shown
