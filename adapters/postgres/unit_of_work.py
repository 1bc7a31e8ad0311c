"""The unit of work over one connection: an annotation for each aggregate, and the methods that record what happened.

An aggregate is created when it is first used, and kept. This module evaluates its annotations, so it has no
`from __future__ import annotations`.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from adapters.postgres.accounts.one_time_tokens import PostgresOneTimeTokens
from adapters.postgres.accounts.own_accounts import PostgresOwnAccounts
from adapters.postgres.accounts.sign_in_failures import PostgresSignInFailures
from adapters.postgres.accounts.user_import import PostgresUserImport
from adapters.postgres.accounts.users import PostgresCredentials, PostgresUsers
from adapters.postgres.audit.analytics import PostgresAnalytics
from adapters.postgres.audit.audit_log import PostgresAuditLog
from adapters.postgres.audit.chain import PostgresAuditChains
from adapters.postgres.audit.platform_audit_log import PostgresPlatformAuditLog
from adapters.postgres.audit.siem import PostgresSiemStreams
from adapters.postgres.billing.cancellations import PostgresBillingCancellations
from adapters.postgres.billing.checkout import PostgresBillingCheckouts
from adapters.postgres.billing.customers import PostgresBillingCustomers
from adapters.postgres.billing.events import PostgresBillingEvents
from adapters.postgres.billing.sandbox import PostgresSandbox
from adapters.postgres.billing.subscriptions import PostgresBillingSubscriptions
from adapters.postgres.credentials.devices import PostgresDevices
from adapters.postgres.credentials.mfa import PostgresBackupCodes, PostgresSecondFactors, PostgresTotpSecrets
from adapters.postgres.credentials.mfa_events import PostgresMfaEvents
from adapters.postgres.credentials.passkeys import PostgresPasskeyChallenges, PostgresPasskeys
from adapters.postgres.driver.connection import Connection
from adapters.postgres.events.actions import PostgresAuditEntries, PostgresPlatformAuditEntries
from adapters.postgres.events.events import PostgresEvents
from adapters.postgres.invitations.invitations import PostgresInvitations
from adapters.postgres.mail.brands import PostgresMailBrands
from adapters.postgres.mail.mail import PostgresMailCounts, PostgresMailOutbox
from adapters.postgres.mail.routed_mail import PostgresRoutedMail
from adapters.postgres.openid.authorization_codes import PostgresAuthorizationCodes
from adapters.postgres.openid.authorization_requests import PostgresAuthorizationRequests
from adapters.postgres.openid.clients import PostgresClients
from adapters.postgres.openid.device_codes import PostgresDeviceCodes
from adapters.postgres.openid.logout_notices import PostgresLogoutNotices
from adapters.postgres.openid.single_uses import PostgresSingleUses
from adapters.postgres.organizations.access import PostgresAccess
from adapters.postgres.organizations.members import PostgresMembers
from adapters.postgres.organizations.organizations import PostgresOrganizations
from adapters.postgres.organizations.relations import PostgresRelations
from adapters.postgres.organizations.roles import PostgresRoles
from adapters.postgres.organizations.settings.branding import PostgresBrandings
from adapters.postgres.organizations.settings.domain import PostgresCustomDomains
from adapters.postgres.organizations.settings.mail import PostgresMailServers
from adapters.postgres.organizations.setup_links import PostgresSetupLinks
from adapters.postgres.organizations.tiers import PostgresTiers
from adapters.postgres.platform.health_figures import PostgresFigures
from adapters.postgres.platform.housekeeping import PostgresHousekeeping
from adapters.postgres.platform.mfa import PostgresPlatformMfa
from adapters.postgres.platform.organizations import PostgresPlatformOrganizations
from adapters.postgres.platform.users import PostgresPlatformUsers
from adapters.postgres.privacy.anonymization import PostgresAnonymization
from adapters.postgres.privacy.export import PostgresPrivacyExport
from adapters.postgres.saml.certificates import PostgresSamlCertificates
from adapters.postgres.saml.configurations import PostgresSamlConfigurations, PostgresSamlProviders
from adapters.postgres.saml.logouts import PostgresSamlLogouts
from adapters.postgres.saml.requests import PostgresSamlRequests
from adapters.postgres.saml.sessions import PostgresSamlSessions
from adapters.postgres.scim.groups import PostgresScimGroups
from adapters.postgres.scim.provisioning_log import PostgresScimLog
from adapters.postgres.scim.tokens import PostgresScimTokens
from adapters.postgres.scim.users import PostgresScimUsers
from adapters.postgres.service_api.analytics import PostgresServiceFigures
from adapters.postgres.service_api.subscriptions import PostgresServiceSubscriptions
from adapters.postgres.service_api.users import PostgresServiceUsers
from adapters.postgres.services.api_keys import PostgresApiKeys
from adapters.postgres.services.end_users import PostgresEndUsers
from adapters.postgres.services.grants import PostgresServiceGrants
from adapters.postgres.services.plans import PostgresPlans
from adapters.postgres.services.services import PostgresServices
from adapters.postgres.services.subscriptions import PostgresSubscriptions
from adapters.postgres.services.verified_domains import PostgresVerifiedDomains
from adapters.postgres.sessions.browser_sessions import PostgresBrowserSessions
from adapters.postgres.sessions.client_grants import PostgresClientGrants
from adapters.postgres.sessions.server_secrets import PostgresServerSecrets
from adapters.postgres.sessions.sessions import PostgresCallers, PostgresSessions
from adapters.postgres.sessions.signing_keys import PostgresSigningKeys
from adapters.postgres.sessions.unfinished_sign_ins import PostgresUnfinishedSignIns
from adapters.postgres.sign_in.browser_returns import PostgresBrowserReturns
from adapters.postgres.sign_in.identities import PostgresIdentities
from adapters.postgres.sign_in.login_events import PostgresLoginEvents
from adapters.postgres.sign_in.mfa_challenges import PostgresMfaChallenges
from adapters.postgres.sign_in.upstream.connections import PostgresUpstreamConnections
from adapters.postgres.sign_in.upstream.credentials import PostgresOauthCredentials
from adapters.postgres.sign_in.upstream.domain_routes import PostgresDomainRoutes
from adapters.postgres.sign_in.upstream.flows import PostgresUpstreamSignIns
from adapters.postgres.transaction import Aggregate, Tools, Transaction
from adapters.postgres.webhooks.deliveries import PostgresWebhookDeliveries
from adapters.postgres.webhooks.feed import PostgresEventFeed
from adapters.postgres.webhooks.sequencing import PostgresEventSequencing
from adapters.postgres.webhooks.webhooks import PostgresWebhooks
from core.errors import TokenInvalid, Unauthorized
from core.events.actions import AuditAction
from core.events.events import EventType
from core.events.platform_actions import PlatformAction
from core.organizations.access import AccessContext
from core.scim import tokens as scim_tokens
from core.scim.tokens import PresentedToken, ScimCaller, ScimTokenInvalid
from core.services import api_keys
from core.services.api_keys import ApiKeyInvalid, PresentedKey, ServiceCaller
from core.sessions.callers import Caller, NoLongerInContext, Origin
from ports.doorbells import Bell


class PostgresUnitOfWork:
    """The port `UnitOfWork`; lives as long as its transaction."""

    audit_entries: PostgresAuditEntries
    platform_audit_entries: PostgresPlatformAuditEntries
    events: PostgresEvents
    access: PostgresAccess
    callers: PostgresCallers
    users: PostgresUsers
    credentials: PostgresCredentials
    own_accounts: PostgresOwnAccounts
    user_import: PostgresUserImport
    sessions: PostgresSessions
    browser_sessions: PostgresBrowserSessions
    unfinished_sign_ins: PostgresUnfinishedSignIns
    devices: PostgresDevices
    sign_in_failures: PostgresSignInFailures
    login_events: PostgresLoginEvents
    one_time_tokens: PostgresOneTimeTokens
    totp_secrets: PostgresTotpSecrets
    second_factors: PostgresSecondFactors
    backup_codes: PostgresBackupCodes
    passkeys: PostgresPasskeys
    passkey_challenges: PostgresPasskeyChallenges
    mfa_challenges: PostgresMfaChallenges
    browser_returns: PostgresBrowserReturns
    identities: PostgresIdentities
    upstream_sign_ins: PostgresUpstreamSignIns
    oauth_credentials: PostgresOauthCredentials
    upstream_connections: PostgresUpstreamConnections
    domain_routes: PostgresDomainRoutes
    mfa_events: PostgresMfaEvents
    organizations: PostgresOrganizations
    platform_organizations: PostgresPlatformOrganizations
    tiers: PostgresTiers
    platform_audit_log: PostgresPlatformAuditLog
    members: PostgresMembers
    roles: PostgresRoles
    mail_servers: PostgresMailServers
    branding: PostgresBrandings
    custom_domains: PostgresCustomDomains
    setup_links: PostgresSetupLinks
    service_grants: PostgresServiceGrants
    relations: PostgresRelations
    services: PostgresServices
    verified_domains: PostgresVerifiedDomains
    plans: PostgresPlans
    api_keys: PostgresApiKeys
    subscriptions: PostgresSubscriptions
    service_users: PostgresServiceUsers
    service_subscriptions: PostgresServiceSubscriptions
    service_figures: PostgresServiceFigures
    billing_cancellations: PostgresBillingCancellations
    billing_checkouts: PostgresBillingCheckouts
    billing_customers: PostgresBillingCustomers
    billing_events: PostgresBillingEvents
    billing_subscriptions: PostgresBillingSubscriptions
    sandbox: PostgresSandbox
    clients: PostgresClients
    client_grants: PostgresClientGrants
    single_uses: PostgresSingleUses
    authorization_requests: PostgresAuthorizationRequests
    authorization_codes: PostgresAuthorizationCodes
    device_codes: PostgresDeviceCodes
    logout_notices: PostgresLogoutNotices
    saml_configurations: PostgresSamlConfigurations
    saml_providers: PostgresSamlProviders
    saml_certificates: PostgresSamlCertificates
    saml_requests: PostgresSamlRequests
    saml_sessions: PostgresSamlSessions
    saml_logouts: PostgresSamlLogouts
    webhooks: PostgresWebhooks
    webhook_deliveries: PostgresWebhookDeliveries
    event_feed: PostgresEventFeed
    event_sequencing: PostgresEventSequencing
    invitations: PostgresInvitations
    end_users: PostgresEndUsers
    scim_tokens: PostgresScimTokens
    scim_users: PostgresScimUsers
    scim_groups: PostgresScimGroups
    scim_log: PostgresScimLog
    audit_log: PostgresAuditLog
    audit_chains: PostgresAuditChains
    siem_streams: PostgresSiemStreams
    analytics: PostgresAnalytics
    platform_users: PostgresPlatformUsers
    platform_mfa: PostgresPlatformMfa
    privacy_export: PostgresPrivacyExport
    anonymization: PostgresAnonymization
    mail: PostgresMailOutbox
    mail_counts: PostgresMailCounts
    routed_mail: PostgresRoutedMail
    mail_brands: PostgresMailBrands
    signing_keys: PostgresSigningKeys
    server_secrets: PostgresServerSecrets
    housekeeping: PostgresHousekeeping
    figures: PostgresFigures

    def __init__(
        self,
        connection: Connection,
        origin: Origin,
        tools: Tools,
        *,
        session_id: UUID | None = None,
        client_id: UUID | None = None,
        api_key: PresentedKey | None = None,
        scim_token: PresentedToken | None = None,
    ) -> None:
        self.now = tools.clock()
        self.origin = origin
        self.randomness = tools.randomness
        self.pepper = tools.pepper
        self.domain_names = tools.domain_names
        self.locations = tools.locations
        self.totp = tools.totp
        host = origin.custom_host
        self.webauthn = tools.webauthn if host is None else tools.webauthn.of_host(host.name)
        self.has_rate_limits = tools.has_rate_limits
        self._client_id = client_id
        self._session_id = session_id
        self._caller: Caller | None = None
        self._api_key = api_key
        self._service_caller: ServiceCaller | None = None
        self._scim_token = scim_token
        self._scim_caller: ScimCaller | None = None
        self._transaction = Transaction(
            connection=connection,
            now=self.now,
            origin=origin,
            vault=tools.vault,
            randomness=tools.randomness,
            session_id=session_id,
            api_key=api_key,
            scim_token=scim_token,
        )

    if not TYPE_CHECKING:
        # With this method a type checker would accept any attribute.

        def __getattr__(self, name: str) -> Aggregate:
            aggregate = _AGGREGATES.get(name)
            if aggregate is None:
                raise AttributeError(name)
            created = self.__dict__[name] = aggregate(self._transaction)
            return created

    @property
    def bells(self) -> set[Bell]:
        """The bells to ring after the commit."""
        return self._transaction.bells

    @property
    def caller(self) -> Caller:
        if self._caller is None:
            caller = self._admitted(self.callers.of_session(self._session_id) if self._session_id is not None else None)
            if not caller.belongs_to_context:
                raise NoLongerInContext
            self._caller = caller
        return self._caller

    @property
    def caller_if_signed_in(self) -> Caller | None:
        if self._caller is None and self._session_id is not None:
            self._caller = self._admitted(self.callers.of_session(self._session_id))
        return self._caller

    def access_context(self, slug: str) -> AccessContext:
        context = self.access.context(self._session_id, slug) if self._session_id is not None else None
        self._caller = self._admitted(context.caller if context is not None else None)
        assert context is not None, "a caller was found without an access context"
        return context

    @property
    def service_caller(self) -> ServiceCaller:
        if self._service_caller is None:
            if self._api_key is None:
                raise ApiKeyInvalid
            self._service_caller = api_keys.identify(self.api_keys.callers(self._api_key), self._api_key, at=self.now)
        return self._service_caller

    @property
    def scim_caller(self) -> ScimCaller:
        if self._scim_caller is None:
            if self._scim_token is None:
                raise ScimTokenInvalid
            found = self.scim_tokens.callers(self._scim_token)
            self._scim_caller = scim_tokens.identify(found, self._scim_token, at=self.now)
        return self._scim_caller

    def _admitted(self, found: Caller | None) -> Caller:
        if found is None:
            raise Unauthorized("This session is over. Sign in again.")
        if found.service_client_id != self._client_id:
            # We signed the token for this session, but its audience is another client.
            raise TokenInvalid
        return found

    def record(
        self,
        action: AuditAction,
        target_id: UUID | str,
        /,
        *,
        organization_id: UUID,
        actor_user_id: UUID | None = None,
        actor_email: str | None = None,
        audit_only: Mapping[str, Any] | None = None,
        event_only: Mapping[str, Any] | None = None,
        **details: Any,
    ) -> None:
        self.audit(
            action,
            target_id,
            organization_id=organization_id,
            actor_user_id=actor_user_id,
            **details,
            **(audit_only or {}),
        )
        self.publish(
            action.event,
            organization_id=organization_id,
            actor_user_id=actor_user_id,
            actor_email=actor_email,
            **details,
            **(event_only or {}),
        )

    def record_each(self, action: AuditAction, targets: Sequence[tuple[UUID, UUID]], /, **details: Any) -> None:
        credential = self._credential()
        self.audit_entries.add_each(action, targets, details | credential)
        self.events.add_each(
            action.event,
            [
                (organization_id, {f"{action.target_type.value}_id": str(target_id)} | details | credential)
                for organization_id, target_id in targets
            ],
        )

    def audit(
        self,
        action: AuditAction,
        target_id: UUID | str,
        /,
        *,
        organization_id: UUID,
        actor_user_id: UUID | None = None,
        success: bool = True,
        **details: Any,
    ) -> None:
        if self._session_id is not None:
            actor_user_id = actor_user_id or self.caller.user_id
            if self.caller.impersonator_id is not None:
                details |= {
                    "impersonator_id": str(self.caller.impersonator_id),
                    "impersonation_session": str(self._session_id),
                }
        details |= self._credential()
        self.audit_entries.add(
            action,
            target_id,
            organization_id=organization_id,
            actor_user_id=actor_user_id,
            success=success,
            details=details,
        )

    def _credential(self) -> dict[str, Any]:
        """Return the detail that names the key or token of a caller who is no user."""
        if self._api_key is not None:
            return {"api_key_id": str(self.service_caller.key_id)}
        return {"scim_token_id": str(self.scim_caller.token_id)} if self._scim_token is not None else {}

    def audit_platform(
        self, action: PlatformAction, target_id: UUID, /, *, organization_id: UUID | None = None, **details: Any
    ) -> UUID:
        return self.platform_audit_entries.add(
            action,
            target_id,
            actor_user_id=self.caller.impersonator_id or self.caller.user_id,
            organization_id=organization_id,
            details=details,
        )

    def publish(
        self,
        event: EventType,
        /,
        *,
        organization_id: UUID | None = None,
        actor_user_id: UUID | None = None,
        actor_email: str | None = None,
        **data: Any,
    ) -> None:
        if actor_user_id is None and self._session_id is not None:
            actor_user_id, actor_email = self.caller.user_id, self.caller.email
        self.events.add(event, (organization_id,), actor_user_id=actor_user_id, actor_email=actor_email, data=data)

    def publish_to_each(
        self,
        event: EventType,
        organization_ids: Sequence[UUID | None],
        /,
        *,
        actor_user_id: UUID | None,
        actor_email: str | None,
        **data: Any,
    ) -> None:
        self.events.add(event, organization_ids, actor_user_id=actor_user_id, actor_email=actor_email, data=data)


_AGGREGATES: dict[str, type[Aggregate]] = PostgresUnitOfWork.__annotations__
