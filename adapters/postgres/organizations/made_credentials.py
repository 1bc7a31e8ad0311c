"""Who made the credentials of organizations, from the tables of the credentials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, LiteralString
from urllib.parse import urlsplit
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.organizations.made_credentials import MadeCredential, MadeCredentialKind
from core.tables import PartialTable

# The statements that store the maker of a kind.
_SET_MAKER: Final[PartialTable[MadeCredentialKind, LiteralString]] = PartialTable(
    {
        MadeCredentialKind.SIEM_STREAM: (
            "UPDATE siem_streams SET made_by = %s, made_at = %s WHERE organization_id = %s AND id = %s"
        ),
        MadeCredentialKind.WEBHOOK: (
            "UPDATE webhooks SET made_by = %s, made_at = %s WHERE organization_id = %s AND id = %s"
        ),
        MadeCredentialKind.CONNECTION: (
            "UPDATE upstream_connections SET made_by = %s, made_at = %s WHERE organization_id = %s AND id = %s"
        ),
        MadeCredentialKind.CLIENT_SECRET: (
            "UPDATE services SET client_secret_made_by = %s, client_secret_made_at = %s"
            " WHERE organization_id = %s AND id = %s"
        ),
    }
)
# Every valid credential that names its maker. Of a URL only the host is shown: its path or query may contain a secret.
VALID: Final = """
    SELECT 'SCIM token' AS kind, organization_id, created_by AS made_by, prefix AS label, NULL AS url,
           NULL::uuid AS service_id, NULL::text[] AS permissions, maker_role AS kept_role,
           maker_permissions AS kept_permissions
    FROM   scim_tokens
    WHERE  expires_at IS NULL OR expires_at > %(now)s
    UNION  ALL
    SELECT 'API key', k.organization_id, k.created_by, k.prefix || ' of the service ' || s.slug, NULL, s.id,
           k.permissions, NULL, NULL
    FROM   api_keys k
    JOIN   services s ON s.organization_id = k.organization_id AND s.id = k.service_id
    WHERE  k.expires_at IS NULL OR k.expires_at > %(now)s
    UNION  ALL
    SELECT 'workload', w.organization_id, w.created_by, 'of the service ' || s.slug || ', at ', w.issuer, s.id,
           NULL, NULL, NULL
    FROM   workloads w
    JOIN   services s ON s.organization_id = w.organization_id AND s.id = w.service_id
    UNION  ALL
    SELECT 'SIEM stream', organization_id, made_by, 'to ', endpoint, NULL, NULL, NULL, NULL
    FROM   siem_streams
    UNION  ALL
    SELECT 'webhook', organization_id, made_by, 'to ', url, NULL, NULL, NULL, NULL
    FROM   webhooks
    UNION  ALL
    SELECT 'connection', organization_id, made_by, 'to ', coalesce(issuer, ''), NULL, NULL, NULL, NULL
    FROM   upstream_connections
    UNION  ALL
    SELECT 'client secret', organization_id, client_secret_made_by, 'of the service ' || slug, NULL, id, NULL, NULL,
           NULL
    FROM   services
    WHERE  client_secret_hash IS NOT NULL
"""
OF_MAKERS: Final = f"""
    SELECT   c.kind, c.label, c.url, u.email AS maker_email
    FROM     ({VALID}) AS c
    JOIN     users u ON u.id = c.made_by
    WHERE    c.organization_id = %(organization_id)s AND c.made_by = ANY (%(user_ids)s)
    ORDER BY u.email, c.kind, c.label, c.url
"""


class PostgresMadeCredentials(Aggregate):
    """The port `MadeCredentials`."""

    def set_maker(self, kind: MadeCredentialKind, organization_id: UUID, credential_id: UUID, user_id: UUID) -> None:
        statement = _SET_MAKER.get(kind)
        assert statement is not None, f"a credential of this kind keeps the maker that made it: {kind.value}"
        self._connection.execute_later(statement, (user_id, self._transaction.now, organization_id, credential_id))

    def of_makers(self, organization_id: UUID, user_ids: Sequence[UUID]) -> Sequence[MadeCredential]:
        return self._all(
            _credential,
            OF_MAKERS,
            {"organization_id": organization_id, "user_ids": list(user_ids), "now": self._transaction.now},
        )


def label_of(label: str, url: str | None) -> str:
    """Return the label of a credential, with the host of its URL if it has one."""
    if url is None:
        return label
    try:
        host = urlsplit(url).hostname
    except ValueError:
        # The entity id of a SAML provider may be any text.
        host = None
    return label + (host or "a provider without an address")


def _credential(*, kind: str, label: str, url: str | None, maker_email: str) -> MadeCredential:
    return MadeCredential(kind=MadeCredentialKind(kind), label=label_of(label, url), maker_email=maker_email)
