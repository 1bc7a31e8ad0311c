"""What the directory of an organization calls its members, as a part of other statements."""

from typing import Final

# As `PersonNames` of `core/accounts/names.py` decides it.
DIRECTORY_NAME: Final = """
    (SELECT coalesce(nullif(display_name, ''), nullif(formatted_name, ''),
                     nullif(concat_ws(' ', nullif(given_name, ''), nullif(family_name, '')), ''))
     FROM   scim_profiles
     WHERE  organization_id = {organization_id} AND user_id = {user_id})
"""
