"""A real name server on loopback, over UDP and TCP, that answers what the test has set."""

from __future__ import annotations

import socketserver
import struct
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from dns import flags, message, name, rcode, rdataclass, rdatatype, rrset

LOOPBACK = "127.0.0.1"
# What fits into an answer over UDP without extensions (RFC 1035, 4.2.1).
UDP_BYTES_MAX = 512
PORTS_TRIED_MAX = 50


@dataclass
class NameServer:
    """The TXT records and the addresses by name; a name without an entry does not exist."""

    records: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    # The answers about the addresses of a name: each is given once, the last one from then on.
    addresses: dict[str, list[Sequence[str]]] = field(default_factory=dict[str, "list[Sequence[str]]"])
    # The name for which another one is an alias.
    aliases: dict[str, str] = field(default_factory=dict[str, str])
    # Names about which it answers that it failed, and names about which it never answers.
    failing: set[str] = field(default_factory=set[str])
    silent: set[str] = field(default_factory=set[str])
    silent_about_ipv6: set[str] = field(default_factory=set[str])
    asked: list[str] = field(default_factory=list[str])
    host: str = LOOPBACK
    port: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def publish(self, record_name: str, *values: str) -> None:
        """Publish TXT records of a name in place of those before."""
        self.records[record_name] = list(values)

    def lead(self, host: str, *answers: Sequence[str]) -> None:
        """Answer with these addresses of a host: the first ones at the first look-up, the last ones from then on."""
        self.addresses[host] = list(answers)

    def lookups_of(self, host: str) -> int:
        """Return how often the addresses of a host were asked for, of which each time both families are."""
        return self.asked.count(host) // 2

    @contextmanager
    def open(self) -> Generator[NameServer]:
        """Serve on separate threads while the block lasts."""
        udp, tcp = _servers()
        with udp, tcp:
            self.port = udp.server_address[1]
            udp.names = tcp.names = self
            threads = [threading.Thread(target=one.serve_forever, args=(0.01,)) for one in (udp, tcp)]
            for thread in threads:
                thread.start()
            try:
                yield self
            finally:
                for server in (udp, tcp):
                    server.shutdown()
                for thread in threads:
                    thread.join()

    def answer(self, question: bytes) -> message.Message | None:
        """Return the answer to a question; None for silence."""
        query = message.from_wire(question)
        asked = query.question[0]
        record_name = asked.name.to_text(omit_final_dot=True).lower()
        self.asked.append(record_name)
        is_about_ipv6 = asked.rdtype == rdatatype.AAAA
        if record_name in self.silent or (is_about_ipv6 and record_name in self.silent_about_ipv6):
            return None
        response = message.make_response(query)
        response.flags |= flags.RA
        if record_name in self.failing:
            response.set_rcode(rcode.SERVFAIL)
        elif record_name in self.addresses or record_name in self.aliases:
            self._answer_with_addresses(response, asked.rdtype, record_name)
        elif record_name not in self.records:
            response.set_rcode(rcode.NXDOMAIN)
        elif asked.rdtype == rdatatype.TXT and self.records[record_name]:
            texts = [_quoted(value) for value in self.records[record_name]]
            owner = name.from_text(record_name)
            response.answer.append(rrset.from_text(owner, 60, rdataclass.IN, rdatatype.TXT, *texts))
        return response

    def _answer_with_addresses(self, response: message.Message, family: rdatatype.RdataType, record_name: str) -> None:
        while record_name in self.aliases:
            alias, record_name = record_name, self.aliases[record_name]
            owner = name.from_text(alias)
            response.answer.append(rrset.from_text(owner, 60, rdataclass.IN, rdatatype.CNAME, f"{record_name}."))
        answers = self.addresses[record_name]
        with self._lock:
            is_last = len(answers) == 1 or family != rdatatype.A
            known = answers[0] if is_last else answers.pop(0)
        found = [one for one in known if (":" in one) == (family == rdatatype.AAAA)]
        if found:
            response.answer.append(rrset.from_text(name.from_text(record_name), 60, rdataclass.IN, family, *found))


class _Udp(socketserver.ThreadingUDPServer):
    names: NameServer


class _Tcp(socketserver.ThreadingTCPServer):
    names: NameServer


def _servers() -> tuple[_Udp, _Tcp]:
    """Return servers on one port; one that is free for TCP may be taken for UDP, and then another one is tried."""
    for _ in range(PORTS_TRIED_MAX):
        tcp = _Tcp((LOOPBACK, 0), _TcpHandler)
        try:
            return _Udp((LOOPBACK, tcp.server_address[1]), _UdpHandler), tcp
        except OSError:
            tcp.server_close()
    raise AssertionError("no port is free for UDP and TCP")


class _UdpHandler(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        question, connection = self.request
        server: Any = self.server
        response = server.names.answer(question)
        if response is None:
            return
        wire = response.to_wire(max_size=65535)
        if len(wire) > UDP_BYTES_MAX:
            truncated = message.make_response(message.from_wire(question))
            truncated.flags |= flags.TC
            wire = truncated.to_wire()
        connection.sendto(wire, self.client_address)


class _TcpHandler(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        server: Any = self.server
        (length,) = struct.unpack(">H", self.rfile.read(2))
        response = server.names.answer(self.rfile.read(length))
        if response is not None:
            wire = response.to_wire(max_size=65535)
            self.wfile.write(struct.pack(">H", len(wire)) + wire)


def _quoted(value: str) -> str:
    """Return a value as the strings of a TXT record, each of at most 255 bytes."""
    parts = [value[start : start + 255] for start in range(0, max(len(value), 1), 255)]
    return " ".join('"' + part.replace("\\", "\\\\").replace('"', '\\"') + '"' for part in parts)
