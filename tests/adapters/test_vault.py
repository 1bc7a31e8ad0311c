"""The vault: a sealed value opens only with its table, column and row."""

from __future__ import annotations

import base64
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.crypto.vault import MasterKey, MasterKeysInvalid, SealBroken, Vault, parse_master_keys
from core.secrets import Secret

OLD_KEY = MasterKey(bytes(range(32)))
NEW_KEY = MasterKey(bytes(range(32, 64)))
UNKNOWN_KEY = MasterKey(bytes(range(64, 96)))
ROW = UUID("0191d3c1-0000-7000-8000-000000000001")

names = st.text(st.characters(codec="utf-8"), max_size=20)


@given(plaintext=st.binary(max_size=200), table=names, column=names, row=names | st.uuids())
def test_a_sealed_value_opens(plaintext: bytes, table: str, column: str, row: UUID | str) -> None:
    vault = Vault([NEW_KEY])

    sealed = vault.seal(plaintext, table=table, column=column, row=row)

    assert vault.open(sealed, table=table, column=column, row=row) == plaintext


@given(data=st.data())
def test_any_flipped_bit_is_refused(data: st.DataObject) -> None:
    vault = Vault([NEW_KEY, OLD_KEY])
    sealed = bytearray(vault.seal(b"a secret", table="users", column="totp", row=ROW))
    bit = data.draw(st.integers(0, len(sealed) * 8 - 1))

    sealed[bit // 8] ^= 1 << bit % 8

    with pytest.raises(SealBroken):
        vault.open(bytes(sealed), table="users", column="totp", row=ROW)


@given(length=st.integers(0, 8 + 1 + 12 + 16 + 7))
def test_a_truncated_value_is_refused(length: int) -> None:
    vault = Vault([NEW_KEY])
    sealed = vault.seal(b"a secret", table="users", column="totp", row=ROW)

    with pytest.raises(SealBroken):
        vault.open(sealed[:length], table="users", column="totp", row=ROW)


@given(here=st.tuples(names, names, names), there=st.tuples(names, names, names))
def test_a_value_moved_to_another_place_is_refused(here: tuple[str, str, str], there: tuple[str, str, str]) -> None:
    vault = Vault([NEW_KEY])
    sealed = vault.seal(b"a secret", table=here[0], column=here[1], row=here[2])

    if here == there:
        assert vault.open(sealed, table=there[0], column=there[1], row=there[2]) == b"a secret"
    else:
        with pytest.raises(SealBroken):
            vault.open(sealed, table=there[0], column=there[1], row=there[2])


@pytest.mark.parametrize(
    "there", [("ab", "c", "d"), ("a", "b", "cd"), ("a", "bc", ""), ("", "abc", "d"), ("b", "a", "cd")]
)
def test_names_that_are_equal_when_joined_are_not_the_same_place(there: tuple[str, str, str]) -> None:
    vault = Vault([NEW_KEY])
    sealed = vault.seal(b"a secret", table="a", column="bc", row="d")

    with pytest.raises(SealBroken):
        vault.open(sealed, table=there[0], column=there[1], row=there[2])


def test_a_row_is_the_same_by_its_id_and_by_the_text_of_its_id() -> None:
    vault = Vault([NEW_KEY])

    sealed = vault.seal(b"a secret", table="users", column="totp", row=ROW)

    assert vault.open(sealed, table="users", column="totp", row=str(ROW)) == b"a secret"


def test_the_first_key_seals_and_every_key_opens() -> None:
    before = Vault([OLD_KEY])
    after = Vault([NEW_KEY, OLD_KEY])

    sealed_before = before.seal(b"a secret", table="users", column="totp", row=ROW)
    sealed_after = after.seal(b"a secret", table="users", column="totp", row=ROW)

    assert after.open(sealed_before, table="users", column="totp", row=ROW) == b"a secret"
    assert Vault([NEW_KEY]).open(sealed_after, table="users", column="totp", row=ROW) == b"a secret"


def test_only_values_sealed_with_another_key_need_rewrapping() -> None:
    before = Vault([OLD_KEY])
    after = Vault([NEW_KEY, OLD_KEY])

    sealed_before = before.seal(b"a secret", table="users", column="totp", row=ROW)
    sealed_after = after.seal(b"a secret", table="users", column="totp", row=ROW)

    assert after.needs_rewrap(sealed_before)
    assert not after.needs_rewrap(sealed_after)
    assert sealed_after.startswith(after.current_mark)


def test_a_key_that_is_not_in_the_list_is_named_in_the_error_by_its_id() -> None:
    sealed = Vault([UNKNOWN_KEY]).seal(b"a secret", table="users", column="totp", row=ROW)

    with pytest.raises(SealBroken) as refusal:
        Vault([NEW_KEY, OLD_KEY]).open(sealed, table="users", column="totp", row=ROW)

    assert UNKNOWN_KEY.id.hex() in str(refusal.value)
    assert f"users.totp of {ROW}" in str(refusal.value)


def test_every_sealed_value_has_its_own_nonce() -> None:
    vault = Vault([NEW_KEY])

    sealed = {vault.seal(b"a secret", table="users", column="totp", row=ROW) for _ in range(100)}

    assert len({value[9:21] for value in sealed}) == 100


def test_a_value_sealed_by_an_earlier_version_still_opens() -> None:
    stored = bytes.fromhex(
        "019fec9e913cdbe23ee1bb3aaa18849060b355174ed51c3288614a0e59276137288ed72c880667912d9091b809657d69accee242"
    )

    secret = Vault([OLD_KEY]).open(stored, table="users", column="totp", row=ROW)

    assert secret == b"stored long ago"


def test_a_vault_without_a_key_is_refused() -> None:
    with pytest.raises(MasterKeysInvalid):
        Vault([])


@pytest.mark.parametrize("length", [0, 16, 24, 31, 33])
def test_a_key_of_another_length_is_refused(length: int) -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        MasterKey(bytes(length))


@pytest.mark.parametrize(
    "text",
    [
        base64.b64encode(b"\xfb\xff" * 16).decode(),
        base64.urlsafe_b64encode(b"\xfb\xff" * 16).decode(),
        base64.urlsafe_b64encode(b"\xfb\xff" * 16).decode().rstrip("="),
        f"  {base64.b64encode(bytes(range(251, 256)) * 6 + b'--').decode()}\n",
    ],
)
def test_a_key_is_parsed_in_either_base64_alphabet_with_or_without_padding(text: str) -> None:
    (key,) = parse_master_keys(Secret(text))

    assert len(key.value) == 32


def test_the_list_of_keys_keeps_its_order() -> None:
    setting = Secret(f"{NEW_KEY.encoded()}, {OLD_KEY.encoded()}")

    assert parse_master_keys(setting) == (NEW_KEY, OLD_KEY)


def test_the_encoded_form_of_a_generated_key_is_a_valid_setting() -> None:
    key = MasterKey.generate()

    assert parse_master_keys(Secret(key.encoded())) == (key,)
    assert key != MasterKey.generate()


@pytest.mark.parametrize(
    "wrong",
    ["", "not base64!", "c2hvcnQ=", base64.b64encode(bytes(33)).decode(), "ключ", "=" * 44, NEW_KEY.encoded() + "A"],
)
def test_an_invalid_key_is_reported_by_its_position_and_never_shown(wrong: str) -> None:
    setting = Secret(f"{NEW_KEY.encoded()},{wrong}")

    with pytest.raises(MasterKeysInvalid, match=r"^Master key 2 ") as refusal:
        parse_master_keys(setting)

    assert not wrong or wrong not in str(refusal.value)
    assert refusal.value.__cause__ is None


def test_the_same_key_twice_is_refused() -> None:
    setting = Secret(",".join(key.encoded() for key in (NEW_KEY, OLD_KEY, NEW_KEY)))

    with pytest.raises(MasterKeysInvalid, match=r"^Master key 3 is the same as master key 1\.$"):
        parse_master_keys(setting)


def test_neither_str_nor_repr_shows_a_key() -> None:
    vault = Vault([NEW_KEY, OLD_KEY])

    printed = f"{vault!r} {vault} {NEW_KEY!r} {NEW_KEY}"

    for key in (NEW_KEY, OLD_KEY):
        assert key.encoded() not in printed
        assert key.value.hex() not in printed
        assert repr(key.value) not in printed
