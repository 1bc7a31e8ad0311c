"""A chain verifies as long as nothing in it was changed, removed or put in between; every attack names an entry."""

from __future__ import annotations

import copy
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.audit.chain import FIRST_HASH, digest_of, hash_of, personal_fields
from core.audit.chain_verification import ChainBroken, ChainVerifier, KeptHead, wrong_field_of_proof

Line: TypeAlias = dict[str, Any]
Attack: TypeAlias = Callable[[list[Line]], object]

ANONYMIZED = "anonymized-20260203040506000007@deleted.local"
SALT = "0f" * 16


def chained(lines: list[Line]) -> list[Line]:
    """Give lines their positions, digests and hashes."""
    previous_hash = FIRST_HASH
    for position, line in enumerate(lines, start=1):
        line["position"] = position
        line["salts"] = dict.fromkeys(personal_fields(line), SALT)
        line["digests"] = {name: digest_of(SALT, value) for name, value in personal_fields(line).items()}
        line["previous_hash"] = previous_hash
        line["hash"] = previous_hash = hash_of(previous_hash, line)
    return lines


def log(length: int = 5) -> list[Line]:
    """Return the chain of a log."""
    began_at = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
    return chained(
        [
            {
                "id": str(UUID(int=number)),
                "org_id": str(UUID(int=99)),
                "actor_user_id": str(UUID(int=98)) if number % 2 else None,
                "action": "user.invited",
                "target_type": "user",
                "target_id": str(number),
                "ip_address": "203.0.113.7" if number % 2 else None,
                "user_agent": "curl/8.5" if number % 2 else None,
                "success": True,
                "details": {"invited_email": f"user{number}@example.com", "role": "member", "n": [number, 1.5]},
                "created_at": (began_at + timedelta(seconds=number)).isoformat(),
            }
            for number in range(1, length + 1)
        ]
    )


def end_of(lines: list[Line]) -> KeptHead:
    """Return what the proof of a chain names."""
    return KeptHead(position=len(lines), hash=lines[-1]["hash"] if lines else FIRST_HASH)


def verified(lines: list[Line], end: KeptHead, *kept: KeptHead) -> ChainVerifier:
    """Verify a chain against its end."""
    verifier = ChainVerifier()
    for head in kept:
        verifier.require_kept(head)
    for line in lines:
        verifier.check(line)
    verifier.finish(end)
    return verifier


@pytest.mark.parametrize("length", [0, 1, 5])
def test_an_unchanged_chain_fits(length: int) -> None:
    lines = log(length)

    assert verified(lines, end_of(lines)).position == length


def swap(lines: list[Line]) -> None:
    lines[1], lines[2] = lines[2], lines[1]


def swap_places(lines: list[Line]) -> None:
    """Swap two entries and leave each place its position and its hash."""
    kept = ("position", "previous_hash", "hash", "digests", "salts")
    first, second = ({name: line[name] for name in kept} for line in lines[1:3])
    lines[1], lines[2] = lines[2] | first, lines[1] | second


def change_detail_and_digest(lines: list[Line]) -> None:
    lines[1]["details"]["role"] = "owner"
    lines[1]["digests"]["details.role"] = digest_of(SALT, "owner")


def change_detail_and_hash(lines: list[Line]) -> None:
    change_detail_and_digest(lines)
    lines[1]["hash"] = hash_of(lines[1]["previous_hash"], lines[1])


def delete_salt(lines: list[Line]) -> None:
    del lines[2]["salts"]["ip_address"]
    lines[2]["ip_address"] = "198.51.100.1"


def delete_salt_of_user_agent(lines: list[Line]) -> None:
    del lines[2]["salts"]["user_agent"]
    lines[2]["user_agent"] = "Mozilla"


def delete_salt_of_detail(lines: list[Line]) -> None:
    del lines[1]["salts"]["details.role"]
    lines[1]["details"]["role"] = "owner"


def forge(lines: list[Line]) -> None:
    """Put an entry in between that has a hash of its own."""
    forged = lines[1] | {"id": str(UUID(int=7))}
    lines.insert(1, forged | {"hash": hash_of(forged["previous_hash"], forged)})


