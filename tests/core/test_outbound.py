"""Outbound targets: no address of a private network is connected to unless the operator allows it."""

from __future__ import annotations

from ipaddress import ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import BadRequest
from core.outbound import URL_CHARACTERS_MAX, address_of, checked_url, is_allowed

PRIVATE = (
    *("0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.9.9.9", "169.254.169.254", "172.16.0.1", "192.168.1.1"),
    *("192.0.2.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"),
    *("::", "::1", "fe80::1", "fc00::1", "fec0::1", "ff02::1", "2001:db8::1", "100::1"),
    # An IPv4 address within: mapped, compatible, 6to4, Teredo, NAT64.
    *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::7f00:1", "2002:7f00:1::", "2001:0:4136:e378:8000:63bf:80ff:fffe"),
    *("64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1"),
)
PUBLIC = ("93.184.216.34", "1.1.1.1", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101", "2002:101:101::1")


@pytest.mark.parametrize("address", PRIVATE)
def test_a_private_address_is_refused(address: str) -> None:
    assert not is_allowed(ip_address(address), ())


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_allowed(address: str) -> None:
    assert is_allowed(ip_address(address), ())


@pytest.mark.parametrize("address", ["10.1.2.3", "::ffff:10.1.2.3", "fd00::1"])
def test_an_address_in_an_allowed_network_is_allowed(address: str) -> None:
    allowed = (ip_network("10.0.0.0/8"), ip_network("fd00::/8"))

    assert is_allowed(ip_address(address), allowed)
    assert not is_allowed(ip_address("192.168.0.1"), allowed)


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_is_judged_alike_in_every_ipv6_form_of_it(address: object) -> None:
    ipv4 = ip_address(str(address))
    forms = [f"::ffff:{ipv4}", str(ip_address(int(ip_address("64:ff9b::")) + int(ipv4)))]

    assert [is_allowed(ip_address(form), ()) for form in forms] == [is_allowed(ipv4, ())] * 2


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/hook?x=1",
        "http://hooks.example.com:8080/",
        "HTTPS://Example.COM",
        "https://93.184.216.34/hook",
        "https://[2606:4700::1111]:443/hook",
        "https://xn--bcher-kva.example/",
        "https://internal_name.example./",
        # A name is judged when it is resolved.
        "https://intranet/hook",
    ],
)
def test_a_url_of_a_possible_target_is_accepted_unchanged(url: str) -> None:
    assert checked_url(f"  {url} ", ()) == url


@pytest.mark.parametrize(
    "url",
    [
        *(
            "",
            "   ",
            "example.com",
            "ftp://example.com/",
            "file:///etc/passwd",
            "https://",
            "https:///path",
            "https://?x",
        ),
        *("https://user@example.com", "https://user:pass@example.com", "https://example.com/#part"),
        *("https://exam ple.com", "https://example.com/\nx", "https://example.com/a\tb", "https://exa\0mple.com"),
        *("https://example.com\\@127.0.0.1/", "https://bücher.example/", "https://-example.com", "https://a..b"),
        *(
            "https://example.com:99999/",
            "https://example.com:x/",
            "https://example.com:0/",
            "https://[::1",
            "https://[x]/",
        ),
        *("https://%31%32%37.0.0.1/", "https://exam!ple.com"),
        f"https://example.com/{'a' * URL_CHARACTERS_MAX}",
    ],
)
def test_what_is_no_url_of_a_target_is_refused(url: str) -> None:
    with pytest.raises(BadRequest) as refused:
        checked_url(url, ())

    assert [problem.field for problem in refused.value.details] == ["url"]


@pytest.mark.parametrize(
    "host",
    [
        *(
            "127.0.0.1",
            "10.0.0.1",
            "169.254.169.254",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[fe80::1%25eth0]",
        ),
        *("localhost", "LOCALHOST", "localhost.", "app.localhost"),
        # Decimal, hexadecimal, octal and short forms, which resolvers read as addresses.
        *("2130706433", "0x7f000001", "0177.0.0.1", "0x7f.1", "127.1", "127.0.0.1.", "10.1", "0", "0x"),
    ],
)
def test_a_literal_private_address_is_refused_in_every_form(host: str) -> None:
    with pytest.raises(BadRequest):
        checked_url(f"http://{host}/hook", ())


def test_a_literal_address_in_an_allowed_network_is_accepted() -> None:
    allowed = (ip_network("127.0.0.0/8"),)

    assert checked_url("http://127.0.0.1:9000/hook", allowed) == "http://127.0.0.1:9000/hook"
    assert checked_url("http://localhost:9000/hook", allowed) == "http://localhost:9000/hook"
    # Unusual forms stay refused, because each resolver reads them differently.
    with pytest.raises(BadRequest):
        checked_url("http://2130706433/hook", allowed)


@given(st.text(max_size=40))
def test_no_text_makes_the_check_fail_otherwise_than_by_a_refusal(text: str) -> None:
    for url in (text, f"http://{text}", f"https://{text}/"):
        try:
            accepted = checked_url(url, ())
        except BadRequest:
            continue
        assert accepted.isascii()


def test_a_name_is_no_address() -> None:
    assert address_of("example.com") is None
    assert address_of("::1") == ip_address("::1")
