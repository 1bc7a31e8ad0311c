"""Every event type arrives at a webhook with the data that are declared of it.

A capability that publishes a type adds a line to `CAUSES`.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

import pytest

from core.events.data import Place
from core.events.events import EventType
from tests.declared_events import differences
from tests.http.webhooks.causes import customers, people, services, settings
from tests.http.webhooks.causes.stage import Stage
from tests.receiver import Receiver
from tests.world.hooks import Hooks
from tests.world.organization_keys import insert_program

CAUSES: dict[EventType, Callable[[Stage], Awaitable[object]]] = {
    EventType.USER_LOGIN_SUCCESS: people.sign_in,
    EventType.USER_LOGIN_FAILED: people.sign_in_wrongly,
    EventType.USER_LOGOUT: people.sign_out,
    EventType.USER_SIGNUP_SUCCESS: people.accept,
    EventType.USER_MFA_ENABLED: people.turn_mfa_on,
    EventType.USER_MFA_DISABLED: people.turn_mfa_off,
    EventType.USER_MFA_VERIFY_SUCCESS: people.give_a_second_factor,
    EventType.USER_MFA_VERIFY_FAILED: people.give_a_wrong_second_factor,
    EventType.USER_INVITED: people.invite,
    EventType.USER_JOINED: people.accept,
    EventType.USER_REMOVED: people.remove_a_member,
    EventType.USER_ROLE_UPDATED: people.change_a_role,
    EventType.USER_UPDATED: people.rename_in_the_directory,
    EventType.USER_DEACTIVATED: people.deactivate_in_the_directory,
    EventType.USER_REACTIVATED: people.reactivate_in_the_directory,
    EventType.GROUP_CREATED: people.create_a_group_in_the_directory,
    EventType.GROUP_CHANGED: people.rename_a_group_in_the_directory,
    EventType.GROUP_DELETED: people.delete_a_group_in_the_directory,
    EventType.USER_ANONYMIZED: people.anonymize,
    EventType.USER_EXPORTED: people.export_the_data,
    EventType.USER_IMPERSONATED: customers.have_a_person_impersonated,
    EventType.ACCOUNT_LOCKED: people.lock_the_account,
    EventType.SESSION_REVOKED: people.end_other_sessions,
    EventType.INVITATION_ACCEPTED: people.accept,
    EventType.INVITATION_DECLINED: people.decline,
    EventType.INVITATION_EXPIRED: people.let_an_invitation_expire,
    EventType.INVITATION_REVOKED: people.revoke,
    EventType.SERVICE_OAUTH_CREDENTIALS_UPDATED: settings.set_oauth_credentials,
    EventType.ORGANIZATION_UPDATED: settings.change_the_organization,
    EventType.ORGANIZATION_CLAIMED: customers.claim_the_organization,
    EventType.ORGANIZATION_DELETED: settings.delete_the_organization_and_restore_it,
    EventType.ORGANIZATION_RESTORED: settings.delete_the_organization_and_restore_it,
    EventType.ORGANIZATION_OWNER_CHANGED: settings.transfer_the_ownership,
    EventType.ORGANIZATION_SMTP_CONFIGURED: settings.set_a_mail_server,
    EventType.ORGANIZATION_SMTP_REMOVED: settings.remove_the_mail_server,
    EventType.BRANDING_UPDATED: settings.change_the_branding,
    EventType.DOMAIN_SET: settings.set_a_domain,
    EventType.DOMAIN_VERIFIED: settings.verify_a_domain,
    EventType.DOMAIN_DELETED: settings.delete_the_domain,
    EventType.SERVICE_CREATED: services.create_a_service,
    EventType.SERVICE_UPDATED: services.grant_a_service,
    EventType.SERVICE_ACCESS_CHANGED: services.close_a_service,
    EventType.SERVICE_DELETED: services.delete_a_service,
    EventType.CUSTOMER_OFFERED: customers.offer_a_service,
    EventType.CUSTOMER_ACCEPTED: customers.gain_a_customer,
    EventType.CUSTOMER_DECLINED: customers.be_declined,
    EventType.CUSTOMER_PAUSED: customers.pause_a_customer,
    EventType.CUSTOMER_RESUMED: customers.resume_a_customer,
    EventType.CUSTOMER_ENDED: customers.end_a_customer,
    EventType.CUSTOMER_OWNER_NAMED: customers.name_the_owner_of_a_customer,
    EventType.CUSTOMER_CLAIMED: customers.see_a_customer_claimed,
    EventType.CUSTOMER_CONNECTION_CHANGED: customers.connect_a_customer,
    EventType.CUSTOMER_DOMAIN_PROVED: customers.prove_a_domain_of_a_customer,
    EventType.CUSTOMER_DOMAIN_LOST: customers.lose_a_domain_of_a_customer,
    EventType.CUSTOMER_DIRECTORY_CHANGED: customers.give_a_customer_a_directory,
    EventType.CUSTOMER_CHANGED: customers.note_about_a_customer,
    EventType.CUSTOMER_USER_ADDED: customers.see_a_person_added_to_a_customer,
    EventType.CUSTOMER_USER_REMOVED: customers.lose_a_person_of_a_customer,
    EventType.CUSTOMER_USER_CHANGED: customers.change_a_person_of_a_customer,
    EventType.PRODUCT_ACCESS_ACCEPTED: customers.accept_a_product,
    EventType.PRODUCT_ACCESS_DECLINED: customers.decline_a_product,
    EventType.PRODUCT_ACCESS_PAUSED: customers.pause_a_product,
    EventType.PRODUCT_ACCESS_RESUMED: customers.resume_a_product,
    EventType.PRODUCT_ACCESS_ENDED: customers.end_a_product,
    EventType.PRODUCT_ACCESS_UPDATED: customers.change_a_product,
    EventType.PLAN_CREATED: services.create_a_plan,
    EventType.PLAN_UPDATED: services.change_a_plan,
    EventType.PLAN_DELETED: services.delete_a_plan,
    EventType.SUBSCRIPTION_CREATED: services.subscribe,
    EventType.SUBSCRIPTION_UPDATED: services.change_a_subscription,
    EventType.SUBSCRIPTION_CANCELED: services.cancel_a_subscription,
    EventType.API_KEY_CREATED: services.create_an_api_key,
    EventType.API_KEY_DELETED: services.delete_an_api_key,
    EventType.WORKLOAD_CREATED: services.allow_a_workload,
    EventType.WORKLOAD_DELETED: services.delete_a_workload,
    EventType.ORGANIZATION_KEY_CREATED: settings.create_one_organization_key,
    EventType.ORGANIZATION_KEY_DELETED: settings.delete_an_organization_key,
    EventType.SECURITY_MFA_ENABLED: people.turn_mfa_on,
    EventType.SECURITY_MFA_DISABLED: people.turn_mfa_off,
    EventType.SECURITY_PASSWORD_CHANGED: people.change_the_password,
    EventType.ORGANIZATION_SMTP_TESTED: settings.try_the_mail_server,
    EventType.UPSTREAM_CONNECTION_CREATED: settings.connect_a_provider,
    EventType.UPSTREAM_CONNECTION_UPDATED: settings.change_a_connection,
    EventType.UPSTREAM_CONNECTION_DELETED: settings.delete_a_connection,
    EventType.CONNECTION_CERTIFICATES_REPLACED: settings.replace_certificates,
    EventType.DOMAIN_ROUTE_CREATED: settings.route_a_domain,
    EventType.DOMAIN_ROUTE_UPDATED: settings.enforce_a_route,
    EventType.DOMAIN_ROUTE_VERIFIED: settings.verify_a_route,
    EventType.DOMAIN_ROUTE_DELETED: settings.delete_a_route,
    EventType.SAML_CONFIGURATION_UPDATED: services.set_up_saml,
    EventType.SAML_CERTIFICATE_CREATED: services.create_a_saml_certificate,
    EventType.SCIM_TOKEN_CREATED: settings.create_one_scim_token,
    EventType.SCIM_TOKEN_REVOKED: settings.revoke_a_scim_token,
    EventType.SCIM_KEPT: people.keep_an_admin_from_the_directory,
    EventType.SIEM_CONFIGURED: settings.set_a_siem,
    EventType.SIEM_REMOVED: settings.remove_the_siem,
    EventType.SIEM_TESTED: settings.try_the_siem,
    EventType.AUDIT_LOG_EXPORTED: settings.export_the_audit_log,
    EventType.BILLING_PORTAL_OPENED: services.open_the_portal,
    EventType.WEBHOOK_TEST: settings.request_a_test,
    EventType.WEBHOOK_TESTED: settings.request_a_test_of_another,
    EventType.WEBHOOK_REDELIVERED: settings.redeliver_what_failed,
}


# What the management interface causes, and no key of an organization: it takes the owner, a person, or another
# credential than a key, or makes one. Beside the event of a test delivery, `webhook.tested` names the key.
NOT_BY_KEY = {
    EventType.WEBHOOK_TEST,
    EventType.ORGANIZATION_DELETED,
    EventType.ORGANIZATION_RESTORED,
    EventType.ORGANIZATION_OWNER_CHANGED,
    EventType.ORGANIZATION_KEY_CREATED,
    EventType.ORGANIZATION_KEY_DELETED,
    EventType.SERVICE_DELETED,
    EventType.USER_ROLE_UPDATED,
    EventType.API_KEY_CREATED,
    EventType.API_KEY_DELETED,
    EventType.SCIM_TOKEN_CREATED,
    EventType.SCIM_TOKEN_REVOKED,
    EventType.DOMAIN_VERIFIED,
    EventType.DOMAIN_ROUTE_VERIFIED,
    EventType.USER_UPDATED,
    EventType.USER_DEACTIVATED,
    EventType.USER_REACTIVATED,
    # The customer does it, and the vendor learns none of its people.
    EventType.CUSTOMER_ACCEPTED,
    EventType.CUSTOMER_DECLINED,
    # A person who reads the mailed link does it.
    EventType.CUSTOMER_CLAIMED,
    EventType.ORGANIZATION_CLAIMED,
    # How far something is that was set up: entries are of what was done, such as `upstream_connection.created`.
    EventType.CUSTOMER_CONNECTION_CHANGED,
    EventType.CUSTOMER_DOMAIN_PROVED,
    EventType.CUSTOMER_DOMAIN_LOST,
    EventType.CUSTOMER_DIRECTORY_CHANGED,
    # The key of the service does it, or the customer.
    EventType.CUSTOMER_USER_ADDED,
    EventType.CUSTOMER_USER_CHANGED,
    EventType.CUSTOMER_USER_REMOVED,
}
OF_MANAGEMENT = re.compile(
    r"user\.(invited|removed)|invitation\.revoked|(organization|service|plan|domain|branding|upstream_connection"
    r"|domain_route|customer|product_access|saml_\w+|siem|audit_log|billing|webhook)\..*"
)
BY_KEY = [event for event in CAUSES if OF_MANAGEMENT.fullmatch(event.value) and event not in NOT_BY_KEY]


def test_every_event_type_has_a_cause() -> None:
    assert CAUSES.keys() == set(EventType)


@pytest.mark.parametrize("event", CAUSES, ids=lambda event: event.value)
async def test_its_cause_sends_the_event_to_the_webhook(hooks: Hooks, receiver: Receiver, event: EventType) -> None:
    await hooks.create(receiver.url, event.value)

    await CAUSES[event](Stage(hooks.team))
    await hooks.send()

    assert receiver.received
    for received in receiver.received:
        payload = received.payload
        assert payload["event"] == event.value
        assert payload["organization_id"] == str(hooks.team.organization_id)
        assert payload["id"] == received.headers["webhook-id"]
        assert differences(event, Place.EVENT, payload["data"], is_delivered=True) == []


@pytest.mark.parametrize("event", BY_KEY, ids=lambda event: event.value)
async def test_a_key_causes_it_too_and_is_named_in_place_of_a_person(
    hooks: Hooks, receiver: Receiver, event: EventType
) -> None:
    await hooks.create(receiver.url, event.value)
    program = insert_program(hooks.team)
    # Creating the webhook was a change of the organization.
    hooks.team.world.connection.execute("DELETE FROM events")
    hooks.team.world.connection.execute("DELETE FROM audit_entries")
    named = {"organization_key_id": str(program.key_id), "organization_key_name": "Terraform"}

    await CAUSES[event](Stage(hooks.team, program))

    found = hooks.team.world.rows(
        "SELECT actor_user_id, actor_email, data FROM events WHERE type = %s ORDER BY id", event.value
    )
    assert found
    for user_id, email, data in found:
        assert (user_id, email) == (None, None)
        assert data.items() >= named.items()
    # What is done for a customer is in the customer's log too, which names no key.
    recorded = hooks.team.world.rows(
        "SELECT actor_user_id, details FROM audit_entries WHERE action = %s AND organization_id = %s",
        event.value,
        hooks.team.organization_id,
    )
    assert len(recorded) == len(found)
    for user_id, details in recorded:
        assert user_id is None
        assert details.items() >= named.items()


async def test_the_creation_of_a_user_with_an_api_key_is_a_sign_up(hooks: Hooks, receiver: Receiver) -> None:
    await hooks.create(receiver.url, "user.signup.success")

    _, user_id = await Stage(hooks.team).subscribe()
    await hooks.send()

    [received] = receiver.received
    assert (received.payload["event"], received.payload["data"]["user_id"]) == ("user.signup.success", user_id)
