"""A name server of the demo and of test instances: it has records that prove mail domains, and no other name exists.

So no question of them leaves this machine. It answers on loopback, over UDP.
"""

from __future__ import annotations

from dataclasses import field
from typing import Final

import trio
from dns import exception, flags, message, name, rcode, rdataclass, rdatatype, rrset

from core.lazy_dataclasses import dataclass

HOST: Final = "127.0.0.1"
QUESTION_BYTES_MAX: Final = 512
KEPT_SECONDS: Final = 60


@dataclass
class LocalNames:
    """The TXT records by their names."""

    records: dict[str, str] = field(default_factory=dict[str, str])

    async def serve(self, *, task_status: trio.TaskStatus[int] = trio.TASK_STATUS_IGNORED) -> None:
        """Answer until it is cancelled; report the port, which is any that is free."""
        with trio.socket.socket(trio.socket.AF_INET, trio.socket.SOCK_DGRAM) as server:
            await server.bind((HOST, 0))
            task_status.started(server.getsockname()[1])
            while True:
                question, asker = await server.recvfrom(QUESTION_BYTES_MAX)
                answer = self.answer(question)
                if answer is not None:
                    await server.sendto(answer, asker)

    def answer(self, question: bytes) -> bytes | None:
        """Return the answer to a DNS query; None when the datagram is no query."""
        try:
            query = message.from_wire(question)
        except exception.DNSException:
            return None
        if len(query.question) != 1:
            return None
        [asked] = query.question
        response = message.make_response(query)
        response.flags |= flags.RA
        known = asked.name.to_text(omit_final_dot=True).lower()
        if known not in self.records:
            response.set_rcode(rcode.NXDOMAIN)
        elif asked.rdtype == rdatatype.TXT:
            owner, quoted = name.from_text(known), f'"{self.records[known]}"'
            response.answer.append(rrset.from_text(owner, KEPT_SECONDS, rdataclass.IN, rdatatype.TXT, quoted))
        return response.to_wire()
