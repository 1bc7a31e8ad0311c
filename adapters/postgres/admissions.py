"""What vendors have for their customers among what is an organization's own, as parts of other statements.

It belongs to internal organizations (`core/customers/setup_callers.py`), which no person sees. What reads one
organization by its id needs none of these parts: an internal one is read so by what acts in it alone. What reads by a
person, a domain or a slug, or lists organizations, leaves it out. Where an admission counts like a membership, a
statement has none of these parts either, and `tests/adapters/statements/test_admissions.py` says why.
"""

from __future__ import annotations

from typing import Final, LiteralString

# For a statement with a single `organizations`: not an internal one.
IS_SHOWN: Final = "internal_of IS NULL"
# For a statement with a single `memberships`: a real membership, and no admission to the service of a customer record.
IS_MEMBERSHIP: Final = "made_for IS NULL"


def is_shown(organization: LiteralString) -> LiteralString:
    """Return whether an organization is one that people see."""
    return f"{organization}.{IS_SHOWN}"


def is_membership(membership: LiteralString) -> LiteralString:
    """Return whether a row of memberships is a membership, and no admission to the service of a customer record."""
    return f"{membership}.{IS_MEMBERSHIP}"
