"""Every scheme of stored password hash that can be verified: Gatehouse's own, and those of imported accounts.

Each scheme is one line of `SCHEMES` at the end: a reader that parses an encoded hash and returns a `StoredHash`, or
None when the hash is malformed; it raises `HashTooExpensive` for one that would cost too much. A comparison takes
constant time and raises for no password, so a hash that can be read can be verified. `passwords.py` runs the comparison
and upgrades older schemes at login.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeAlias, TypeGuard, cast

import bcrypt
from argon2.low_level import Type

from adapters.crypto import argon2_digests
from adapters.crypto.argon2_digests import Argon2Cost
from core.accounts.user_import import HashTooExpensive
from core.lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredHash:
    """A hash that can be compared, and what that costs.

    The cost of one family is additive: `spend` does so much work of the family as hashes of it do, and `work` is what
    the comparison does. So a comparison of less work is filled up to one of more.
    """

    family: tuple[str | int, ...]
    work: int
    matches: Callable[[str], bool]
    spend: Callable[[int, str], None]


Reader: TypeAlias = Callable[[str], StoredHash | None]

# What one comparison may cost: five times our own Argon2id (m=19456, t=2, p=1), measured in
# ops/decisions/0005-imported-passwords.md. A refused sign-in costs as much for every account.
BCRYPT_COST_MIN, BCRYPT_COST_MAX = 4, 10
PBKDF2_ROUNDS_MAX: Final[Mapping[str, int]] = {"sha1": 260_000, "sha256": 260_000, "sha512": 120_000}
# The product of N, r and p; the common N=16384, r=8, p=1.
SCRYPT_WORK_MAX = 2**17
SCRYPT_LANES_MAX = 64
# The memory of one pass, and of all passes together up to our own memory; more memory costs more than in proportion.
ARGON2_MEMORY_KIB_MAX = 47_104
ARGON2_LARGE_MEMORY_KIB = 19_456
ARGON2_MEMORY_TIMES_PASSES_KIB_MAX = 8 * ARGON2_LARGE_MEMORY_KIB
ARGON2_LANES_MAX = 16
# A shorter digest could match by chance, and an empty one matches every password.
DIGEST_BYTES_MIN, DIGEST_BYTES_MAX = 16, 64
SALT_BYTES_MIN, SALT_BYTES_MAX = 1, 128
# bcrypt has never read more of a password, and its library now refuses longer ones instead of truncating them.
BCRYPT_PASSWORD_BYTES_MAX = 72

_NUMBER: Final = "([1-9][0-9]{0,8})"
_BASE64: Final = "([A-Za-z0-9+/]{1,200}={0,2})"
_DJANGO_SALT: Final = "([!-#%-~]{1,128})"

_ARGON2: Final = re.compile(
    rf"\$(argon2(?:id|i|d))\$(?:v=(16|19)\$)?m={_NUMBER},t={_NUMBER},p={_NUMBER}\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)"
)
_BCRYPT: Final = re.compile(r"\$2[aby]\$([0-9]{2})\$[./A-Za-z0-9]{53}")
_DJANGO_PBKDF2: Final = re.compile(rf"pbkdf2_(sha1|sha256)\${_NUMBER}\${_DJANGO_SALT}\${_BASE64}")
_DJANGO_SCRYPT: Final = re.compile(rf"scrypt\${_NUMBER}\${_DJANGO_SALT}\${_NUMBER}\${_NUMBER}\${_BASE64}")
_PHC_PBKDF2: Final = re.compile(rf"\$pbkdf2-(sha1|sha256|sha512)\$i={_NUMBER}\${_BASE64}\${_BASE64}")
_PHC_SCRYPT: Final = re.compile(rf"\$scrypt\$ln={_NUMBER},r={_NUMBER},p={_NUMBER}\${_BASE64}\${_BASE64}")

_DECOY_SALT: Final = b"salt of no account"
_ARGON2_TYPES: Final = {"argon2id": Type.ID, "argon2i": Type.I, "argon2d": Type.D}
_ARGON2_SALT_BYTES_MIN: Final = 8
# The version of hashes that name none, from before the format had it.
_ARGON2_VERSION_UNNAMED: Final = 16
_BCRYPT_DIGEST_CHARACTERS: Final = 31
_KEYCLOAK_DIGESTS: Final = {"pbkdf2": "sha1", "pbkdf2-sha256": "sha256", "pbkdf2-sha512": "sha512"}


def scheme_of(encoded: str) -> str | None:
    """Return the scheme of an encoded hash, None when it is not in `SCHEMES`. Only PHC strings begin with a dollar."""
    scheme = encoded.removeprefix("$").partition("$")[0]
    return scheme if scheme in SCHEMES else None


def read(encoded: str) -> StoredHash | None:
    """Return a hash that can be compared; None when it is malformed or of an unknown scheme.

    Raise `HashTooExpensive` when its comparison would cost too much.
    """
    scheme = scheme_of(encoded)
    return SCHEMES[scheme](encoded) if scheme is not None else None


def stored_form(given: object) -> str | None:
    """Return the encoded form in which an imported hash is stored, or None when it could not be verified later.

    A text is stored unchanged. An object is a Keycloak credential: `algorithm`, `hashIterations`, `salt` and `value`,
    the last two in base64; it is stored as `$pbkdf2-sha512$i=120000$<salt>$<value>`. Raise `HashTooExpensive`.
    """
    encoded = _keycloak_encoded(cast("dict[str, Any]", given)) if isinstance(given, dict) else given
    return encoded if isinstance(encoded, str) and read(encoded) is not None else None


def _keycloak_encoded(credential: dict[str, Any]) -> str | None:
    match credential:
        case {"algorithm": str(algorithm), "hashIterations": int(rounds), "salt": str(salt), "value": str(value)}:
            digest = _KEYCLOAK_DIGESTS.get(algorithm)
            return f"$pbkdf2-{digest}$i={rounds}${salt.rstrip('=')}${value.rstrip('=')}" if digest is not None else None
        case _:
            return None


def _read_argon2(encoded: str) -> StoredHash | None:
    found = _ARGON2.fullmatch(encoded)
    if found is None:
        return None
    memory_kib, passes, lanes = (int(number) for number in found.group(3, 4, 5))
    salt, stored = (_decoded(text) for text in found.group(6, 7))
    if salt is None or len(salt) < _ARGON2_SALT_BYTES_MIN or not _is_digest(stored) or memory_kib < 8 * lanes:
        return None
    passes_max = ARGON2_MEMORY_TIMES_PASSES_KIB_MAX // memory_kib if memory_kib <= ARGON2_LARGE_MEMORY_KIB else 1
    if memory_kib > ARGON2_MEMORY_KIB_MAX or passes > passes_max or lanes > ARGON2_LANES_MAX:
        raise HashTooExpensive
    cost, kind = Argon2Cost(memory_kib=memory_kib, passes=passes, lanes=lanes), _ARGON2_TYPES[found[1]]
    version = int(found[2] or _ARGON2_VERSION_UNNAMED)

    def matches(password: str) -> bool:
        computed = argon2_digests.digest(
            password.encode(), salt, cost, digest_bytes=len(stored), kind=kind, version=version
        )
        return hmac.compare_digest(computed, stored)

    def spend(work: int, password: str) -> None:
        argon2_digests.digest(password.encode(), _DECOY_SALT, replace(cost, passes=work), kind=kind)

    return StoredHash(family=(found[1], memory_kib, lanes), work=passes, matches=matches, spend=spend)


def _read_bcrypt(encoded: str, *, prepare: Callable[[str], bytes] = str.encode) -> StoredHash | None:
    found = _BCRYPT.fullmatch(encoded)
    if found is None or int(found[1]) < BCRYPT_COST_MIN:
        return None
    if int(found[1]) > BCRYPT_COST_MAX:
        raise HashTooExpensive

    def matches(password: str) -> bool:
        computed = bcrypt.hashpw(prepare(password)[:BCRYPT_PASSWORD_BYTES_MAX], encoded.encode())
        # Only the digests: the library returns the salt in its canonical form, which others do not always use.
        return hmac.compare_digest(computed[-_BCRYPT_DIGEST_CHARACTERS:], encoded[-_BCRYPT_DIGEST_CHARACTERS:].encode())

    return StoredHash(family=("bcrypt",), work=2 ** int(found[1]), matches=matches, spend=_spend_bcrypt)


def _spend_bcrypt(work: int, password: str) -> None:
    # A cost is the logarithm of the work, so any work is a sum of costs: the bits of the number.
    for cost in range(BCRYPT_COST_MIN, BCRYPT_COST_MAX + 1):
        if work & 2**cost:
            bcrypt.hashpw(password.encode()[:BCRYPT_PASSWORD_BYTES_MAX], f"$2b${cost:02}${'.' * 22}".encode())


def _hexadecimal_sha256(password: str) -> bytes:
    return hashlib.sha256(password.encode()).hexdigest().encode()


def _read_phc_pbkdf2(encoded: str) -> StoredHash | None:
    found = _PHC_PBKDF2.fullmatch(encoded)
    return _pbkdf2(found[1], int(found[2]), _decoded(found[3]), _decoded(found[4])) if found is not None else None


def _read_django_pbkdf2(encoded: str) -> StoredHash | None:
    found = _DJANGO_PBKDF2.fullmatch(encoded)
    return _pbkdf2(found[1], int(found[2]), found[3].encode(), _decoded(found[4])) if found is not None else None


def _pbkdf2(algorithm: str, rounds: int, salt: bytes | None, digest: bytes | None) -> StoredHash | None:
    if not _is_salt(salt) or not _is_digest(digest):
        return None
    # A digest longer than the hash function's costs all the rounds again for each further part.
    work = rounds * -(-len(digest) // hashlib.new(algorithm).digest_size)
    if work > PBKDF2_ROUNDS_MAX[algorithm]:
        raise HashTooExpensive

    def matches(password: str) -> bool:
        return hmac.compare_digest(
            hashlib.pbkdf2_hmac(algorithm, password.encode(), salt, rounds, dklen=len(digest)), digest
        )

    def spend(work: int, password: str) -> None:
        hashlib.pbkdf2_hmac(algorithm, password.encode(), _DECOY_SALT, work)

    return StoredHash(family=("pbkdf2", algorithm), work=work, matches=matches, spend=spend)


def _read_scrypt(encoded: str) -> StoredHash | None:
    if (found := _PHC_SCRYPT.fullmatch(encoded)) is not None:
        logarithm, block, lanes = (int(number) for number in found.group(1, 2, 3))
        return _scrypt(logarithm, block, lanes, _decoded(found[4]), _decoded(found[5]))
    if (found := _DJANGO_SCRYPT.fullmatch(encoded)) is not None:
        cost, block, lanes = (int(number) for number in found.group(1, 3, 4))
        is_power_of_two = cost & (cost - 1) == 0
        logarithm = cost.bit_length() - 1
        return _scrypt(logarithm, block, lanes, found[2].encode(), _decoded(found[5])) if is_power_of_two else None
    return None


def _scrypt(logarithm: int, block: int, lanes: int, salt: bytes | None, digest: bytes | None) -> StoredHash | None:
    if logarithm < 1 or not _is_salt(salt) or not _is_digest(digest):
        return None
    # The exponent is checked before it is used.
    if logarithm >= SCRYPT_WORK_MAX.bit_length() or lanes > SCRYPT_LANES_MAX:
        raise HashTooExpensive
    if 2**logarithm * block * lanes > SCRYPT_WORK_MAX:
        raise HashTooExpensive
    cost = 2**logarithm
    memory_bytes = 128 * block * (cost + lanes + 2)

    def matches(password: str) -> bool:
        computed = hashlib.scrypt(
            password.encode(), salt=salt, n=cost, r=block, p=lanes, maxmem=2 * memory_bytes, dklen=len(digest)
        )
        return hmac.compare_digest(computed, digest)

    def spend(work: int, password: str) -> None:
        hashlib.scrypt(
            password.encode(), salt=_DECOY_SALT, n=cost, r=block, p=work, maxmem=2 * 128 * block * (cost + work + 2)
        )

    return StoredHash(family=("scrypt", cost, block), work=lanes, matches=matches, spend=spend)


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


def _inside(read: Reader, encoded: str) -> StoredHash | None:
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
