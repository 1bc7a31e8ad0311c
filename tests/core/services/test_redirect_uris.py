"""Which redirect URIs a service may register."""

import pytest

from core.errors import BadRequest
from core.services import redirect_uris
from core.services.redirect_uris import URI_CHARACTERS_MAX, URIS_MAX

WEB = [
    "https://app.example.com",
    "https://app.example.com/callback?next=%2F",
    "https://app.example.com:8443/a/b",
    "HTTPS://app.example.com/callback",
    "http://localhost/callback",
    "http://shop.localhost:8080/callback",
    "http://LOCALHOST:3000",
    "http://127.0.0.1:49152/callback",
    "http://127.8.8.8/",
    "http://[::1]:3000/callback",
]
OWN_SCHEME = ["com.example.app:/callback", "myapp://callback", "x-app:callback?state=1"]


@pytest.mark.parametrize("uri", WEB)
@pytest.mark.parametrize("is_native", [True, False])
def test_web_addresses_are_valid_for_every_service(uri: str, is_native: bool) -> None:
    redirect_uris.require_valid([uri], is_native=is_native)


@pytest.mark.parametrize("uri", OWN_SCHEME)
def test_a_scheme_of_its_own_is_for_installed_applications(uri: str) -> None:
    redirect_uris.require_valid([uri], is_native=True)

    with pytest.raises(BadRequest, match="mobile and desktop"):
        redirect_uris.require_valid([uri], is_native=False)


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "/callback",
        "callback",
        "app.example.com/callback",
        "//app.example.com/callback",
        "https:/callback",
        "https:app.example.com",
        "https:///callback",
        "https://app.example.com/#",
        "https://app.example.com/#token",
        "com.example.app:/callback#token",
        "https://user@app.example.com/",
        "https://user:password@app.example.com/",
        "https://:@app.example.com/",
        "https://app.example.com:99999/",
        "https://app.example.com:port/",
        "https://[::1/",
        "https://[bad]/",
        "http://app.example.com/callback",
        "http://localhost.example.com/",
        "http://127.0.0.1.nip.io/",
        "http://10.0.0.1/",
        "http://[2001:db8::1]/",
        "https://app.example.com\\@evil.example/",
        "https://app.example.com/a b",
        " https://app.example.com/",
        "https://app.example.com/\n",
        "https://bücher.example/",
        'https://app.example.com/"onload=1',
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "data:text/html,hello",
        "vbscript:msgbox",
        "file:///etc/passwd",
        "blob:https://app.example.com/1",
        "about:blank",
        "myapp:",
        "myapp:?state=1",
        "x" * (URI_CHARACTERS_MAX + 1),
        f"https://app.example.com/{'x' * URI_CHARACTERS_MAX}",
    ],
)
def test_other_addresses_are_refused(uri: str) -> None:
    with pytest.raises(BadRequest) as refused:
        redirect_uris.require_valid([uri], is_native=True)

    assert refused.value.details[0].field == "redirect_uris"


def test_there_is_a_maximum_number() -> None:
    uris = [f"https://app.example.com/{number}" for number in range(URIS_MAX)]
    redirect_uris.require_valid(uris, is_native=False)

    with pytest.raises(BadRequest, match="At most"):
        redirect_uris.require_valid([*uris, "https://app.example.com/one-more"], is_native=False)


def test_a_page_is_a_web_address() -> None:
    redirect_uris.require_web_uri("https://app.example.com/activate", "page")

    for uri in OWN_SCHEME:
        with pytest.raises(BadRequest, match="page"):
            redirect_uris.require_web_uri(uri, "page")
