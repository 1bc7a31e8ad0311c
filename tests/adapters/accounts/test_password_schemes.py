"""Password hashes of other systems: each kind is verified as its origin does, and none can exhaust the service.

The specimens were created by Django 5.2, passlib 1.7.4 and argon2-cffi 25.1; those in Keycloak's form are the known
answers of PBKDF2 (password "password", salt "salt").
"""

from __future__ import annotations

import base64
import hashlib
from contextlib import suppress
from typing import Any

import bcrypt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.crypto import argon2_digests, password_schemes
from adapters.crypto.password_schemes import SCHEMES, read, scheme_of, stored_form
from adapters.crypto.passwords import Argon2Cost, Argon2PasswordHasher
from core.accounts.user_import import HashTooExpensive
from ports.accounts.passwords import PasswordVerdict
from tests.secret_watch import SecretWatch
from tests.shown_text import shows

CHEAP = Argon2Cost(memory_kib=8, passes=1)
PASSWORD = "Пароль correct horse 🗝"
SALT, DIGEST = "c2FsdHNhbHQ", base64.b64encode(bytes(range(32))).decode().rstrip("=")

SPECIMENS = [
    # Django
    "scrypt$16$seasalt$8$2$raXXG7am5FU/U9Q6b30Am6tgYAqoPbPr2w/O4G2hCuaRswCafscQyAUf05OcVS08mbRHXfhaNf3MS9YEWV4Krw==",
    "pbkdf2_sha256$100$seasalt$ZnqGaKVm84N3EAmLpfq+LyKyA3u8UwVJYqZMEs+5PxM=",
    "pbkdf2_sha1$100$seasalt$0wJc/vm4lkpVTiYO3KWyF34MEUA=",
    "argon2$argon2id$v=19$m=32,t=1,p=2$c2Vhc2FsdHNlYXNhbHQ$GFG8HXClFGUSIJQIIAR6tnktGBU9V8C1+n7V8N9Tzkw",
    "bcrypt_sha256$$2b$04$JqGHpa.XUaX/bU9uC3YgzOptaKJ4I8p/nDfCTB491Ex.OSvwGgvmm",
    "bcrypt$$2b$04$ws5v2X9SO.4cvSH7zduVtur6JMRxJbzLuCXDe9Q4hms7.oNTILm9m",
    # passlib
    "$scrypt$ln=4,r=8,p=1$c2FsdHNhbHRzYWx0MTIzNA$owefFULUjPaAsCckg+Hhn9xxfHZpXyoOPbMkdM+VWTo",
    "$2y$04$xUFcg2BTSN0uwUMs/b3Fn.N4n4W/OdGZo.YFMGsWt8TVB3ko.1FbK",
    "$2a$04$FNj3V1EvEfGZe1Q9M5svYeP/0lBdl4ArlaSms4lmNW46BbBbuPwvy",
    "$2b$04$ws5v2X9SO.4cvSH7zduVtur6JMRxJbzLuCXDe9Q4hms7.oNTILm9m",
    # argon2-cffi
    "$argon2i$v=19$m=16,t=1,p=1$Et4MopXmooNSZj8uzvrtDw$a9IILr59nmsuUlfNUmQ2ym+THKMvii46Lc92EJEDFm4",
    "$argon2d$v=19$m=16,t=1,p=1$pTA30ScCNOjtaGbBe9KXRg$Ra7v/aoPLzTxd/KIyf/v8KWGwmeBiWiiUgiIC7jvFz8",
    "$argon2id$v=19$m=16,t=1,p=1$5Vh89jwewUDBLbU/nDeG7w$E4gu6UpCH43i2inhdSUtarMrPUgbcr2q3tUXc84pK1k",
    "$argon2id$v=16$m=16,t=1,p=1$c2FsdHNhbHQ$3DgjPUOLhkQIb14O+0ER4Vx4GyrpvVqPwmRP+BlBUuI",
]
KEYCLOAK = [
    ("pbkdf2", 1, "0c60c80f961f0e71f3a9b524af6012062fe037a6"),
    ("pbkdf2-sha256", 2, "ae4d0c95af6b46d32d0adff928f06dd02a303f8ef3c251dfd6e2d85a95474c43"),
    (
        "pbkdf2-sha512",
        1,
        "867f70cf1ade02cff3752599a3a53dc4af34c7a669815ae5d513554e1c8cf252"
        "c02d470a285a0501bad999bfe943c08f050235d7d68b1da55e63f73b60a57fce",
    ),
]
UNREADABLE = [
    "",
    "$",
    "$$",
    "plain",
    "argon2id$v=19",
    "$1$salt$hash",
    "md5$salt$d41d8cd98f00b204e9800998ecf8427e",
    "$2x$04$xUFcg2BTSN0uwUMs/b3Fn.N4n4W/OdGZo.YFMGsWt8TVB3ko.1FbK",
    "$2y$03$xUFcg2BTSN0uwUMs/b3Fn.N4n4W/OdGZo.YFMGsWt8TVB3ko.1FbK",
    "$2y$04$xUFcg2BTSN0uwUMs/b3Fn.N4n4W/OdGZo",
    "$2y$04$xUFcg2BTSN0uwUMs/b3Fn.N4n4W/OdGZo.YFMGsWt8TVB3ko.1FbK\n",
    "bcrypt$",
    "bcrypt_sha256$$2b$04$",
    "argon2$argon2id",
    f"$argon2id$v=18$m=16,t=1,p=1${SALT}${DIGEST}",
    f"$argon2id$v=19$m=016,t=1,p=1${SALT}${DIGEST}",
    f"$argon2id$v=19$m=7,t=1,p=1${SALT}${DIGEST}",
    f"$argon2id$v=19$m=16,t=1,p=1$c2FsdA${DIGEST}",
    f"$argon2id$v=19$m=16,t=1,p=1${SALT}$AAAA",
    f"$argon2id$v=19$m=16,t=1,p=1${SALT}${'A' * 41}",
    f"$argon2id$v=19$m=16,t=1,p=1${SALT[:-1]}R${DIGEST}",
    f"$scrypt$ln=4,r=8${SALT}${DIGEST}",
    f"$scrypt$ln=4,r=8,p=1${SALT}$A",
    f"scrypt$15$seasalt$8$1${DIGEST}",
    f"scrypt$1$seasalt$8$1${DIGEST}",
    "pbkdf2_sha256$100$seasalt$",
    "pbkdf2_sha256$100$seasalt$AAAA",
    f"pbkdf2_sha256$0$seasalt${DIGEST}",
    f"pbkdf2_sha256$\u0661\u0660\u0660$seasalt${DIGEST}",
    f"$pbkdf2-sha256$i=100${'A' * 5}${DIGEST}",
    f"$pbkdf2-sha512$i=100${SALT}${'A' * 200}",
]
TOO_EXPENSIVE = [
    f"$argon2id$v=19$m=10485760,t=1,p=1${SALT}${DIGEST}",
    f"$argon2id$v=19$m=262144,t=5,p=1${SALT}${DIGEST}",
    f"$argon2id$v=19$m=1024,t=999999,p=1${SALT}${DIGEST}",
    f"$argon2id$v=19$m=1024,t=1,p=17${SALT}${DIGEST}",
    f"argon2$argon2id$v=19$m=10485760,t=1,p=1${SALT}${DIGEST}",
    "$2y$16$xUFcg2BTSN0uwUMs/b3Fn.N4n4W/OdGZo.YFMGsWt8TVB3ko.1FbK",
    "bcrypt_sha256$$2b$31$JqGHpa.XUaX/bU9uC3YgzOptaKJ4I8p/nDfCTB491Ex.OSvwGgvmm",
    f"$scrypt$ln=20,r=8,p=1${SALT}${DIGEST}",
    f"$scrypt$ln=999999999,r=1,p=1${SALT}${DIGEST}",
    f"$scrypt$ln=4,r=8,p=65${SALT}${DIGEST}",
    f"$scrypt$ln=1,r=2000000,p=1${SALT}${DIGEST}",
    f"scrypt$536870912$seasalt$8$1${DIGEST}",
    f"scrypt$16384$seasalt$8$64${DIGEST}",
    f"pbkdf2_sha256$5000001$seasalt${DIGEST}",
    f"$pbkdf2-sha256$i=2500001${SALT}${base64.b64encode(bytes(64)).decode()}",
    f"$pbkdf2-sha512$i=999999999${SALT}${DIGEST}",
]
# The dearest hash of each scheme that is accepted, and the next one.
DEAREST = {
    f"$argon2id$v=19$m=19456,t=8,p=1${SALT}${DIGEST}": f"$argon2id$v=19$m=19456,t=9,p=1${SALT}${DIGEST}",
    f"$argon2id$v=19$m=47104,t=1,p=1${SALT}${DIGEST}": f"$argon2id$v=19$m=47104,t=2,p=1${SALT}${DIGEST}",
    f"$2b$10${'.' * 53}": f"$2b$11${'.' * 53}",
    f"pbkdf2_sha256$260000$seasalt${DIGEST}": f"pbkdf2_sha256$260001$seasalt${DIGEST}",
    f"$pbkdf2-sha512$i=120000${SALT}${DIGEST}": f"$pbkdf2-sha512$i=120001${SALT}${DIGEST}",
    f"scrypt$16384$seasalt$8$1${DIGEST}": f"scrypt$32768$seasalt$8$1${DIGEST}",
}


