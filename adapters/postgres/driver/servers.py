"""Addresses that name several servers: one takes writes, and any may be away."""

from __future__ import annotations

from typing import Final

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

_PORT: Final = "5432"


def to_writable_server(url: str) -> str:
    """Return the address with a request for a writable server, unless it has `target_session_attrs` of its own.

    The driver tries one server after the other: every named host, and all addresses of a name.
    """
    try:
        parameters = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        # Connecting refuses it with a message that says what is wrong.
        return url
    if "target_session_attrs" in parameters:
        return url
    return make_conninfo(url, target_session_attrs="read-write")


def beginning_with(server: tuple[str, str], url: str) -> str:
    """Return the address with this server, a host and a port, before the others; the same address if it is not named.

    A server that is gone for good, without a machine that refuses connections, would delay every attempt.
    """
    parameters = conninfo_to_dict(url)
    hosts = str(parameters.get("host") or "").split(",")
    ports = [port or _PORT for port in str(parameters.get("port") or _PORT).split(",")]
    if len(ports) == 1:
        ports *= len(hosts)
    named = list(zip(hosts, ports, strict=False))
    if server not in named or len(hosts) != len(ports) or "hostaddr" in parameters:
        return url
    named.sort(key=lambda one: one != server)
    return make_conninfo(url, host=",".join(host for host, _ in named), port=",".join(port for _, port in named))
