"""Requests as bytes: a malformed request is refused with our envelope, and an unusual but valid one is answered."""

import pytest

from entrypoints.web.serving.connection.strict_parsing import HEADERS_MAX
from tests.web.serving.connections.wires import GOOD, Running, assert_envelope, request


@pytest.mark.usefixtures("complaints")
async def test_a_malformed_request_is_400_with_our_envelope_and_closes_the_connection(
    server: Running, subtests: pytest.Subtests
) -> None:
    for data in (
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(50) + b"\r\n\r\n",
        b"GET /good\r\n\r\n",
        b"GET\r\n\r\n",
        b"\r\n\r\nGET /good HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET  /good  HTTP/1.1\r\n\r\n",
        b"GET /go od HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /good HTTP/1.1 \r\nHost: x\r\n\r\n",
        b"GET /good HTTP/11\r\nHost: x\r\n\r\n",
        b"GET /good HTTP/0.9\r\nHost: x\r\n\r\n",
        b"GET /good HTTP/1.2\r\nHost: x\r\n\r\n",
        b"GET /good HTTP/3.0\r\nHost: x\r\n\r\n",
        b"GET /good http/1.1\r\nHost: x\r\n\r\n",
        b"G\xc3\x96T /good HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /h\xffe HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /\x00 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET good HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET ?x HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET * HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET ftp://x/good HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET http:///good HTTP/1.1\r\nHost: x\r\n\r\n",
        b"CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n",
        b"GET /good HTTP/1.1\r\n\r\n",
        b"GET /good HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET /good HTTP/1.1\r\nHost: a b\r\n\r\n",
        b"GET /good HTTP/1.1\r\nHost: a/b\r\n\r\n",
        b"GET /good HTTP/1.1\r\nHost: a@b\r\n\r\n",
        b"GET /good HTTP/1.1\r\nHost: \xff\r\n\r\n",
        b"GET /good HTTP/1.1\r\nHost: [::1\r\n\r\n",
        b"GET /good HTTP/1.1\r\nHost: x:port\r\n\r\n",
        b"GET /good HTTP/1.1\nHost: x\n\n",
        b"GET /good HTTP/1.1\nHost: x",
        b"GET /good HTTP/1.1\r\nHost: x\n\r\n",
        b"GET /good HTTP/1.1\r\nHost: x\r\n\n",
        b"GET /good HTTP/1.1\r\nHost: x\rX: y\r\n\r\n",
        b"\nGET /good HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\r\n\nGET /good HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\r \nGET /good HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /good HTTP/1.1\r\n Host: x\r\n\r\n",
        request(b"GET /good HTTP/1.1", b"X: folded\r\n value"),
        request(b"GET /good HTTP/1.1", b"X: folded\r\n\tvalue"),
        request(b"GET /good HTTP/1.1", b"X: folded\r\n "),
        request(b"GET /good HTTP/1.1", *[b"X: y"] * HEADERS_MAX),
        request(b"POST /notes HTTP/1.1", b"Transfer-Encoding: chunked", body=b"2\r\n{}\r\n0\r\n\n"),
        request(b"POST /notes HTTP/1.1", b"Transfer-Encoding: chunked", body=b"2\r\n{}\r\n0\r\nA: b\n\n"),
        request(b"POST /notes HTTP/1.1", b"Transfer-Encoding: chunked", body=b"2\r\n{}\r\n0\r\nA: b\r\n c\r\n\r\n"),
        request(b"POST /notes HTTP/1.1", b"Transfer-Encoding: chunked", body=b"2\n{}\r\n0\r\n\r\n"),
        request(b"POST /notes HTTP/1.1", b"Transfer-Encoding: chunked", body=b"2;a=\nb\r\n{}\r\n0\r\n\r\n"),
        request(b"GET /good HTTP/1.1", b"X Y: z"),
        request(b"GET /good HTTP/1.1", b"X-Y : z"),
        request(b"GET /good HTTP/1.1", b"X\xff: z"),
        request(b"GET /good HTTP/1.1", b": z"),
        request(b"GET /good HTTP/1.1", b"no colon"),
        request(b"GET /good HTTP/1.1", b"X: a\x00b"),
        request(b"GET /good HTTP/1.1", b"X: " + b"a" * 100_000),
        request(b"GET /good HTTP/1.1", *[b"X: y"] * 10_000),
        request(b"GET /" + b"a" * 100_000 + b" HTTP/1.1"),
        request(b"POST /notes HTTP/1.1", b"Content-Length: -1"),
        request(b"POST /notes HTTP/1.1", b"Content-Length: x"),
        request(b"POST /notes HTTP/1.1", b"Content-Length: +2", body=b"{}"),
        request(b"POST /notes HTTP/1.1", b"Content-Length: " + b"9" * 100),
        request(b"POST /notes HTTP/1.1", b"Content-Length: 2", b"Content-Length: 3", body=b"{}"),
        request(b"POST /notes HTTP/1.1", b"Content-Length: 2, 3", body=b"{}"),
        request(
            b"POST /notes HTTP/1.1", b"Content-Length: 2", b"Transfer-Encoding: chunked", body=b"2\r\n{}\r\n0\r\n\r\n"
        ),
        request(
            b"POST /notes HTTP/1.1", b"Transfer-Encoding: chunked", b"Content-Length: 2", body=b"2\r\n{}\r\n0\r\n\r\n"
        ),
        request(b"POST /notes HTTP/1.1", b"Transfer-Encoding: gzip, chunked", body=b"0\r\n\r\n"),
        request(b"POST /notes HTTP/1.1", b"Transfer-Encoding: identity", body=b"{}"),
        request(
            b"POST /notes HTTP/1.1", b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked", body=b"0\r\n\r\n"
        ),
        request(b"POST /notes HTTP/1.0", b"Transfer-Encoding: chunked", body=b"2\r\n{}\r\n0\r\n\r\n"),
        request(b"POST /notes HTTP/1.1", b"Transfer-Encoding: chunked", body=b"zz\r\n{}\r\n0\r\n\r\n"),
        request(b"POST /notes HTTP/1.1", b"Transfer-Encoding: chunked", body=b"-2\r\n{}\r\n0\r\n\r\n"),
        request(b"POST /notes HTTP/1.1", b"Transfer-Encoding: chunked", body=b"2\r\n{}xx0\r\n\r\n"),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00",
    ):
        with subtests.test(data=data):
            wire = await server.connect()

            async with wire.stream:
                await wire.send(data)
                answer = await wire.answer()
                rest = await wire.rest()

            assert_envelope(answer, 400, "BAD_REQUEST")
            assert answer.headers["connection"] == "close"
            assert rest == b""
            assert (await server.exchange(GOOD)).status == 200