def is_right(password: str, encoded: str) -> bool:
    stored = read(encoded)
    assert stored is not None
    return stored.matches(password)


def keycloak(algorithm: str, rounds: int, digest: str) -> dict[str, object]:
    return {
        "algorithm": algorithm,
        "hashIterations": rounds,
        "salt": base64.b64encode(b"salt").decode(),
        "value": base64.b64encode(bytes.fromhex(digest)).decode(),
    }


@pytest.mark.parametrize("encoded", SPECIMENS)
def test_a_password_is_right_for_its_own_hash_and_no_other_password_is(encoded: str) -> None:
    assert is_right(PASSWORD, encoded)
    assert not is_right(PASSWORD + "!", encoded)
    assert not is_right("", encoded)
    assert not is_right("\x00", encoded)


@pytest.mark.parametrize("encoded", SPECIMENS)
def test_a_hash_with_another_digest_does_not_match(encoded: str) -> None:
    bare = encoded.rstrip("=")
    changed = bare[:-4] + ("A" if bare[-4] != "A" else "B") + bare[-3:] + encoded[len(bare) :]

    assert not is_right(PASSWORD, changed)


@pytest.mark.parametrize("encoded", SPECIMENS)
def test_an_imported_hash_is_stored_unchanged(encoded: str) -> None:
    assert stored_form(encoded) == encoded


