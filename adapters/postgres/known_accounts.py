"""The account that an organization knows by an id, as a part of statements (`ports/accounts/accounts.py`)."""

from typing import Final, LiteralString

# The account that an id means to an organization: `organization_id` and `id`, by their names or in this order, twice.
ACCOUNT: Final[LiteralString] = """
    coalesce((SELECT user_id FROM known_account_ids WHERE organization_id = %s AND known_id = %s), %s)
"""
NAMED_ACCOUNT: Final[LiteralString] = """
    coalesce((SELECT user_id FROM known_account_ids WHERE organization_id = %(organization_id)s AND known_id = %(id)s),
             %(id)s)
"""
