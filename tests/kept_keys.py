"""Private keys of the tests alone, made once: making an RSA key takes as long as a few tests, and chance decides it.

They protect nothing. Each has a name, and `python -m tests.kept_keys NAME…` keeps a key for each further name; a test
whose name has none gets a new key in each process.
"""

from __future__ import annotations

import base64
import json
import sys
from functools import cache
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_der_private_key,
)

FILE: Final = Path(__file__).with_suffix(".json")
BITS: Final = 2048
# The beginning of the name of an elliptic key.
ELLIPTIC: Final = "ES256 "


@cache
def rsa_key(name: str) -> rsa.RSAPrivateKey:
    """Return the RSA key of that name."""
    # Its primes are not tested again, which takes tens of milliseconds.
    key = load_der_private_key(_bytes_of(name), password=None, unsafe_skip_rsa_key_validation=True)
    assert isinstance(key, rsa.RSAPrivateKey), f"{name} is no RSA key"
    return key


@cache
def elliptic_key(name: str) -> ec.EllipticCurvePrivateKey:
    """Return the elliptic key of that name."""
    key = load_der_private_key(_bytes_of(f"{ELLIPTIC}{name}"), password=None)
    assert isinstance(key, ec.EllipticCurvePrivateKey), f"{name} is no elliptic key"
    return key


def _bytes_of(name: str) -> bytes:
    return base64.b64decode(_kept().get(name) or _made(name))


@cache
def _kept() -> dict[str, str]:
    return json.loads(FILE.read_text())


def _made(name: str) -> str:
    private = (
        ec.generate_private_key(ec.SECP256R1())
        if name.startswith(ELLIPTIC)
        else rsa.generate_private_key(public_exponent=65537, key_size=BITS)
    )
    return base64.b64encode(private.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())).decode()


def main(names: list[str]) -> None:
    """Keep a key for each name that has none."""
    kept = {name: _kept().get(name) or _made(name) for name in sorted({*_kept(), *names})}
    FILE.write_text(json.dumps(kept, indent=2) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
