"""SAML configurations in their table, and the identity providers that they make."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from adapters.postgres.affiliations import DIRECTORY_NAME
from adapters.postgres.driver.columns import assignments, columns, placeholders, values
from adapters.postgres.transaction import Aggregate
from core.organizations.organizations import OrganizationStatus
from core.saml.configuration import ConfigurationView, LogoutBinding, SamlConfiguration
from core.saml.identity_providers import SamlProvider
from core.saml.messages import NameIdFormat
from core.saml.requests import LastContact
from core.saml.visits import AdmissionStanding
from core.services.services import Service

if TYPE_CHECKING:
    from core.deferred import Deferred

_CONFIGURATION: Final = columns(SamlConfiguration, table="c")
_VIEW: Final = f"""
    SELECT {_CONFIGURATION},
           EXISTS (SELECT FROM saml_certificates
                   WHERE  organization_id = c.organization_id AND service_id = c.service_id AND is_active)
               AS has_certificate
    FROM   saml_configurations c
    WHERE  c.organization_id = %s AND c.service_id = %s
"""
_HAS_CERTIFICATE: Final = """
    SELECT EXISTS (SELECT FROM saml_certificates WHERE organization_id = %s AND service_id = %s AND is_active)
"""
_PROVIDER: Final = f"""
    SELECT {_CONFIGURATION}, o.slug AS organization_slug, o.name AS organization_name,
           o.status AS organization_status, s.slug AS service_slug, s.name AS service_name,
           s.customers <> 'none' AS serves_customers, s.claims <> '[]' AS has_claims,
           EXISTS (SELECT FROM saml_certificates
                   WHERE  organization_id = c.organization_id AND service_id = c.service_id AND is_active)
               AS has_certificate
    FROM   saml_configurations c
    JOIN   organizations o ON o.id = c.organization_id AND o.status <> 'deleting'
    JOIN   services s      ON s.organization_id = c.organization_id AND s.id = c.service_id
"""
PROVIDER_BY_SLUGS: Final = f"{_PROVIDER} WHERE o.slug = %s AND s.slug = %s"
PROVIDER_BY_ID: Final = f"{_PROVIDER} WHERE c.organization_id = %s AND c.service_id = %s"
_NAMES: Final = ("organization_slug", "organization_name", "service_slug", "service_name")
STANDING: Final = f"""
    SELECT    m.role, m.confirmed_at IS NOT NULL AS is_confirmed, m.suspended_at IS NOT NULL AS is_suspended,
              coalesce(nullif(u.name, ''),
                       {DIRECTORY_NAME.format(organization_id="%(organization_id)s", user_id="u.id")}) AS name,
              EXISTS (SELECT FROM service_users
                      WHERE  service_id = %(service_id)s AND user_id = u.id
                        AND  organization_id = %(organization_id)s AND origin = 'key') AS is_linked,
              EXISTS (SELECT FROM service_users
                      WHERE  organization_id = %(organization_id)s AND user_id = u.id
                        AND  last_login_at IS NOT NULL) AS has_used,
              u.created_by_organization_id IS NOT DISTINCT FROM %(organization_id)s AS is_own,
              CASE WHEN v.group_claims <> '{{}}' THEN ARRAY(
                  SELECT   g.display_name
                  FROM     directory_group_members i
                  JOIN     directory_groups g ON g.organization_id = i.organization_id AND g.id = i.group_id
                  WHERE    i.organization_id = m.organization_id AND i.user_id = m.user_id
                    AND    m.suspended_at IS NULL
                    AND    ('all' = ANY (v.group_claims) OR g.id::text = ANY (v.group_claims))
                  ORDER BY lower(g.display_name), g.id
                  LIMIT    101) END AS groups
    FROM      users u
    LEFT JOIN services v      ON v.organization_id = %(organization_id)s AND v.id = %(service_id)s
    LEFT JOIN memberships m   ON m.organization_id = %(organization_id)s AND m.user_id = u.id
    WHERE     u.id = %(user_id)s
