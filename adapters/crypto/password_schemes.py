"""Stored password hashes of every kind that can be compared: our own, and those that came with imported accounts.

Each kind is one line of the table at the end: a reader that takes an encoded hash apart, or says by `None` that it is
malformed or would cost too much. What it gives compares a password in constant time and fails for no password, so a
hash that can be read can be compared. Where the comparison runs, and what a login does with a hash of an older kind,
is in `passwords.py`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, TypeAlias, TypeGuard, cast

import bcrypt
from argon2.exceptions import VerifyMismatchError
from argon2.low_level import Type, verify_secret

Comparison: TypeAlias = Callable[[str], bool]
Reader: TypeAlias = Callable[[str], Comparison | None]

# What one comparison may cost, whatever a stored hash asks for: some seconds and a quarter of a gibibyte. All the
# defaults of the systems that people come from lie below (ops/decisions/0005-imported-passwords.md).
ARGON2_MEMORY_KIB_MAX = 256 * 1024
ARGON2_MEMORY_TIMES_PASSES_KIB_MAX = 1024 * 1024
ARGON2_LANES_MAX = 16
BCRYPT_COST_MIN, BCRYPT_COST_MAX = 4, 15
PBKDF2_ROUNDS_MAX = 5_000_000
SCRYPT_MEMORY_BYTES_MAX = 256 * 1024 * 1024
# The product of N, r and p; Django's default is a seventh of it.
SCRYPT_WORK_MAX = 2**22
SCRYPT_LANES_MAX = 64
# A digest that is shorter could be met by chance, and an empty one fits every password.
DIGEST_BYTES_MIN, DIGEST_BYTES_MAX = 16, 64
SALT_BYTES_MIN, SALT_BYTES_MAX = 1, 128
# bcrypt has never read more of a password, and its library now refuses to drop the rest by itself.
BCRYPT_PASSWORD_BYTES_MAX = 72

_NUMBER: Final = "([1-9][0-9]{0,8})"
_BASE64: Final = "([A-Za-z0-9+/]{1,200}={0,2})"
_DJANGO_SALT: Final = "([!-#%-~]{1,128})"

_ARGON2: Final = re.compile(
    rf"\$(argon2(?:id|i|d))\$(?:v=(?:16|19)\$)?m={_NUMBER},t={_NUMBER},p={_NUMBER}\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)"
)
_BCRYPT: Final = re.compile(r"\$2[aby]\$([0-9]{2})\$[./A-Za-z0-9]{53}")
_DJANGO_PBKDF2: Final = re.compile(rf"pbkdf2_(sha1|sha256)\${_NUMBER}\${_DJANGO_SALT}\${_BASE64}")
_DJANGO_SCRYPT: Final = re.compile(rf"scrypt\${_NUMBER}\${_DJANGO_SALT}\${_NUMBER}\${_NUMBER}\${_BASE64}")
_PHC_PBKDF2: Final = re.compile(rf"\$pbkdf2-(sha1|sha256|sha512)\$i={_NUMBER}\${_BASE64}\${_BASE64}")
_PHC_SCRYPT: Final = re.compile(rf"\$scrypt\$ln={_NUMBER},r={_NUMBER},p={_NUMBER}\${_BASE64}\${_BASE64}")

_ARGON2_TYPES: Final = {"argon2id": Type.ID, "argon2i": Type.I, "argon2d": Type.D}
_ARGON2_SALT_BYTES_MIN: Final = 8
_BCRYPT_DIGEST_CHARACTERS: Final = 31
_KEYCLOAK_DIGESTS: Final = {"pbkdf2": "sha1", "pbkdf2-sha256": "sha256", "pbkdf2-sha512": "sha512"}


def scheme_of(encoded: str) -> str | None:
    """Name the kind of an encoded hash, if it is one of the table: PHC strings begin with a dollar, Django's do not."""
    scheme = encoded.removeprefix("$").partition("$")[0]
    return scheme if scheme in SCHEMES else None


