"""Addresses that are kept for whom they may yet go back to (decisions 3.10)."""

from __future__ import annotations

import re
from pathlib import Path

import core

GIVES_AN_ADDRESS = re.compile(r"\busers\.(?:add|set_email)\(")


def test_whoever_gives_an_account_an_address_asks_whether_it_is_promised_to_another() -> None:
    """What brings accounts in bulk asks in its statement (`adapters/postgres/accounts/user_import.py`)."""
    root = Path(core.__file__).parent
    sources = {path.relative_to(root).as_posix(): path.read_text() for path in root.rglob("*.py")}
    giving = {name for name, source in sources.items() if GIVES_AN_ADDRESS.search(source)}

    assert giving >= {"accounts/registration.py", "accounts/email_changes.py", "platform/owners.py"}
    assert {name for name in giving if "addresses.is_promised(" not in sources[name]} == set()
