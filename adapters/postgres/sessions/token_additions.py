"""What the records of services add to tokens, as columns of statements about a session `s` at a service `v`."""

from __future__ import annotations

from typing import Any, Final

from core.sessions.token_additions import OwnScopes, TokenAdditions

# One column for a service with scopes of its own; nothing is read for any other.
ADDITIONS: Final = """
    CASE WHEN v.scopes <> '[]' THEN jsonb_build_object(
        'registered', jsonb_path_query_array(v.scopes, '$[*].name'),
        'of_roles', coalesce((SELECT jsonb_object_agg(named.slug, named.scopes)
                              FROM   organization_roles named
                              WHERE  named.organization_id = s.organization_id AND named.scopes <> '{}'), '{}'),
        'of_service_roles', coalesce((SELECT jsonb_object_agg(named ->> 'name', named -> 'scopes')
                                      FROM   jsonb_array_elements(v.roles) AS named
                                      WHERE  named ? 'scopes'), '{}'))
    END AS own_scopes
"""


def additions_row(*, own_scopes: dict[str, Any] | None) -> TokenAdditions:
    """Return the additions of a row with the columns of `ADDITIONS`."""
    return TokenAdditions(scopes=OwnScopes(**own_scopes) if own_scopes is not None else None)