def stored_form(given: object) -> str | None:
    """Give the encoded form in which an imported hash is kept, or nothing when it could not be compared later.

    A text is kept as it is. An object is a credential as Keycloak has it: `algorithm`, `hashIterations`, `salt` and
    `value`, the last two in base64; it is kept as `$pbkdf2-sha512$i=210000$<salt>$<value>`.
    """
    encoded = _keycloak_encoded(cast("dict[str, Any]", given)) if isinstance(given, dict) else given
    if not isinstance(encoded, str):
        return None
    scheme = scheme_of(encoded)
    return encoded if scheme is not None and SCHEMES[scheme](encoded) is not None else None


def _keycloak_encoded(credential: dict[str, Any]) -> str | None:
    match credential:
        case {"algorithm": str(algorithm), "hashIterations": int(rounds), "salt": str(salt), "value": str(value)}:
            digest = _KEYCLOAK_DIGESTS.get(algorithm)
            return f"$pbkdf2-{digest}$i={rounds}${salt.rstrip('=')}${value.rstrip('=')}" if digest is not None else None
        case _:
            return None


def _read_argon2(encoded: str) -> Comparison | None:
    found = _ARGON2.fullmatch(encoded)
    if found is None:
        return None
    memory_kib, passes, lanes = (int(number) for number in found.group(2, 3, 4))
    salt, digest = (_decoded(text) for text in found.group(5, 6))
    is_well_formed = salt is not None and len(salt) >= _ARGON2_SALT_BYTES_MIN and _is_digest(digest)
    is_affordable = (
        8 * lanes <= memory_kib <= ARGON2_MEMORY_KIB_MAX
        and memory_kib * passes <= ARGON2_MEMORY_TIMES_PASSES_KIB_MAX
        and lanes <= ARGON2_LANES_MAX
    )
    return partial(_is_right_argon2, encoded, _ARGON2_TYPES[found[1]]) if is_well_formed and is_affordable else None


def _is_right_argon2(encoded: str, kind: Type, password: str) -> bool:
    try:
        return verify_secret(encoded.encode(), password.encode(), kind)
    except VerifyMismatchError:
        return False


def _read_bcrypt(encoded: str, *, prepare: Callable[[str], bytes] = str.encode) -> Comparison | None:
    found = _BCRYPT.fullmatch(encoded)
    if found is None or not BCRYPT_COST_MIN <= int(found[1]) <= BCRYPT_COST_MAX:
        return None

    def is_right(password: str) -> bool:
        computed = bcrypt.hashpw(prepare(password)[:BCRYPT_PASSWORD_BYTES_MAX], encoded.encode())
        # The digests alone: the salt comes back in the one right spelling, which not every library kept to.
        return hmac.compare_digest(computed[-_BCRYPT_DIGEST_CHARACTERS:], encoded[-_BCRYPT_DIGEST_CHARACTERS:].encode())

    return is_right


def _hexadecimal_sha256(password: str) -> bytes:
    return hashlib.sha256(password.encode()).hexdigest().encode()


def _read_phc_pbkdf2(encoded: str) -> Comparison | None:
    found = _PHC_PBKDF2.fullmatch(encoded)
    return _pbkdf2(found[1], int(found[2]), _decoded(found[3]), _decoded(found[4])) if found is not None else None


def _read_django_pbkdf2(encoded: str) -> Comparison | None:
    found = _DJANGO_PBKDF2.fullmatch(encoded)
    return _pbkdf2(found[1], int(found[2]), found[3].encode(), _decoded(found[4])) if found is not None else None