def test_every_scheme_has_a_specimen() -> None:
    forms = {scheme_of(encoded) for encoded in SPECIMENS}
    forms |= {scheme_of(stored_form(keycloak(*row)) or "") for row in KEYCLOAK}

    assert forms == set(SCHEMES)


@pytest.mark.parametrize(("algorithm", "rounds", "digest"), KEYCLOAK)
def test_a_credential_of_keycloak_is_stored_as_text_and_verified(algorithm: str, rounds: int, digest: str) -> None:
    encoded = stored_form(keycloak(algorithm, rounds, digest))

    assert encoded is not None
    assert encoded.startswith(f"$pbkdf2-{'sha1' if algorithm == 'pbkdf2' else algorithm[7:]}$i={rounds}$c2FsdA$")
    assert is_right("password", encoded)
    assert not is_right("passwords", encoded)


@pytest.mark.parametrize(
    "change",
    [
        {"algorithm": "pbkdf2-md5"},
        {"algorithm": None},
        {"algorithm": ["pbkdf2"]},
        {"hashIterations": 0},
        {"hashIterations": "many"},
        {"hashIterations": True},
        {"salt": None},
        {"salt": "!"},
        {"value": ""},
        {"value": {"a": 1}},
    ],
)
def test_a_malformed_credential_of_keycloak_is_refused(change: dict[str, object]) -> None:
    assert stored_form(keycloak(*KEYCLOAK[1]) | change) is None


def test_a_credential_of_keycloak_with_too_many_rounds_is_too_expensive() -> None:
    with pytest.raises(HashTooExpensive):
        stored_form(keycloak(*KEYCLOAK[1]) | {"hashIterations": 260_001})


@pytest.mark.parametrize("given", [None, 7, True, [], {}, ["$2y$"], *UNREADABLE])
def test_a_hash_that_cannot_be_verified_later_is_refused(given: object) -> None:
    assert stored_form(given) is None


@pytest.mark.parametrize("encoded", TOO_EXPENSIVE)
def test_a_hash_that_costs_more_than_five_times_ours_is_refused_as_such(encoded: str) -> None:
    with pytest.raises(HashTooExpensive):
        stored_form(encoded)


@pytest.mark.parametrize("encoded", DEAREST)
def test_the_dearest_hashes_are_kept_and_one_step_more_is_too_expensive(encoded: str) -> None:
    assert stored_form(encoded) == encoded
    with pytest.raises(HashTooExpensive):
        stored_form(DEAREST[encoded])


@pytest.mark.parametrize("encoded", [*SPECIMENS, *DEAREST])
def test_any_work_of_a_family_can_be_done_without_a_hash(encoded: str) -> None:
    stored = read(encoded)

    assert stored is not None
    stored.spend(stored.work, PASSWORD)


