"""The capabilities of Gatehouse: one line for each module of routes, in the order of the reference."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from core.sign_in.upstream.providers import ExternalProvider
from entrypoints.added_providers import SETTING
from entrypoints.http.accounts import locks, password_reset, passwords, profile, registration
from entrypoints.http.audit import analytics, audit_log, siem
from entrypoints.http.billing import checkout, portal, receiver
from entrypoints.http.credentials import devices, mfa, passkeys
from entrypoints.http.customers import claims, customers, products
from entrypoints.http.invitations import invitations
from entrypoints.http.openid import device as openid_device_codes
from entrypoints.http.openid import par as openid_pushed_requests
from entrypoints.http.openid import protected_resources as openid_protected_resources
from entrypoints.http.openid import tokens as openid_tokens
from entrypoints.http.openid import userinfo as openid_user_info
from entrypoints.http.openid import well_known
from entrypoints.http.organizations import group_rules, members, organizations, ownership, roles, setup_links
from entrypoints.http.organizations import keys as organization_keys
from entrypoints.http.organizations.settings import branding, tls_allowed
from entrypoints.http.organizations.settings import domain as custom_domain
from entrypoints.http.organizations.settings import smtp as mail_server
from entrypoints.http.platform import audit_log as platform_audit_log
from entrypoints.http.platform import health, impersonation, limits, mails, metrics, owners, support, tiers, users
from entrypoints.http.platform import locks as platform_locks
from entrypoints.http.platform import members as platform_members
from entrypoints.http.platform import mfa as platform_mfa
from entrypoints.http.platform import organizations as platform_organizations
from entrypoints.http.platform import sessions as platform_sessions
from entrypoints.http.platform import why as platform_explanations
from entrypoints.http.privacy import privacy
from entrypoints.http.saml import certificate as saml_certificate
from entrypoints.http.saml import metadata as saml_metadata
from entrypoints.http.saml import saml
from entrypoints.http.scim import directory_groups
from entrypoints.http.scim import groups as scim_groups
from entrypoints.http.scim import log as scim_log
from entrypoints.http.scim import scim as scim_discovery
from entrypoints.http.scim import tokens as scim_tokens
from entrypoints.http.scim import unsupported as scim_unsupported
from entrypoints.http.scim import users as scim_users
from entrypoints.http.service_api import analytics as service_analytics
from entrypoints.http.service_api import checkout as service_checkout
from entrypoints.http.service_api import customers as service_customers
from entrypoints.http.service_api import info as service_info
from entrypoints.http.service_api import portal as service_portal
from entrypoints.http.service_api import subscriptions as service_subscriptions
from entrypoints.http.service_api import users as service_users
from entrypoints.http.services import api_keys, end_users, grants, plans, services, subscriptions, workloads
from entrypoints.http.sessions import jwks, refresh, sessions
from entrypoints.http.sessions import logout as session_logout
from entrypoints.http.sign_in import (
    customer,
    identities,
    login,
    lookup_email,
    magic_links,
    provider_tokens,
    sign_in_rules,
    sign_ins,
)
from entrypoints.http.sign_in import why as explanations
from entrypoints.http.sign_in.upstream import (
    backchannel_logout,
    domain_routes,
    global_token_revocation,
    metadata,
    oauth_credentials,
    upstream_providers,
)
from entrypoints.http.webhooks import deliveries, events, webhooks
from entrypoints.pages.accounts import closing as closing_page
from entrypoints.pages.accounts import confirm_address as confirm_address_page
from entrypoints.pages.accounts import email_change_undo as email_change_pages
from entrypoints.pages.accounts import email_changes as email_page
from entrypoints.pages.accounts import languages as language_switch
from entrypoints.pages.accounts import locks as lock_pages
from entrypoints.pages.accounts import names as name_page
from entrypoints.pages.accounts import password_reset as password_reset_pages
from entrypoints.pages.accounts import passwords as password_page
from entrypoints.pages.accounts import profile as account_page
from entrypoints.pages.accounts import registration as registration_pages
from entrypoints.pages.accounts import verification as verification_pages
from entrypoints.pages.audit import analytics as analytics_pages
from entrypoints.pages.audit import audit_log as audit_pages
from entrypoints.pages.audit import siem as siem_setup
from entrypoints.pages.audit import sign_in_log as sign_in_log_pages
from entrypoints.pages.billing import checkout as buying_pages
from entrypoints.pages.billing import overview as billing_pages
from entrypoints.pages.billing import own_subscriptions as own_subscription_pages
from entrypoints.pages.billing import sandbox as sandbox_pages
from entrypoints.pages.credentials import devices as device_pages
from entrypoints.pages.credentials import host_passkeys
from entrypoints.pages.credentials import mfa as own_second_factor_pages
from entrypoints.pages.credentials import passkey_factors as passkey_factor_pages
from entrypoints.pages.credentials import passkeys as own_passkey_pages
from entrypoints.pages.customers import claims as claims_page
from entrypoints.pages.customers import customers as customer_pages
from entrypoints.pages.customers import my_applications as my_applications_page
from entrypoints.pages.customers import people as customer_people_pages
from entrypoints.pages.customers import product_assignments as product_assignment_pages
from entrypoints.pages.customers import product_sign_ins as product_sign_in_pages
from entrypoints.pages.customers import products as product_pages
from entrypoints.pages.customers import service_settings as customer_settings_pages
from entrypoints.pages.frame import assets, home
from entrypoints.pages.invitations import confirmation as confirmation_pages
from entrypoints.pages.invitations import invitations as invitation_pages
from entrypoints.pages.invitations import invited as invited_pages
from entrypoints.pages.mail import mailbox
from entrypoints.pages.openid import authorization as authorize_pages
from entrypoints.pages.openid import device as device_activation_pages
from entrypoints.pages.openid import logout as logout_pages
from entrypoints.pages.openid import start as start_pages
from entrypoints.pages.openid import trials as service_trial_pages
from entrypoints.pages.organizations import bulk_jobs as job_pages
from entrypoints.pages.organizations import deletion as organization_deletion_pages
from entrypoints.pages.organizations import group_rules as group_rule_pages
from entrypoints.pages.organizations import keys as organization_key_pages
from entrypoints.pages.organizations import management as organization_settings_pages
from entrypoints.pages.organizations import members as selected_members_pages
from entrypoints.pages.organizations import organizations as own_organization_pages
from entrypoints.pages.organizations import ownership as ownership_pages
from entrypoints.pages.organizations import people as people_pages
from entrypoints.pages.organizations import roles as role_pages
from entrypoints.pages.organizations import setup as setup_pages
from entrypoints.pages.organizations import setup_links as setup_link_pages
from entrypoints.pages.organizations import tiers as platform_tiers_pages
from entrypoints.pages.organizations.settings import branding as branding_pages
from entrypoints.pages.organizations.settings import domain as domain_pages
from entrypoints.pages.organizations.settings import smtp as mail_server_pages
from entrypoints.pages.platform import approvals, deletion, suspension
from entrypoints.pages.platform import audit_log as platform_audit_pages
from entrypoints.pages.platform import impersonation as platform_impersonation_pages
from entrypoints.pages.platform import locks as platform_lock_pages
from entrypoints.pages.platform import mails as platform_mail_pages
from entrypoints.pages.platform import members as platform_member_pages
from entrypoints.pages.platform import mfa as platform_mfa_pages
from entrypoints.pages.platform import organization_search as organization_search_pages
from entrypoints.pages.platform import organizations as platform_organization_pages
from entrypoints.pages.platform import overview as platform_overview_pages
from entrypoints.pages.platform import owners as platform_owners_pages
from entrypoints.pages.platform import personal_data as platform_data_pages
from entrypoints.pages.platform import search as platform_search_pages
from entrypoints.pages.platform import sessions as platform_session_pages
from entrypoints.pages.platform import sign_in_questions as why_page
from entrypoints.pages.platform import system as platform_system_page
from entrypoints.pages.platform import user_records as platform_record_pages
from entrypoints.pages.platform import users as platform_user_pages
from entrypoints.pages.platform import why as platform_why_page
from entrypoints.pages.privacy import anonymization as personal_data_pages
from entrypoints.pages.privacy import export as data_page
from entrypoints.pages.reference import errors as reference_errors
from entrypoints.pages.reference import events as reference_events
from entrypoints.pages.reference import reference
from entrypoints.pages.saml import applications as saml_pages
from entrypoints.pages.saml import logouts as saml_logouts
from entrypoints.pages.saml import requests as saml_authenticate
from entrypoints.pages.saml import setup as saml_setup
from entrypoints.pages.saml import sign_in as saml_sign_in
from entrypoints.pages.scim import directory as directory_page
from entrypoints.pages.scim import directory_groups as group_pages
from entrypoints.pages.scim import group_setup as group_setup_pages
from entrypoints.pages.scim import setup as scim_setup
from entrypoints.pages.scim import tokens as provisioning_pages
from entrypoints.pages.services import api_keys as service_key_pages
from entrypoints.pages.services import applications as application_pages
from entrypoints.pages.services import deletion as service_deletion_page
from entrypoints.pages.services import end_users as end_user_pages
from entrypoints.pages.services import first_sign_ins as first_sign_in_page
from entrypoints.pages.services import grants as grant_pages
from entrypoints.pages.services import key_workloads as key_workload_pages
from entrypoints.pages.services import management as service_options_page
from entrypoints.pages.services import plans as plan_pages
from entrypoints.pages.services import redirect_uris as redirect_uri_pages
from entrypoints.pages.services import sales as sales_pages
from entrypoints.pages.services import secrets as client_secret_page
from entrypoints.pages.services import services as service_pages
from entrypoints.pages.services import sold_subscriptions as sold_pages
from entrypoints.pages.services import user_metadata as user_metadata_page
from entrypoints.pages.services import workloads as workload_pages
from entrypoints.pages.sessions import sessions as session_pages
from entrypoints.pages.sign_in import choose_organization, second_factor_setup
from entrypoints.pages.sign_in import identities as identity_page
from entrypoints.pages.sign_in import login as sign_in_pages
from entrypoints.pages.sign_in import magic_links as magic_link_pages
from entrypoints.pages.sign_in import mailed_links as mailed_link_pages
from entrypoints.pages.sign_in import passkeys as passkey_pages
from entrypoints.pages.sign_in import registration_links as registration_link_pages
from entrypoints.pages.sign_in import second_factor as second_factor_page
from entrypoints.pages.sign_in import sign_in_again as sign_in_again_page
from entrypoints.pages.sign_in import sign_in_rules as mfa_methods_pages
from entrypoints.pages.sign_in import sign_ins as own_sign_in_pages
from entrypoints.pages.sign_in.upstream import added_providers as added_pages
from entrypoints.pages.sign_in.upstream import by_connection as connection_pages
from entrypoints.pages.sign_in.upstream import configuring as sign_in_rules_pages
from entrypoints.pages.sign_in.upstream import connections as connection_settings_pages
from entrypoints.pages.sign_in.upstream import domain_routes as mail_domain_pages
from entrypoints.pages.sign_in.upstream import enabling as enabling_pages
from entrypoints.pages.sign_in.upstream import oauth_credentials as credential_pages
from entrypoints.pages.sign_in.upstream import providers as upstream_pages
from entrypoints.pages.sign_in.upstream import saml as upstream_saml_pages
from entrypoints.pages.sign_in.upstream import setup as upstream_setup_pages
from entrypoints.pages.sign_in.upstream import trials as connection_trial_pages
from entrypoints.pages.webhooks import deliveries as delivery_pages
from entrypoints.pages.webhooks import secrets as webhook_secret_page
from entrypoints.pages.webhooks import webhooks as webhook_pages
from entrypoints.refusals import CannotStart
from entrypoints.web.describing import openapi
from entrypoints.web.serving.routes import Route, Routes

EVERYWHERE: tuple[Routes, ...] = (
    registration.routes,
    verification_pages.routes,
    registration_link_pages.routes,
    login.routes,
    customer.routes,
    lookup_email.routes,
    refresh.routes,
    session_logout.routes,
    sessions.routes,
    devices.routes,
    passwords.routes,
    password_reset.routes,
    locks.routes,
    password_reset_pages.routes,
    profile.routes,
    email_change_pages.routes,
    mfa.routes,
    passkeys.routes,
    magic_links.routes,
    magic_link_pages.routes,
    upstream_pages.routes,
    identities.routes,
    provider_tokens.routes,
    oauth_credentials.routes,
    upstream_providers.routes,
    metadata.routes,
    backchannel_logout.routes,
    global_token_revocation.routes,
    domain_routes.routes,
    sign_in_rules.routes,
    connection_pages.routes,
    upstream_saml_pages.routes,
    upstream_setup_pages.routes,
    organizations.routes,
    members.routes,
    ownership.routes,
    roles.routes,
    group_rules.routes,
    organization_keys.routes,
    mail_server.routes,
    branding.routes,
    branding_pages.routes,
    branding_pages.editor,
    branding_pages.preview,
    custom_domain.routes,
    tls_allowed.routes,
    host_passkeys.routes,
    setup_links.routes,
    setup_pages.routes,
    domain_pages.setup_routes,
    saml_setup.routes,
    scim_setup.routes,
    group_setup_pages.routes,
    siem_setup.routes,
    services.routes,
    grants.routes,
    plans.routes,
    api_keys.routes,
    workloads.routes,
    customers.routes,
    claims.routes,
    products.routes,
    saml.routes,
    saml_certificate.routes,
    saml_metadata.routes,
    saml_sign_in.login_routes,
    saml_sign_in.routes,
    saml_authenticate.routes,
    saml_logouts.routes,
    service_users.routes,
    service_subscriptions.routes,
    service_checkout.routes,
    service_portal.routes,
    service_analytics.routes,
    service_info.routes,
    service_customers.routes,
    service_users.customer_routes,
    subscriptions.routes,
    invitations.routes,
    invitation_pages.routes,
    confirmation_pages.routes,
    end_users.routes,
    sign_ins.routes,
    explanations.routes,
    checkout.routes,
    portal.routes,
    receiver.routes,
    openid_tokens.routes,
    authorize_pages.routes,
    start_pages.routes,
    logout_pages.routes,
    openid_pushed_requests.routes,
    openid_protected_resources.routes,
    openid_user_info.routes,
    openid_device_codes.routes,
    device_activation_pages.routes,
    well_known.routes,
    scim_tokens.routes,
    directory_groups.routes,
    scim_log.routes,
    scim_users.routes,
    scim_groups.routes,
    scim_discovery.routes,
    scim_unsupported.routes,
    webhooks.routes,
    deliveries.routes,
    events.routes,
    audit_log.routes,
    siem.routes,
    analytics.routes,
    tiers.routes,
    platform_organizations.routes,
    platform_members.routes,
    platform_audit_log.routes,
    users.routes,
    platform_explanations.routes,
    platform_sessions.routes,
    platform_locks.routes,
    limits.routes,
    mails.routes,
    platform_mfa.routes,
    owners.routes,
    support.routes,
    impersonation.routes,
    privacy.routes,
    home.routes,
    sign_in_pages.routes,
    passkey_pages.routes,
    mailed_link_pages.routes,
    second_factor_page.routes,
    sign_in_again_page.routes,
    second_factor_setup.routes,
    passkey_factor_pages.routes,
    choose_organization.routes,
    logout_pages.sign_out_routes,
    account_page.routes,
    name_page.routes,
    language_switch.routes,
    email_page.routes,
    password_page.routes,
    own_second_factor_pages.routes,
    own_passkey_pages.routes,
    device_pages.routes,
    session_pages.routes,
    own_sign_in_pages.routes,
    application_pages.routes,
    my_applications_page.routes,
    own_subscription_pages.routes,
    identity_page.routes,
    own_organization_pages.routes,
    billing_pages.routes,
    sold_pages.routes,
    sales_pages.routes,
    organization_search_pages.routes,
    people_pages.routes,
    job_pages.routes,
    platform_owners_pages.routes,
    platform_system_page.routes,
    sign_in_log_pages.platform_routes,
    selected_members_pages.routes,
    why_page.routes,
    sign_in_rules_pages.routes,
    connection_settings_pages.routes,
    connection_trial_pages.routes,
    enabling_pages.routes,
    mfa_methods_pages.routes,
    mail_domain_pages.routes,
    credential_pages.routes,
    platform_overview_pages.routes,
    sales_pages.platform_routes,
    platform_search_pages.routes,
    platform_organization_pages.routes,
    platform_member_pages.routes,
    approvals.routes,
    suspension.routes,
    deletion.routes,
    platform_tiers_pages.routes,
    job_pages.platform_routes,
    platform_why_page.routes,
    platform_user_pages.routes,
    platform_record_pages.routes,
    platform_session_pages.routes,
    platform_lock_pages.routes,
    platform_mfa_pages.routes,
    platform_impersonation_pages.routes,
    platform_data_pages.routes,
    platform_mail_pages.routes,
    audit_pages.routes,
    analytics_pages.routes,
    sign_in_log_pages.routes,
    platform_audit_pages.routes,
    invited_pages.routes,
    service_pages.routes,
    redirect_uri_pages.routes,
    client_secret_page.routes,
    first_sign_in_page.routes,
    service_trial_pages.routes,
    service_options_page.routes,
    service_deletion_page.routes,
    end_user_pages.routes,
    user_metadata_page.routes,
    claims_page.routes,
    service_key_pages.routes,
    workload_pages.routes,
    key_workload_pages.routes,
    plan_pages.routes,
    buying_pages.routes,
    saml_pages.routes,
    grant_pages.routes,
    directory_page.routes,
    customer_settings_pages.routes,
    customer_pages.routes,
    customer_people_pages.routes,
    product_pages.routes,
    product_assignment_pages.routes,
    product_sign_in_pages.routes,
    group_pages.routes,
    group_rule_pages.routes,
    webhook_pages.routes,
    webhook_secret_page.routes,
    delivery_pages.routes,
    provisioning_pages.routes,
    siem_setup.console_routes,
    data_page.routes,
    personal_data_pages.routes,
    setup_link_pages.routes,
    mail_server_pages.routes,
    role_pages.routes,
    organization_key_pages.routes,
    organization_settings_pages.routes,
    organization_deletion_pages.routes,
    ownership_pages.routes,
    domain_pages.routes,
    closing_page.routes,
    lock_pages.mailed_routes,
    lock_pages.routes,
    lock_pages.of_organizations,
    confirm_address_page.routes,
    registration_pages.routes,
    jwks.routes,
    health.routes,
    metrics.routes,
    reference.routes,
    reference.parts,
    reference_errors.routes,
    reference_events.routes,
    openapi.routes,
    assets.routes,
)
DEVELOPMENT_ONLY: tuple[Routes, ...] = (mailbox.routes,)
# Below it are the ways to sign in, each by its name, and the paths of OAuth.
AUTH: Final = "/auth/"
# Without a payment provider.
SANDBOX_ONLY: tuple[Routes, ...] = (sandbox_pages.routes,)


def is_internal(route: Route) -> bool:
    """Whether a route is for programs of the operator, and moves to GATEHOUSE_METRICS_BIND if that is set."""
    return route.path == "/metrics" or route.path.startswith("/internal/")


def routes(
    *, is_development: bool, has_billing_provider: bool = False, added: Iterable[ExternalProvider] = ()
) -> list[Route]:
    """List every route of Gatehouse, with those of the providers that the operator has added.

    Raise `CannotStart` for a provider whose name is a path already.
    """
    chosen = EVERYWHERE + (() if has_billing_provider else SANDBOX_ONLY) + (DEVELOPMENT_ONLY if is_development else ())
    taken = _words_below(AUTH)
    for one in added:
        if one.provider in taken:
            raise CannotStart(
                f"{SETTING} has the table [{one.provider}], and {AUTH}{one.provider} is a path of Gatehouse. Choose"
                " another name for it."
            )
    return [route for capability in (*chosen, *map(added_pages.routes_of, added)) for route in capability.routes]


def _words_below(path: str) -> set[str]:
    """Return the first words of the paths of all routes below a path."""
    paths = (
        route.path for capability in (*EVERYWHERE, *SANDBOX_ONLY, *DEVELOPMENT_ONLY) for route in capability.routes
    )
    return {one.removeprefix(path).partition("/")[0] for one in paths if one.startswith(path)}