def _pbkdf2(algorithm: str, rounds: int, salt: bytes | None, digest: bytes | None) -> Comparison | None:
    if not _is_salt(salt) or not _is_digest(digest):
        return None
    # A digest that is longer than the function's own costs all the rounds once more for each part of it.
    parts = -(-len(digest) // hashlib.new(algorithm).digest_size)
    if rounds * parts > PBKDF2_ROUNDS_MAX:
        return None

    def is_right(password: str) -> bool:
        return hmac.compare_digest(
            hashlib.pbkdf2_hmac(algorithm, password.encode(), salt, rounds, dklen=len(digest)), digest
        )

    return is_right


def _read_scrypt(encoded: str) -> Comparison | None:
    if (found := _PHC_SCRYPT.fullmatch(encoded)) is not None:
        logarithm, block, lanes = (int(number) for number in found.group(1, 2, 3))
        return _scrypt(logarithm, block, lanes, _decoded(found[4]), _decoded(found[5]))
    if (found := _DJANGO_SCRYPT.fullmatch(encoded)) is not None:
        cost, block, lanes = (int(number) for number in found.group(1, 3, 4))
        is_power_of_two = cost & (cost - 1) == 0
        logarithm = cost.bit_length() - 1
        return _scrypt(logarithm, block, lanes, found[2].encode(), _decoded(found[5])) if is_power_of_two else None
    return None


def _scrypt(logarithm: int, block: int, lanes: int, salt: bytes | None, digest: bytes | None) -> Comparison | None:
    # The exponent is bounded before it is used as one.
    if not 1 <= logarithm < SCRYPT_WORK_MAX.bit_length() or not _is_salt(salt) or not _is_digest(digest):
        return None
    cost = 2**logarithm
    memory_bytes = 128 * block * (cost + lanes + 2)
    if cost * block * lanes > SCRYPT_WORK_MAX or lanes > SCRYPT_LANES_MAX or memory_bytes > SCRYPT_MEMORY_BYTES_MAX:
        return None

    def is_right(password: str) -> bool:
        computed = hashlib.scrypt(
            password.encode(), salt=salt, n=cost, r=block, p=lanes, maxmem=2 * memory_bytes, dklen=len(digest)
        )
        return hmac.compare_digest(computed, digest)

    return is_right


def _decoded(text: str) -> bytes | None:
    """Read base64 with or without its padding; the one spelling of each value, as the libraries insist on."""
    bare = text.rstrip("=")
    try:
        value = base64.b64decode(bare + "=" * (-len(bare) % 4))
    except binascii.Error:
        return None
    return value if base64.b64encode(value).decode().rstrip("=") == bare else None


def _is_salt(salt: bytes | None) -> TypeGuard[bytes]:
    return salt is not None and SALT_BYTES_MIN <= len(salt) <= SALT_BYTES_MAX


def _is_digest(digest: bytes | None) -> TypeGuard[bytes]:
    return digest is not None and DIGEST_BYTES_MIN <= len(digest) <= DIGEST_BYTES_MAX


def _inside(read: Reader, encoded: str) -> Comparison | None:
    """Read a hash that Django keeps whole behind a name of its own, as in `argon2$argon2id$v=19$…`."""
    inner = encoded.partition("$")[2]
    return read(inner if inner.startswith("$") else f"${inner}")


KEPT_SCHEME: Final = "argon2id"

# How a hash of each kind is read. What is right and not of the kept one is upgraded by the login.
SCHEMES: Final[Mapping[str, Reader]] = {
    KEPT_SCHEME: _read_argon2,
    "argon2i": _read_argon2,
    "argon2d": _read_argon2,
    "argon2": partial(_inside, _read_argon2),
    "2a": _read_bcrypt,
    "2b": _read_bcrypt,
    "2y": _read_bcrypt,
    "bcrypt": partial(_inside, _read_bcrypt),
    "bcrypt_sha256": partial(_inside, partial(_read_bcrypt, prepare=_hexadecimal_sha256)),
    "pbkdf2-sha1": _read_phc_pbkdf2,
    "pbkdf2-sha256": _read_phc_pbkdf2,
    "pbkdf2-sha512": _read_phc_pbkdf2,
    "pbkdf2_sha1": _read_django_pbkdf2,
    "pbkdf2_sha256": _read_django_pbkdf2,
    "scrypt": _read_scrypt,
}
