"""Why TLS to the server failed: libpq says what went wrong inside, and an operator needs to know what to change.

libpq has no codes for this, so the cause is found by parts of its messages, which are not translated here
(`tests/adapters/driver/test_server_trust.py` runs each of them).
"""

from __future__ import annotations

from typing import Final

# Parts of the messages, with what to do. None of the sentences contains a colon (`suitability.reason`).
_CAUSES: Final = {
    "certificate verify failed": (
        "its certificate is not from an authority in sslrootcert, or is not valid any more. Check sslrootcert in"
        " GATEHOUSE_DATABASE_URL, and that no other server answers at this address"
    ),
    "does not match host name": (
        "its certificate is for another name. Use the name in the certificate as the host in GATEHOUSE_DATABASE_URL,"
        " and check that no other server answers at this address"
    ),
    "server does not support SSL": (
        "it does not speak TLS, which sslmode in GATEHOUSE_DATABASE_URL asks for. Set ssl = on in PostgreSQL"
    ),
    "root certificate file": (
        "the file with its authority cannot be read. Check sslrootcert in GATEHOUSE_DATABASE_URL, and that the user of"
        " Gatehouse may read it"
    ),
}


def problem(message: str) -> str | None:
    """Return why the server is not trusted, and what to do; None when an attempt failed for another reason."""
    # When several servers were tried, the message names what each of them answered.
    if "\n- host: " in message:
        return None
    return next((sentence for part, sentence in _CAUSES.items() if part in message), None)
