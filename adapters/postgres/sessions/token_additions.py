"""What the records of services say of tokens alone, as columns of statements about a session `s` of a user `u`.

The statements have its organization `o`, its service `v`, and the membership `m` that counts there, as `LIVE` joins
them. Nothing is read for a service without scopes and claims of its own. Every table is read by a unique key, or by the
index of one person.
"""

from __future__ import annotations

from typing import Any, Final, LiteralString

from adapters.postgres.affiliations import DIRECTORY_NAME, SAID, TOLD_FAMILY_NAME, TOLD_GIVEN_NAME
from core.sessions.claim_sources import ClaimFacts, OwnClaim
from core.sessions.token_additions import NO_ADDITIONS, OwnScopes, TokenAdditions

_SCOPES: Final = """
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
# What the directory of the service's organization calls the person.
_NAME: Final = DIRECTORY_NAME.format(organization_id="s.organization_id", user_id="s.user_id")
# The person's data in the directory of the context: the customer's, if it is shared, or the organization's.
_DIRECTORY: Final = f"""
    (SELECT jsonb_build_object(
                'display_name', coalesce(nullif(p.display_name, ''), nullif(p.formatted_name, ''), said.name),
                'given_name', coalesce({TOLD_GIVEN_NAME}, said.given_name),
                'family_name', coalesce({TOLD_FAMILY_NAME}, said.family_name),
                'external_id', p.external_id)
     FROM   (SELECT s.organization_id WHERE s.customer_id IS NULL
             UNION ALL
             SELECT c.organization_id
             FROM   service_customers c
             WHERE  c.id = s.customer_id AND c.vendor_id = s.organization_id AND c.service_id = s.service_id
               AND  c.shares_directory) AS shown
     LEFT   JOIN memberships dm  ON dm.organization_id = shown.organization_id AND dm.user_id = s.user_id
                                AND dm.suspended_at IS NULL AND {{counts}}
     LEFT   JOIN scim_profiles p ON p.organization_id = dm.organization_id AND p.user_id = dm.user_id
     {SAID.format(organization_id="shown.organization_id", user_id="s.user_id")})
"""
# Of a member, where the record of the service names none; one more than a token names.
_GROUPS: Final = """
    CASE WHEN v.group_claims = '{}' AND s.customer_id IS NULL THEN coalesce((
        SELECT jsonb_agg(jsonb_build_object('id', named.id, 'name', named.display_name)
                         ORDER BY lower(named.display_name), named.id)
        FROM   (SELECT g.id, g.display_name
                FROM   directory_group_members i
                JOIN   directory_groups g ON g.organization_id = i.organization_id AND g.id = i.group_id
                WHERE  i.organization_id = m.organization_id AND i.user_id = m.user_id
                LIMIT  101) AS named), '[]') END
"""
OF_CUSTOMER: Final = """
    (SELECT jsonb_build_object('metadata', c.metadata, 'shares_directory', c.shares_directory)
     FROM   service_customers c
     WHERE  c.id = s.customer_id AND c.vendor_id = s.organization_id AND c.service_id = s.service_id)
"""
USER_METADATA: Final = """
    (SELECT d.metadata
     FROM   service_user_metadata d
     WHERE  d.organization_id = s.organization_id AND d.service_id = s.service_id AND d.user_id = s.user_id)
"""


_OBJECTS: Final = ("organization_metadata", "user_metadata", "directory")


def additions(counts: LiteralString, *, reads_always: bool = False) -> LiteralString:
    """Return the columns; `counts` says whether a membership `dm` of the user counts in the session.

    With `reads_always` they have what sources know also for a service without claims.
    """
    has_claims = "true" if reads_always else "v.claims <> '[]'"
    return f"""
        v.token_signing AS "service.token_signing",
        {_SCOPES},
        CASE WHEN {has_claims} THEN jsonb_build_object(
            'claims', v.claims,
            'name', coalesce(nullif(u.name, ''), {_NAME}),
            'organization_name', o.name,
            'tier', (SELECT t.name FROM tiers t WHERE t.id = o.tier_id),
            'organization_metadata', o.metadata,
            'user_metadata', {USER_METADATA},
            'customer', {OF_CUSTOMER},
            'directory', {_DIRECTORY.format(counts=counts)},
            'groups', {_GROUPS})
        END AS own_claims
    """


def additions_row(*, own_scopes: dict[str, Any] | None, own_claims: dict[str, Any] | None) -> TokenAdditions:
    """Return the additions of a row with the columns of `additions`."""
    if own_scopes is None and own_claims is None:
        return NO_ADDITIONS
    scopes = OwnScopes(**own_scopes) if own_scopes is not None else None
    if own_claims is None:
        return TokenAdditions(scopes=scopes)
    claims = claims_row(own_claims.pop("claims"))
    customer: dict[str, Any] = own_claims.pop("customer") or {}
    noted: dict[str, dict[str, Any]] = {name: own_claims.pop(name) or {} for name in _OBJECTS}
    facts = ClaimFacts(
        customer_metadata=customer.get("metadata", {}),
        shares_directory=customer.get("shares_directory", False),
        **noted,
        **own_claims,
    )
    return TokenAdditions(scopes=scopes, claims=claims, facts=facts)


def claims_row(stored: list[dict[str, Any]]) -> list[OwnClaim]:
    """Return the claims of a service, as they are stored."""
    return [OwnClaim(claim=one["claim"], source=one["from"], in_access_token=one["in_access_token"]) for one in stored]
