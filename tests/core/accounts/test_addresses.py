"""Addresses that are reserved for the account that may get them back (decisions 3.10)."""

from __future__ import annotations

import re
from pathlib import Path

import core

SETS_AN_ADDRESS = re.compile(r"\busers\.(?:add|set_email)\(")


def test_every_module_that_sets_an_address_checks_whether_it_is_reserved() -> None:
    """The bulk import checks it in its statement (`adapters/postgres/accounts/user_import.py`)."""
    root = Path(core.__file__).parent
    sources = {path.relative_to(root).as_posix(): path.read_text() for path in root.rglob("*.py")}
    setting = {name for name, source in sources.items() if SETS_AN_ADDRESS.search(source)}

    assert setting >= {"accounts/registration.py", "accounts/email_changes.py", "platform/owners.py"}
    assert {name for name in setting if "addresses.is_reserved(" not in sources[name]} == set()