ATTACKS: dict[str, tuple[Attack, str]] = {
    "two lines swapped": (swap, "Entry 2 was removed"),
    "two entries swapped": (swap_places, "Entry 2 (00000000-0000-0000-0000-000000000003) was changed"),
    "the first removed": (lambda lines: lines.pop(0), "Entry 1 was removed"),
    "one removed": (lambda lines: lines.pop(2), "Entry 3 was removed"),
    "the last removed": (lambda lines: lines.pop(), "Entry 5 was removed"),
    "all removed": (lambda lines: lines.clear(), "Entry 1 was removed"),
    "a copy put in between": (lambda lines: lines.insert(2, lines[1]), "was put in between, after entry 2"),
    "an entry put in between": (forge, "Entry 00000000-0000-0000-0000-000000000002 was put in between, after entry 2"),
    "an entry without a position put in between": (
        lambda lines: lines.insert(2, lines[1] | {"position": None}),
        "was put in between, after entry 2",
    ),
    "one appended": (
        lambda lines: lines.append(
            chained([*copy.deepcopy(lines), {**lines[0], "details": {}}])[-1],
        ),
        "Entry 6 was put in between",
    ),
    "an action changed": (lambda lines: lines[3].update(action="user.joined"), "Entry 4 "),
    "a time changed": (lambda lines: lines[3].update(created_at="2026-02-03T04:05:07Z"), "it does not fit its hash"),
    "an actor changed": (lambda lines: lines[3].update(actor_user_id=None, org_id="x"), "it does not fit its hash"),
    "a detail changed": (
        lambda lines: lines[1]["details"].update(role="owner"),
        "the field details.role does not fit its digest",
    ),
    "a detail and its digest changed": (change_detail_and_digest, "it does not fit its hash"),
    "a detail, its digest and the hash changed": (change_detail_and_hash, "Entry 3 "),
    "a detail removed": (lambda lines: lines[1]["details"].pop("role"), "details.role was added or removed"),
    "a detail added": (lambda lines: lines[1]["details"].update(x=1), "the field details.x was added or removed"),
    "an origin removed": (lambda lines: lines[0].update(ip_address=None), "ip_address was added or removed"),
    "an origin changed": (lambda lines: lines[0].update(user_agent="x"), "user_agent does not fit its digest"),
    "an address without its salt": (delete_salt, "the field ip_address has no salt, but is not anonymized"),
    "a user agent without its salt": (delete_salt_of_user_agent, "user_agent has no salt, but is not anonymized"),
    "a detail without its salt": (delete_salt_of_detail, "details.role has no salt, but is not anonymized"),
    "a field missing": (lambda lines: lines[1].pop("target_id"), "it is not in the form of an entry"),
    "details of another form": (lambda lines: lines[1].update(details=[]), "it is not in the form of an entry"),
    "salts of another form": (lambda lines: lines[0]["salts"].update(ip_address=7), "not in the form of an entry"),
    "a salt that is no salt": (lambda lines: lines[0]["salts"].update(ip_address="x"), "not in the form of an entry"),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_names_the_first_entry_that_does_not_fit(attack: str) -> None:
    lines = log()
    end = end_of(lines)
    change, sentence = ATTACKS[attack]
    change(lines)

    with pytest.raises(ChainBroken) as broken:
        verified(lines, end)

    assert sentence in str(broken.value)


def rewritten() -> list[Line]:
    """Return the log with another entry 3, and with all hashes after it computed anew."""
    lines = log()
    lines[2]["details"]["role"] = "owner"
    return chained(lines)


def test_a_log_that_was_rewritten_to_its_end_fits_itself_but_not_an_earlier_proof() -> None:
    earlier = KeptHead(position=4, hash=log()[3]["hash"])
    lines = rewritten()

    assert verified(lines, end_of(lines)).position == 5
    with pytest.raises(ChainBroken, match=r"Entry 4 .* does not have the hash that was proved"):
        verified(lines, end_of(lines), earlier)


def test_a_log_that_was_rewritten_with_fewer_entries_does_not_fit_an_earlier_proof() -> None:
    lines = log()
    shorter = chained(log()[:3])

    with pytest.raises(ChainBroken, match=r"Entry 4 was removed: the log had 5 entries\."):
        verified(shorter, end_of(shorter), end_of(lines))


def test_the_head_of_another_chain_does_not_fit() -> None:
    lines = log()

    with pytest.raises(ChainBroken, match="Entry 5 was changed: the head of the chain has another hash"):
        verified(lines, KeptHead(position=5, hash=FIRST_HASH))


def test_an_earlier_proof_of_the_same_chain_fits() -> None:
    lines = log()

    assert verified(lines, end_of(lines), end_of(lines[:2]), end_of(lines)).position == 5


def test_a_chain_fits_after_an_anonymization() -> None:
    lines = log()
    lines[0] |= {"ip_address": "0.0.0.0", "user_agent": "anonymized"}
    lines[0]["details"]["invited_email"] = ANONYMIZED
    for name in ("ip_address", "user_agent", "details.invited_email"):
        del lines[0]["salts"][name]

    verifier = verified(lines, end_of(lines))

    assert (verifier.position, verifier.anonymized_fields) == (5, 3)


@given(st.data())
def test_no_single_change_of_a_covered_value_goes_unnoticed(data: st.DataObject) -> None:
    lines = log(3)
    end = end_of(lines)
    line = data.draw(st.sampled_from(lines))
    name = data.draw(st.sampled_from(sorted(line.keys() - {"salts"})))
    value = data.draw(st.none() | st.booleans() | st.integers() | st.text() | st.dictionaries(st.text(), st.text()))
    if value == line[name] and type(value) is type(line[name]):
        return
    line[name] = value

    with pytest.raises(ChainBroken):
        verified(lines, end)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda line: line["salts"].update(role=SALT.upper()), "the field role was added or removed"),
        (
            lambda line: line["salts"].update({"details.role": SALT.upper()}),
            "the salt of the field details.role is not",
        ),
        (lambda line: line["salts"].update({"details.role": f" {SALT}"}), "the salt of the field details.role is"),
        (lambda line: line.update(note="x"), "the field note was added or removed"),
    ],
)
def test_what_the_hash_does_not_cover_has_one_form(change: Callable[[Line], object], problem: str) -> None:
    lines = log()
    change(lines[0])

    with pytest.raises(ChainBroken, match=problem):
        verified(lines, end_of(lines))


