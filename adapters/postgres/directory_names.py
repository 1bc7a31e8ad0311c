"""The names that the directory of an organization has for its people, as parts of statements.

The directory is SCIM, which names members; else the connection of the organization that the person last signed in by.
A name that was derived from an address came from no directory: only the answers of SCIM contain it.
"""

from typing import Final

# The names from a SCIM directory, of a row `p` of `scim_profiles`.
TOLD_GIVEN_NAME: Final = "nullif(nullif(p.given_name, p.made_given_name), '')"
TOLD_FAMILY_NAME: Final = "nullif(nullif(p.family_name, p.made_family_name), '')"
_OF_SCIM: Final = f"""
    coalesce(nullif(p.display_name, ''), nullif(p.formatted_name, ''), {TOLD_GIVEN_NAME}, {TOLD_FAMILY_NAME})
"""
_LAST_SAID: Final = """
    SELECT   name, given_name, family_name
    FROM     identities
    WHERE    user_id = {user_id} AND organization_id = {organization_id} AND connection_id IS NOT NULL
      AND    coalesce(name, given_name, family_name) IS NOT NULL
    ORDER BY used_at DESC, id
    LIMIT    1
"""
# Joins the names from a connection, as `said`, where `p`, which is joined before, has none.
SAID: Final = f"LEFT JOIN LATERAL ({_LAST_SAID}) said ON {_OF_SCIM} IS NULL"
NAMES: Final = f"""
    p.display_name, coalesce(p.formatted_name, said.name) AS formatted_name,
    coalesce({TOLD_GIVEN_NAME}, said.given_name) AS given_name,
    coalesce({TOLD_FAMILY_NAME}, said.family_name) AS family_name
"""
# As `PersonNames` of `core/accounts/names.py` decides it.
DIRECTORY_NAME: Final = f"""
    coalesce(
        (SELECT coalesce(nullif(display_name, ''), nullif(formatted_name, ''),
                         nullif(concat_ws(' ', nullif(nullif(given_name, made_given_name), ''),
                                          nullif(nullif(family_name, made_family_name), '')), ''))
         FROM   scim_profiles
         WHERE  organization_id = {{organization_id}} AND user_id = {{user_id}}),
        (SELECT coalesce(name, concat_ws(' ', given_name, family_name)) FROM ({_LAST_SAID}) said))
"""
