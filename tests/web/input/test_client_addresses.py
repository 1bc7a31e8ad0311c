"""The client's address: the peer's, or the one that trusted proxies report, never a forged one."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrypoints.settings import Settings
from entrypoints.web.input.client_addresses import HOPS_MAX, client_address, is_trusted_peer
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes
from tests.web.probe import ask, serving

NETWORKS = tuple(map(ipaddress.ip_network, ["10.0.0.0/8", "192.0.2.1/32", "fd00::/8"]))
PROXY = "10.0.0.1"
UNTRUSTED = "203.0.113.9"

routes = Routes("origin", "A route of this test.")


@routes.get("/origin")
@public
async def origin(call: Call) -> dict[str, str | bool | None]:
    """Return the origin of the request."""
    return {"address": call.address, "is_https": call.is_https, "ip_address": call.origin.ip_address}


@pytest.mark.parametrize("forwarded_for", ["", "198.51.100.1", "10.0.0.9, 198.51.100.1", "garbage"])
def test_an_untrusted_peer_has_the_address_of_its_socket(forwarded_for: str) -> None:
    assert client_address(UNTRUSTED, forwarded_for, NETWORKS) == UNTRUSTED


@pytest.mark.parametrize(
    ("forwarded_for", "expected"),
    [
        ("", PROXY),
        ("198.51.100.1", "198.51.100.1"),
        ("198.51.100.1, 10.0.0.2", "198.51.100.1"),
        ("198.51.100.1,10.0.0.3,192.0.2.1", "198.51.100.1"),
        ("  198.51.100.1  ,\t10.0.0.2  ", "198.51.100.1"),
        # What is left of the right-most untrusted address was written by the client.
        ("127.0.0.1, 198.51.100.1", "198.51.100.1"),
        ("10.0.0.5, 198.51.100.1, 10.0.0.2", "198.51.100.1"),
        # All addresses are trusted: the request came from the internal network.
        ("10.0.0.5, 10.0.0.2", "10.0.0.5"),
        ("2001:db8::1", "2001:db8::1"),
        ("2001:DB8:0:0::1, fd00::2", "2001:db8::1"),
        ("198.51.100.1:4711", "198.51.100.1"),
        ("[2001:db8::1]:4711", "2001:db8::1"),
        ("[2001:db8::1]", "2001:db8::1"),
        ("::ffff:198.51.100.1", "198.51.100.1"),
        ("::ffff:10.0.0.2", "10.0.0.2"),
        ("fe80::1%eth0", "fe80::1"),
    ],
)
def test_through_trusted_proxies_the_right_most_untrusted_address_counts(forwarded_for: str, expected: str) -> None:
    assert client_address(PROXY, forwarded_for, NETWORKS) == expected


@pytest.mark.parametrize(
    ("forwarded_for", "expected"),
    [
        ("garbage", PROXY),
        ("198.51.100.1, garbage", PROXY),
        ("198.51.100.1, garbage, 10.0.0.2", "10.0.0.2"),
        ("198.51.100.1,", PROXY),
        (",", PROXY),
        ("unknown", PROXY),
        ("_hidden", PROXY),
        ("198.51.100.256", PROXY),
        ("198.51.100.1/32", PROXY),
        ("198.51.100", PROXY),
        ("3325256705", PROXY),
        ("0x7f000001", PROXY),
        ("127.0.0.1:", "127.0.0.1"),
        ("[2001:db8::1", "2001:db8::1"),
        ("[", PROXY),
        (":", PROXY),
        ("::1::", PROXY),
        ("1:2", PROXY),
        ("127.0.0.1\x00", PROXY),
        ("²³.0.0.1", PROXY),
    ],
)
def test_an_invalid_address_ends_the_search_at_the_last_address_from_a_trusted_proxy(
    forwarded_for: str, expected: str
) -> None:
    assert client_address(PROXY, forwarded_for, NETWORKS) == expected


def test_a_bounded_number_of_hops_is_read_from_a_header_of_any_length() -> None:
    forwarded_for = ", ".join(["198.51.100.1"] + ["10.0.0.2"] * HOPS_MAX)

    assert client_address(PROXY, forwarded_for, NETWORKS) == "10.0.0.2"


@pytest.mark.parametrize(
    ("peer", "expected"),
    [
        (None, None),
        ("<local>", None),
        ("", None),
        ("::ffff:203.0.113.9", UNTRUSTED),
        ("2001:DB8::0:1", "2001:db8::1"),
        ("fe80::1%eth0", "fe80::1"),
    ],
)
def test_the_peer_s_address_is_canonical(peer: str | None, expected: str | None) -> None:
    assert client_address(peer, "198.51.100.1", NETWORKS) == expected


@pytest.mark.parametrize(
    ("peer", "is_trusted"),
    [
        (PROXY, True),
        ("::ffff:10.0.0.1", True),
        ("fd00::1", True),
        ("192.0.2.1", True),
        ("192.0.2.2", False),
        (UNTRUSTED, False),
        ("::1", False),
        (None, False),
        ("<local>", False),
    ],
)
def test_a_peer_is_trusted_when_it_is_within_the_networks(peer: str | None, is_trusted: bool) -> None:
    assert is_trusted_peer(peer, NETWORKS) is is_trusted


@given(st.text())
def test_any_header_yields_a_canonical_address(forwarded_for: str) -> None:
    address = client_address(PROXY, forwarded_for, NETWORKS)

    assert address is not None
    assert str(ipaddress.ip_address(address)) == address


@given(st.lists(st.ip_addresses().map(str), max_size=5), st.ip_addresses(v=4, network="198.51.100.0/24").map(str))
def test_a_client_cannot_forge_its_address(forged: list[str], client: str) -> None:
    forwarded_for = ", ".join([*forged, client, "10.0.0.2"])

    assert client_address(PROXY, forwarded_for, NETWORKS) == client


async def test_without_trusted_proxies_the_headers_are_ignored() -> None:
    headers = {"X-Forwarded-For": "198.51.100.1", "X-Forwarded-Proto": "https", "Forwarded": "for=198.51.100.1"}

    answer = await ask(serving(routes), "GET", "/origin", headers=headers)

    assert answer.json == {"address": "203.0.113.7", "is_https": False, "ip_address": "203.0.113.7"}


async def test_the_headers_of_an_untrusted_peer_are_ignored() -> None:
    headers = {"X-Forwarded-For": "198.51.100.1", "X-Forwarded-Proto": "https", "Remote-Addr": "198.51.100.1"}

    answer = await ask(
        serving(routes, Settings(trusted_proxies=NETWORKS)), "GET", "/origin", headers=headers, peer=UNTRUSTED
    )

    assert answer.json == {"address": UNTRUSTED, "is_https": False, "ip_address": UNTRUSTED}


async def test_the_headers_of_a_trusted_proxy_are_used() -> None:
    headers = {"X-Forwarded-For": "198.51.100.1", "X-Forwarded-Proto": "https"}

    answer = await ask(
        serving(routes, Settings(trusted_proxies=NETWORKS)), "GET", "/origin", headers=headers, peer=PROXY
    )

    assert answer.json == {"address": "198.51.100.1", "is_https": True, "ip_address": "198.51.100.1"}


async def test_repeated_headers_are_one_list() -> None:
    headers = [(b"x-forwarded-for", b"192.0.2.77"), (b"x-forwarded-for", b"198.51.100.1, 10.0.0.2")]

    answer = await ask(
        serving(routes, Settings(trusted_proxies=NETWORKS)), "GET", "/origin", more_headers=headers, peer=PROXY
    )

    assert answer.json["address"] == "198.51.100.1"


@pytest.mark.parametrize(
    ("values", "is_https"),
    [
        ([b"https"], True),
        ([b" HTTPS "], True),
        ([b"http"], False),
        ([b""], False),
        ([b"https\xff"], False),
        # The last one is from the proxy that connects to us; the first may be from the client.
        ([b"https, http"], False),
        ([b"https", b"http"], False),
        ([b"http", b"https"], True),
    ],
)
async def test_the_nearest_proxy_determines_the_protocol(values: list[bytes], is_https: bool) -> None:
    headers = [(b"x-forwarded-proto", value) for value in values]

    answer = await ask(
        serving(routes, Settings(trusted_proxies=NETWORKS)), "GET", "/origin", more_headers=headers, peer=PROXY
    )

    assert answer.json["is_https"] is is_https


async def test_our_own_tls_connection_is_https_whatever_a_proxy_reports() -> None:
    answer = await ask(
        serving(routes, Settings(trusted_proxies=NETWORKS)),
        "GET",
        "/origin",
        headers={"X-Forwarded-Proto": "http"},
        peer=PROXY,
        scheme="https",
    )

    assert answer.json["is_https"] is True