def test_a_number_of_more_digits_than_a_digest_covers_is_refused() -> None:
    lines = log(1)
    lines[0]["details"]["n"] = [{"a": 2**53 + 1, "b": True}]
    chained(lines)

    with pytest.raises(ChainBroken, match=r"the field details\.n has a number of more digits"):
        verified(lines, end_of(lines))


PROOF = {"entries": 3, "sealed_through": 2, "pending": 1, "sealed_at": "2026-02-03T04:05:06Z", "head": "…"}
CLAIMS = {"entries": 3, "position": 2, "pending": 1, "sealed_at": "2026-02-03T04:05:06.000000Z"}
EARLIER_CLAIMS = {"position": 2, "sealed_at": "2026-02-03T04:05:06.000000Z"}


@pytest.mark.parametrize(
    ("change", "claims", "wrong"),
    [
        ({}, CLAIMS, None),
        ({}, EARLIER_CLAIMS, None),
        ({"sealed_at": None}, CLAIMS | {"sealed_at": None}, None),
        ({"entries": 4}, CLAIMS, "entries"),
        ({"sealed_through": True}, CLAIMS | {"position": 1}, "sealed_through"),
        ({"sealed_at": "2026-02-03t04:05:06Z"}, CLAIMS, "sealed_at"),
        ({"note": 1}, CLAIMS, "note"),
        ({"entries": 4}, EARLIER_CLAIMS, "pending"),
    ],
)
def test_the_plain_fields_of_a_proof_say_what_its_head_says(
    change: dict[str, Any], claims: dict[str, Any], wrong: str | None
) -> None:
    assert wrong_field_of_proof(PROOF | change, claims) == wrong


def test_a_plain_field_that_is_missing_is_wrong() -> None:
    assert wrong_field_of_proof({"head": "…"}, CLAIMS) == "entries"