@pytest.mark.usefixtures("complaints")
async def test_a_malformed_head_request_is_400_without_a_body(server: Running, subtests: pytest.Subtests) -> None:
    for data in (
        b"HEAD /good HTTP/0.9\r\nHost: x\r\n\r\n",
        b"HEAD /good HTTP/1.1\r\nHost: a b\r\n\r\n",
        request(b"HEAD /good HTTP/1.1", b"Transfer-Encoding: chunked", body=b"zz\r\n"),
    ):
        with subtests.test(data=data):
            wire = await server.connect()

            async with wire.stream:
                await wire.send(data)
                answer = await wire.answer(is_to_head=True)
                rest = await wire.rest()

            assert (answer.status, answer.headers["connection"], rest) == (400, "close", b"")


@pytest.mark.usefixtures("complaints")
async def test_an_unusual_but_valid_request_is_answered(server: Running, subtests: pytest.Subtests) -> None:
    for data, status in (
        (b"GET http://elsewhere.example/good HTTP/1.1\r\nHost: x\r\n\r\n", 200),
        (b"GET HTTPS://user@[::1]:1/good?a=http://b HTTP/1.1\r\nHost: x\r\n\r\n", 200),
        (b"GET http://x HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        (b"GET http://x?y HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        (b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        (b"GET //good HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        (b"GET /./good HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        (b"GET /../good HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        (b"GET /good#part HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        (b"GET /good;a=b HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        (b"GET /good\\ HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        (b"GET /words/%zz%ff%2f% HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        (b"GET /words/%zz%ff% HTTP/1.1\r\nHost: x\r\n\r\n", 200),
        (b"GET /words/%00 HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        (b'GET /good?%zz&=&%00=%ff&"<>^`{|} HTTP/1.1\r\nHost: x\r\n\r\n', 200),
        (b"GET /good? HTTP/1.1\r\nHost: x\r\n\r\n", 200),
        (b"GET /good HTTP/1.1\r\nHost:\r\n\r\n", 200),
        (b"GET /good HTTP/1.1\r\nHost: [2001:db8::1]:8000\r\n\r\n", 200),
        (b"GET /good HTTP/1.1\r\nHost: UPPER:\r\n\r\n", 200),
        (b"get /good HTTP/1.1\r\nHost: x\r\n\r\n", 200),
        (b"BREW /good HTTP/1.1\r\nHost: x\r\n\r\n", 405),
        (b"TRACE /good HTTP/1.1\r\nHost: x\r\n\r\n", 405),
        (b"CONNECT /good HTTP/1.1\r\nHost: x\r\n\r\n", 405),
        (b"A" * 5000 + b" /good HTTP/1.1\r\nHost: x\r\n\r\n", 405),
        (request(b"GET /good HTTP/1.1", b"X: \xff\xfe\x01\x7f"), 200),
        (b"\r\nGET /good HTTP/1.1\r\nHost: x\r\n\r\n", 200),
        (request(b"GET /good HTTP/1.1", *[b"X: y"] * (HEADERS_MAX - 1)), 200),
        (request(b"GET /good HTTP/1.1", b"Content-Length: 0"), 200),
        (request(b"GET /good HTTP/1.1", b"Content-Length: 3", body=b"abc"), 200),
        (request(b"POST /notes HTTP/1.1", b"Content-Length: 2", b"Content-Length: 2", body=b"{}"), 200),
        (
            request(b"POST /notes HTTP/1.1", b"Transfer-Encoding: Chunked", body=b"2;x=y\r\n{}\r\n0\r\nA: b\r\n\r\n"),
            200,
        ),
        (request(b"POST /notes HTTP/1.1", b"Expect: 200-maybe", b"Content-Length: 2", body=b"{}"), 200),
        (b"GET /good HTTP/1.0\r\n\r\n", 200),
        (b"POST /notes HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}", 200),
    ):
        with subtests.test(data=data, status=status):
            answer = await server.exchange(data)

            assert answer.status == status
            assert "x-request-id" in answer.headers
            assert (await server.exchange(GOOD)).status == 200


@pytest.mark.usefixtures("complaints")
async def test_offers_to_upgrade_the_protocol_are_ignored(server: Running, subtests: pytest.Subtests) -> None:
    for case, headers in (
        (
            "websocket",
            [b"Upgrade: websocket", b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", b"Sec-WebSocket-Version: 13"],
        ),
        ("half a websocket", [b"Upgrade: websocket"]),
        ("h2c", [b"Upgrade: h2c", b"HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA"]),
        ("broken h2c", [b"Upgrade: h2c", b"HTTP2-Settings: %%%"]),
        ("tls", [b"Upgrade: TLS/1.0"]),
    ):
        for after in (b"", b"more", b"\x82\x85\x00\x00\x00\x00hello", GOOD):
            with subtests.test(after=after, case=case):
                answer = await server.exchange(request(b"GET /good HTTP/1.1", b"Connection: Upgrade", *headers) + after)

                assert (answer.status, answer.content) == (200, b'{"text":"good"}')
                assert "upgrade" not in answer.headers
                assert (await server.exchange(GOOD)).status == 200
