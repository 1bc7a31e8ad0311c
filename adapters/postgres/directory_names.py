"""What the directory of an organization calls its people, as a part of other statements.

That is its SCIM directory, which names members; else what a connection of the organization has called the person last.
"""

from typing import Final

# What a SCIM directory says of names, of `p` in `scim_profiles`.
_OF_SCIM: Final = """
    coalesce(nullif({p}.display_name, ''), nullif({p}.formatted_name, ''), nullif({p}.given_name, ''),
             nullif({p}.family_name, ''))
"""
_LAST_SAID: Final = """
    SELECT   name, given_name, family_name
    FROM     identities
    WHERE    user_id = {user_id} AND organization_id = {organization_id} AND connection_id IS NOT NULL
      AND    coalesce(name, given_name, family_name) IS NOT NULL
    ORDER BY used_at DESC, id
    LIMIT    1
"""
# Joins what a connection has said, as `said`, where `p`, which is joined before, says nothing.
SAID: Final = f"LEFT JOIN LATERAL ({_LAST_SAID}) said ON {_OF_SCIM.format(p='p')} IS NULL"
NAMES: Final = """
    p.display_name, coalesce(p.formatted_name, said.name) AS formatted_name,
    coalesce(p.given_name, said.given_name) AS given_name, coalesce(p.family_name, said.family_name) AS family_name
"""
# As `PersonNames` of `core/accounts/names.py` decides it.
DIRECTORY_NAME: Final = f"""
    coalesce(
        (SELECT coalesce(nullif(display_name, ''), nullif(formatted_name, ''),
                         nullif(concat_ws(' ', nullif(given_name, ''), nullif(family_name, '')), ''))
         FROM   scim_profiles
         WHERE  organization_id = {{organization_id}} AND user_id = {{user_id}}),
        (SELECT coalesce(name, concat_ws(' ', given_name, family_name)) FROM ({_LAST_SAID}) said))
"""