def test_hashes_of_one_family_are_filled_up_to_each_other() -> None:
    families = [
        (f"pbkdf2_sha256$100$seasalt${DIGEST}", f"$pbkdf2-sha256$i=200${SALT}${DIGEST}"),
        ("$2y$04$xUFcg2BTSN0uwUMs/b3Fn.N4n4W/OdGZo.YFMGsWt8TVB3ko.1FbK", SPECIMENS[4]),
        (f"scrypt$16$seasalt$8$2${DIGEST}", f"$scrypt$ln=4,r=8,p=1${SALT}${DIGEST}"),
        (f"$argon2id$v=19$m=16,t=1,p=1${SALT}${DIGEST}", f"$argon2id$v=19$m=16,t=2,p=1${SALT}${DIGEST}"),
    ]

    for one, other in families:
        hashes = read(one), read(other)
        assert hashes[0] is not None
        assert hashes[1] is not None
        assert hashes[0].family == hashes[1].family


def test_bcrypt_reads_the_first_72_bytes_of_a_password() -> None:
    encoded = password_schemes.bcrypt.hashpw(b"x" * 72, password_schemes.bcrypt.gensalt(4)).decode()

    assert is_right("x" * 128, encoded)
    assert not is_right("x" * 71, encoded)


def test_bcrypt_over_sha256_reads_all_of_a_password() -> None:
    encoded = "bcrypt_sha256$$2b$04$JqGHpa.XUaX/bU9uC3YgzOptaKJ4I8p/nDfCTB491Ex.OSvwGgvmm"

    assert not is_right(PASSWORD.ljust(128, "x"), encoded)


@given(st.text(), st.sampled_from([*SPECIMENS, *UNREADABLE, *TOO_EXPENSIVE]), st.data())
def test_no_text_makes_parsing_raise_an_error(text: str, specimen: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(specimen)))

    for encoded in (
        text,
        specimen[:cut] + text,
        text + specimen[cut:],
        specimen[:cut] + text[:1] + specimen[cut + 1 :],
    ):
        with suppress(HashTooExpensive):
            assert stored_form(encoded) in {None, encoded}


def recorded_work(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Return the calls, from now on, of all functions that take long: their names and arguments."""
    work: list[tuple[Any, ...]] = []

    def record(module: Any, name: str) -> None:
        function = getattr(module, name)

        def recorded(*arguments: Any, **others: Any) -> Any:
            work.append((name, arguments, others))
            return function(*arguments, **others)

        monkeypatch.setattr(module, name, recorded)

    record(argon2_digests, "digest")
    for module, name in ((bcrypt, "hashpw"), (bcrypt, "checkpw"), (hashlib, "scrypt"), (hashlib, "pbkdf2_hmac")):
        record(module, name)
    return work


class TestHasher:
    """The hashes behind the port `PasswordHasher`."""

    @pytest.mark.parametrize("encoded", SPECIMENS)
    async def test_a_right_password_needs_an_upgrade_of_its_hash(self, encoded: str) -> None:
        hasher = Argon2PasswordHasher(places=1, cost=CHEAP)

        assert await hasher.verify(PASSWORD, encoded) == PasswordVerdict(is_right=True, needs_upgrade=True)
        assert await hasher.verify("wrong", encoded) == PasswordVerdict(is_right=False, needs_upgrade=False)

    @pytest.mark.parametrize("encoded", [*UNREADABLE, *TOO_EXPENSIVE])
    async def test_an_unreadable_or_too_expensive_hash_costs_as_much_as_none(
        self, encoded: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        hasher = Argon2PasswordHasher(places=1, cost=CHEAP)
        work = recorded_work(monkeypatch)
        await hasher.verify(PASSWORD, None)
        of_none = list(work)
        work.clear()

        verdict = await hasher.verify(PASSWORD, encoded)

        assert verdict == PasswordVerdict(is_right=False, needs_upgrade=False)
        assert of_none
        assert work == of_none

    async def test_each_unreadable_kind_is_logged_once_without_the_hash(self, secret_watch: SecretWatch) -> None:
        hasher = Argon2PasswordHasher(places=1, cost=CHEAP)

        for encoded in ["$2y$99$broken", "$2y$98$broken", "$1$salt$hash", "plain", "$1$salt$hash"]:
            await hasher.verify(PASSWORD, encoded)

        lines = [line for line in secret_watch.lines if "password_hash.unreadable" in line]
        assert [('"2y"' in line, '"unknown"' in line) for line in lines] == [(True, False), (False, True)]
        assert not any(shows(line, "broken") or shows(line, "salt") for line in lines)
