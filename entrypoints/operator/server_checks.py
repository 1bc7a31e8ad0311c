"""The checks of `gatehouse doctor` on the PostgreSQL in the settings: version, TLS, our role, room, settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from entrypoints.deprecations import in_use
from entrypoints.operator import server_settings
from entrypoints.shared.platform.checks import Finding

if TYPE_CHECKING:
    from entrypoints.database import ServerFacts

# The newest version that Gatehouse is tested with: the embedded database's.
NEWEST_TESTED: Final = 18
# Beside its pool, a process has a connection that listens, and another one for a moment while it starts.
CONNECTIONS_BESIDE_POOL: Final = 2
_PAGE: Final = "ops/docs/production.md"


def findings(facts: ServerFacts, *, pool_size: int) -> Iterator[Finding]:
    """Yield a finding for each subject."""
    yield _version(facts)
    yield _encryption(facts)
    yield _role(facts)
    yield _room(facts, pool_size)
    yield from server_settings.findings(facts.settings, role=facts.role)


def _version(facts: ServerFacts) -> Finding:
    major, minor = divmod(facts.version, 10_000)
    if deprecated := in_use([f"PostgreSQL {major}"]):
        return Finding("PostgreSQL", True, f"version {major}.{minor}. {deprecated[0].sentence}", deprecated[0].instead)
    advice = (
        f"Gatehouse was tested up to PostgreSQL {NEWEST_TESTED}; look into the changelog for a newer version of it."
        if major > NEWEST_TESTED
        else ""
    )
    return Finding("PostgreSQL", True, f"version {major}.{minor}", advice)


def _encryption(facts: ServerFacts) -> Finding:
    if facts.is_local:
        return Finding("database TLS", True, "not needed: the connection does not leave this machine")
    advice = f"Set sslmode=verify-full and sslrootcert in GATEHOUSE_DATABASE_URL; see {_PAGE}, TLS to the database."
    if not facts.is_encrypted:
        what = "the connection is not encrypted: passwords and tokens cross the network in the clear"
        return Finding("database TLS", True, what, advice, is_for_production=False)
    if not facts.is_verified:
        whose = (
            "its authority is checked, its name is not" if facts.is_authority_checked else "no certificate is checked"
        )
        what = f"encrypted, but another server could answer: {whose}"
        return Finding("database TLS", True, what, advice, is_for_production=False)
    return Finding("database TLS", True, "encrypted, and the server is verified")


def _role(facts: ServerFacts) -> Finding:
    advice = f"Let the server connect as a role that only reads and writes rows; see {_PAGE}, The role of the server."
    if facts.is_superuser:
        what = f"{facts.role} is a superuser, who can read files and run programs on the database's machine"
        return Finding("database role", True, what, advice, is_for_production=False)
    if facts.owns_tables:
        return Finding("database role", True, f"{facts.role} owns the tables, and could drop them", advice)
    return Finding("database role", True, f"{facts.role} reads and writes rows, and owns nothing")


def _room(facts: ServerFacts, pool_size: int) -> Finding:
    of_a_process = pool_size + CONNECTIONS_BESIDE_POOL
    free = facts.connections_max - facts.connections_of_others
    processes = max(0, free // of_a_process)
    what = (
        f"room for {processes} processes with {of_a_process} each: {facts.connections_max} are allowed, and others use"
        f" {facts.connections_of_others}"
    )
    if processes:
        return Finding("database room", True, what)
    advice = "Raise max_connections of PostgreSQL, or lower GATEHOUSE_DATABASE_CONNECTIONS."
    return Finding("database room", False, what, advice)