"""
# What another service provider has sent says nothing about this one.
_CONTACT_OF_THE_SAME: Final = ", ".join(
    f"{name} = CASE WHEN saml_configurations.entity_id IS NOT DISTINCT FROM excluded.entity_id"
    f" THEN saml_configurations.{name} END"
    for name in ("last_request_at", "last_error", "last_error_at")
)


class PostgresSamlConfigurations(Aggregate):
    """The port `SamlConfigurations`."""

    def view(self, service: Service) -> ConfigurationView:
        found = self._one(_view, _VIEW, (service.organization_id, service.id))
        # A certificate can be made before anything else is set.
        return found or ConfigurationView(
            configuration=SamlConfiguration(organization_id=service.organization_id, service_id=service.id),
            has_certificate=self._value(_HAS_CERTIFICATE, (service.organization_id, service.id)),
        )

    def save(self, configuration: SamlConfiguration, *, at: datetime) -> None:
        self._connection.execute_later(
            f"""
            INSERT INTO saml_configurations ({columns(SamlConfiguration)}, updated_at)
            VALUES ({placeholders(SamlConfiguration)}, %(at)s)
            ON CONFLICT (service_id) DO UPDATE
            SET    {assignments(SamlConfiguration, without=("organization_id", "service_id"))}, updated_at = %(at)s,
                   {_CONTACT_OF_THE_SAME}
            WHERE  saml_configurations.organization_id = excluded.organization_id
            """,
            values(configuration) | {"at": at},
        )

    def last_contact(self, service: Service) -> LastContact | None:
        return self._one(
            LastContact,
            """
            SELECT last_request_at, last_error, last_error_at
            FROM   saml_configurations
            WHERE  organization_id = %s AND service_id = %s
            """,
            (service.organization_id, service.id),
        )

    def record_request(self, provider: SamlProvider, *, at: datetime, unless_since: datetime) -> None:
        self._connection.execute_later(
            """
            UPDATE saml_configurations
            SET    last_request_at = %s
            WHERE  organization_id = %s AND service_id = %s
            AND    (last_request_at IS NULL OR last_request_at <= %s)
            """,
            (at, provider.organization_id, provider.service_id, unless_since),
        )

    def record_error(self, provider: SamlProvider, error: str, *, at: datetime, unless_since: datetime) -> None:
        self._connection.execute_later(
            """
            UPDATE saml_configurations
            SET    last_error = %s, last_error_at = %s
            WHERE  organization_id = %s AND service_id = %s
            AND    (last_error_at IS NULL OR last_error_at <= %s)
            """,
            (error, at, provider.organization_id, provider.service_id, unless_since),
        )


class PostgresSamlProviders(Aggregate):
    """The port `SamlProviders`."""

    def find(self, organization_slug: str, service_slug: str) -> SamlProvider | None:
        return self._one(_provider, PROVIDER_BY_SLUGS, (organization_slug, service_slug))

    def by_id(self, organization_id: UUID, service_id: UUID) -> SamlProvider | None:
        return self._one(_provider, PROVIDER_BY_ID, (organization_id, service_id))

    def defer_standing(self, provider: SamlProvider, user_id: UUID) -> Deferred[AdmissionStanding | None]:
        return self._defer_one(
            AdmissionStanding,
            STANDING,
            {"organization_id": provider.organization_id, "service_id": provider.service_id, "user_id": user_id},
        )


def _view(*, has_certificate: bool, **columns: Any) -> ConfigurationView:
    return ConfigurationView(configuration=_configuration(**columns), has_certificate=has_certificate)


def _configuration(*, name_id_format: str | None, slo_binding: str, **columns: Any) -> SamlConfiguration:
    return SamlConfiguration(
        slo_binding=LogoutBinding(slo_binding),
        name_id_format=NameIdFormat(name_id_format) if name_id_format is not None else None,
        **columns,
    )


def _provider(
    *, organization_status: str, has_certificate: bool, serves_customers: bool, has_claims: bool, **columns: Any
) -> SamlProvider:
    names = {name: columns.pop(name) for name in _NAMES}
    configuration = _configuration(**columns)
    return SamlProvider(
        organization_id=configuration.organization_id,
        organization_status=OrganizationStatus(organization_status),
        service_id=configuration.service_id,
        has_certificate=has_certificate,
        configuration=configuration,
        serves_customers=serves_customers,
        has_claims=has_claims,
        **names,
    )
