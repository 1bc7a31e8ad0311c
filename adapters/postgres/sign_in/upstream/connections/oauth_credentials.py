"""The credentials of organizations at external providers, in the table `oauth_credentials`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.accounts.sign_in_methods import Provider
from core.secrets import Secret
from core.sign_in.upstream.connections.oauth_credentials import StoredCredentials
from core.sign_in.upstream.flows import ProviderClient
from core.sign_in.upstream.providers import ExternalProvider

_SECRET: Final = {"table": "oauth_credentials", "column": "client_secret_sealed"}


class PostgresOauthCredentials(Aggregate):
    """The port `OauthCredentials`."""

    def find(self, organization_id: UUID, external: ExternalProvider) -> ProviderClient | None:
        row = self._row(
            """
            SELECT id, client_id, client_secret_sealed FROM oauth_credentials
            WHERE  organization_id = %s AND provider = %s AND issuer IS NOT DISTINCT FROM %s
            """,
            (organization_id, external.provider, external.issuer),
        )
        if row is None:
            return None
        opened = self._transaction.vault.open(row["client_secret_sealed"], row=row["id"], **_SECRET)
        return ProviderClient(client_id=row["client_id"], client_secret=Secret(opened.decode()))

    def of_organization(self, organization_id: UUID) -> Sequence[StoredCredentials]:
        return self._all(
            _stored,
            """
            SELECT provider, client_id, issuer FROM oauth_credentials WHERE organization_id = %s ORDER BY provider
            """,
            (organization_id,),
        )

    def save(self, organization_id: UUID, external: ExternalProvider, client: ProviderClient) -> None:
        assert client.client_secret is not None, "credentials at a provider have no secret"
        # A new row each time, because the secret is sealed for its id.
        self.remove(organization_id, external.provider)
        row_id = self._transaction.randomness.new_id()
        self._connection.execute_later(
            """
            INSERT INTO oauth_credentials
                   (id, organization_id, provider, issuer, client_id, client_secret_sealed, updated_at)
            VALUES (%s, %s, %s, %s, %s, %s, %s)
            """,
            (
                row_id,
                organization_id,
                external.provider,
                external.issuer,
                client.client_id,
                self._transaction.vault.seal(client.client_secret.reveal().encode(), row=row_id, **_SECRET),
                self._transaction.now,
            ),
        )

    def remove(self, organization_id: UUID, provider: Provider) -> bool:
        return self._changes_one(
            "DELETE FROM oauth_credentials WHERE organization_id = %s AND provider = %s", (organization_id, provider)
        )


def _stored(*, provider: str, client_id: str, issuer: str | None) -> StoredCredentials:
    return StoredCredentials(provider=Provider(provider), client_id=client_id, issuer=issuer)
