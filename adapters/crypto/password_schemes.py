"""Every scheme of stored password hash that can be verified: Gatehouse's own, and those of imported accounts.

Each scheme is one line of `SCHEMES` at the end: a reader that parses an encoded hash and returns a comparison, or None
when the hash is malformed or would cost too much. The comparison takes constant time and raises for no password, so a
hash that can be read can be verified. `passwords.py` runs the comparison and upgrades older schemes at login.
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

# What one comparison may cost, whatever the parameters of a stored hash: some seconds and a quarter of a gibibyte. The
# defaults of all systems that accounts are imported from are lower (ops/decisions/0005-imported-passwords.md).
ARGON2_MEMORY_KIB_MAX = 256 * 1024
ARGON2_MEMORY_TIMES_PASSES_KIB_MAX = 1024 * 1024
ARGON2_LANES_MAX = 16
BCRYPT_COST_MIN, BCRYPT_COST_MAX = 4, 15
PBKDF2_ROUNDS_MAX = 5_000_000
SCRYPT_MEMORY_BYTES_MAX = 256 * 1024 * 1024
# The product of N, r and p; Django's default is a seventh of it.
SCRYPT_WORK_MAX = 2**22
SCRYPT_LANES_MAX = 64
# A shorter digest could match by chance, and an empty one matches every password.
DIGEST_BYTES_MIN, DIGEST_BYTES_MAX = 16, 64
SALT_BYTES_MIN, SALT_BYTES_MAX = 1, 128
# bcrypt has never read more of a password, and its library now refuses longer ones instead of truncating them.
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
    """Return the scheme of an encoded hash, None when it is not in `SCHEMES`. Only PHC strings begin with a dollar."""
    scheme = encoded.removeprefix("$").partition("$")[0]
    return scheme if scheme in SCHEMES else None


def stored_form(given: object) -> str | None:
    """Return the encoded form in which an imported hash is stored, or None when it could not be verified later.

    A text is stored unchanged. An object is a Keycloak credential: `algorithm`, `hashIterations`, `salt` and `value`,
    the last two in base64; it is stored as `$pbkdf2-sha512$i=210000$<salt>$<value>`.
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
    return partial(_matches_argon2, encoded, _ARGON2_TYPES[found[1]]) if is_well_formed and is_affordable else None


def _matches_argon2(encoded: str, kind: Type, password: str) -> bool:
    try:
        return verify_secret(encoded.encode(), password.encode(), kind)
    except VerifyMismatchError:
        return False


def _read_bcrypt(encoded: str, *, prepare: Callable[[str], bytes] = str.encode) -> Comparison | None:
    found = _BCRYPT.fullmatch(encoded)
    if found is None or not BCRYPT_COST_MIN <= int(found[1]) <= BCRYPT_COST_MAX:
        return None

    def matches(password: str) -> bool:
        computed = bcrypt.hashpw(prepare(password)[:BCRYPT_PASSWORD_BYTES_MAX], encoded.encode())
        # Only the digests: the library returns the salt in its canonical form, which others do not always use.
        return hmac.compare_digest(computed[-_BCRYPT_DIGEST_CHARACTERS:], encoded[-_BCRYPT_DIGEST_CHARACTERS:].encode())

    return matches


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
    # A digest longer than that of the hash function costs all the rounds again for each further part.
    parts = -(-len(digest) // hashlib.new(algorithm).digest_size)
    if rounds * parts > PBKDF2_ROUNDS_MAX:
        return None

    def matches(password: str) -> bool:
        return hmac.compare_digest(
            hashlib.pbkdf2_hmac(algorithm, password.encode(), salt, rounds, dklen=len(digest)), digest
        )

    return matches


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
    # The exponent is checked before it is used.
    if not 1 <= logarithm < SCRYPT_WORK_MAX.bit_length() or not _is_salt(salt) or not _is_digest(digest):
        return None
    cost = 2**logarithm
    memory_bytes = 128 * block * (cost + lanes + 2)
    if cost * block * lanes > SCRYPT_WORK_MAX or lanes > SCRYPT_LANES_MAX or memory_bytes > SCRYPT_MEMORY_BYTES_MAX:
        return None

    def matches(password: str) -> bool:
        computed = hashlib.scrypt(
            password.encode(), salt=salt, n=cost, r=block, p=lanes, maxmem=2 * memory_bytes, dklen=len(digest)
        )
        return hmac.compare_digest(computed, digest)

    return matches


def _decoded(text: str) -> bytes | None:
    """Decode base64 with or without padding; return None unless it is canonical, which the libraries require."""
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
    """Read a hash that Django stores behind a name of its own, as in `argon2$argon2id$v=19$…`."""
    inner = encoded.partition("$")[2]
    return read(inner if inner.startswith("$") else f"${inner}")


KEPT_SCHEME: Final = "argon2id"

# The reader of each scheme. A login upgrades a matching hash of any scheme but the kept one.
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
