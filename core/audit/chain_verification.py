"""Verifying a chain of audit entries, line by line: the same for an export and for the database.

A chain alone does not show that a log was rewritten from some entry on, with all hashes after it. A proof that was kept
elsewhere shows that: compare it with the chain through `require_kept`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, cast

from core.audit.chain import COVERED, DETAIL, FIRST_HASH, digest_of, hash_of, personal_fields
from core.lazy_dataclasses import dataclass

# What anonymization writes instead of a value (`core/privacy/anonymization.py`). A field without a salt must have it,
# else deleting a salt would be enough to change a value.
ANONYMIZED_IP_ADDRESS: Final = "0.0.0.0"  # noqa: S104 - no address to listen on
ANONYMIZED_USER_AGENT: Final = "anonymized"
_ANONYMIZED_EMAIL: Final = re.compile(r"anonymized-[0-9]{20}@deleted\.local")
# Only lower case, else a change of the case would go unnoticed.
_SALT: Final = re.compile(r"([0-9a-f]{2})+")
# Up to this number each whole number is one double, as canonical JSON needs it (RFC 7493, 2.2).
_EXACT_MAX: Final = 2**53
FIELDS: Final = frozenset({*COVERED, "ip_address", "user_agent", "details", "salts", "previous_hash", "hash"})
# The plain fields of a proof, and the claims of its head that repeat them.
_PROVED: Final = {"entries": "entries", "sealed_through": "position", "pending": "pending", "sealed_at": "sealed_at"}


class ChainBroken(Exception):
    """An entry does not fit; the message says how."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptHead:
    """The position and the hash in the head of a proof."""

    position: int
    hash: str


@dataclass(slots=True)
class ChainVerifier:
    """Follows one chain from its beginning."""

    position: int = 0
    head: str = FIRST_HASH
    # Counts fields whose present values no digest covers any more.
    anonymized_fields: int = 0
    kept: list[KeptHead] = field(default_factory=list[KeptHead])

    def require_kept(self, head: KeptHead) -> None:
        """Require that the chain still contains the entry of an earlier proof; call this before `check`."""
        self.kept.append(head)

    def check(self, line: Mapping[str, Any]) -> None:
        """Check the next line; raise `ChainBroken` when it does not fit."""
        expected, found = self.position + 1, line.get("position")
        if type(found) is not int or found < expected:
            raise ChainBroken(f"Entry {line.get('id')} was put in between, after entry {self.position}.")
        if found > expected:
            raise ChainBroken(f"Entry {expected} was removed: entry {found} follows entry {self.position}.")
        name = f"Entry {found} ({line.get('id')})"
        try:
            problem = _problem_of_fields(line) or _problem_of_hash(line, self.head) or _problem_of_form(line)
            self.anonymized_fields += len(line["digests"].keys() - line["salts"].keys())
        except (AttributeError, KeyError, TypeError, ValueError):
            problem = "it is not in the form of an entry"
        if problem is not None:
            raise ChainBroken(f"{name} was changed: {problem}.")
        self.position, self.head = found, line["hash"]
        for kept in self.kept:
            if kept.position == found and kept.hash != self.head:
                raise ChainBroken(f"{name} or one before it was changed: it does not have the hash that was proved.")

    def finish(self, end: KeptHead) -> None:
        """Check that the chain ends as its head says; raise `ChainBroken` otherwise."""
        for last in (end, *self.kept):
            if last.position > self.position:
                raise ChainBroken(f"Entry {self.position + 1} was removed: the log had {last.position} entries.")
        if end.position < self.position:
            raise ChainBroken(f"Entry {end.position + 1} was put in between: the log ends with entry {end.position}.")
        if end.hash != self.head:
            raise ChainBroken(f"Entry {self.position} was changed: the head of the chain has another hash.")


def wrong_field_of_proof(fields: Mapping[str, Any], claims: Mapping[str, Any]) -> str | None:
    """Return the first plain field of a proof that its signed head does not confirm; None when it confirms all.

    Heads of earlier versions have neither `entries` nor `pending`, which then have to fit each other.
    """
    confirmed = {name: claims[claim] for name, claim in _PROVED.items() if claim in claims}
    if confirmed.get("sealed_at") is not None:
        # Plain times have a fraction only if it is not zero.
        confirmed["sealed_at"] = str(confirmed["sealed_at"]).replace(".000000Z", "Z")
    for name, value in confirmed.items():
        if name not in fields or type(fields[name]) is not type(value) or fields[name] != value:
            return name
    if unknown := sorted(fields.keys() - {*_PROVED, "head"}):
        return unknown[0]
    if "pending" in confirmed:
        return None
    is_consistent = fields["pending"] == max(0, fields["entries"] - fields["sealed_through"])
    return None if is_consistent else "pending"


def _problem_of_fields(line: Mapping[str, Any]) -> str | None:
    digests, salts = line["digests"], line["salts"]
    values = personal_fields(line)
    if unmatched := sorted(values.keys() ^ digests.keys()):
        return f"the field {unmatched[0]} was added or removed"
    for name, value in values.items():
        if name not in salts:
            if not _is_anonymized(name, value):
                return f"the field {name} has no salt, but is not anonymized"
        elif digest_of(salts[name], value) != digests[name]:
            return f"the field {name} does not fit its digest"
    return None


def _problem_of_hash(line: Mapping[str, Any], previous_hash: str) -> str | None:
    if line["previous_hash"] != previous_hash:
        return "it does not follow the entry before it"
    if hash_of(previous_hash, line) != line["hash"]:
        return "it does not fit its hash"
    return None


def _problem_of_form(line: Mapping[str, Any]) -> str | None:
    """Return where a line is written in another form than its hash and its digests cover."""
    salts, digests = line["salts"], line["digests"]
    if unknown := sorted((line.keys() ^ FIELDS) | (salts.keys() - digests.keys())):
        return f"the field {unknown[0]} was added or removed"
    if wrong := sorted(name for name, salt in salts.items() if _SALT.fullmatch(salt) is None):
        return f"the salt of the field {wrong[0]} is not in hexadecimal in lower case"
    if inexact := sorted(name for name, value in personal_fields(line).items() if _has_inexact_number(value)):
        return f"the field {inexact[0]} has a number of more digits than its digest covers"
    return None


def _has_inexact_number(value: Any) -> bool:
    match value:
        case bool():
            return False
        case int():
            return abs(value) > _EXACT_MAX
        case list():
            return any(_has_inexact_number(item) for item in cast("list[Any]", value))
        case dict():
            return any(_has_inexact_number(item) for item in cast("dict[str, Any]", value).values())
        case _:
            return False


def _is_anonymized(name: str, value: Any) -> bool:
    match name:
        case "ip_address":
            return value == ANONYMIZED_IP_ADDRESS
        case "user_agent":
            return value == ANONYMIZED_USER_AGENT
        case _:
            assert name.startswith(DETAIL), "every other personal field is a detail"
            return _ANONYMIZED_EMAIL.search(str(value)) is not None
