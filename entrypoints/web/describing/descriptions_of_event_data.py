"""What the keys of the data of events mean: a part of `descriptions.py`.

`EventData.key` is the key in the data of every type, unless the data of one have a line of their own.
"""

from typing import Any, Final


def _field(text: str, **keywords: Any) -> dict[str, Any]:
    return {"description": text, **keywords}


_ADDRESS: Final = "null if the organization does not know it, or does not know it any more."
_EMAIL: Final = {"format": "email", "examples": ["ada@example.com"]}
_COUNT: Final = {"minimum": 0, "examples": [1]}
_CHANGES: Final = {"examples": [{"name": {"from": "Acme", "to": "Acme Corporation"}}]}
_NOTED: Final = "The names that were noted, in `set`, and those that were taken away, in `removed`."

FIELDS: Final[dict[str, dict[str, Any]]] = {
    # The event
    "EventPayload.event": _field("The type of the event."),
    "EventPayload.timestamp": _field("When it happened."),
    "EventPayload.organization_id": _field("The id of the organization; null for an event of none."),
    "EventPayload.actor_user_id": _field(
        "The id of the user who did it; null for Gatehouse itself, a program or a setup link."
    ),
    "EventPayload.actor_email": _field("The address that the actor had then; null without an actor.", **_EMAIL),
    "EventPayload.data": _field(
        "What happened, by the type of the event.", examples=[{"invited_email": "ada@example.com", "role": "member"}]
    ),
    # In the data of every event
    "EventData.organization_key_id": _field("The id of the management key that did it; left out without one."),
    "EventData.organization_key_name": _field("The name of that key.", examples=["Terraform"]),
    "EventData.organization_key_workload_id": _field(
        "The id of the workload that has called as that key; left out without one."
    ),
    "EventData.setup_link_id": _field("The id of the setup link by which it was done; left out without one."),
    "EventData.is_test": _field(
        "Whether the delivery is only a test, which is true. Then the other keys of the type may be missing."
    ),
    # People
    "EventData.user_email": _field(f"The address of the user; {_ADDRESS}", **_EMAIL),
    "EventData.previous_user_id": _field("The id of the account that the address had before."),
    "EventData.previous_user_email": _field(f"The address of that account; {_ADDRESS}", **_EMAIL),
    "EventData.old_owner_user_id": _field("The id of the former owner."),
    "EventData.old_owner_user_email": _field(f"The address of the former owner; {_ADDRESS}", **_EMAIL),
    "EventData.new_owner_user_id": _field("The id of the new owner."),
    "EventData.new_owner_user_email": _field(
        f"The address of the new owner; {_ADDRESS}", format="email", examples=["grace@example.com"]
    ),
    "EventData.invited_email": _field("The address that was invited.", **_EMAIL),
    "EventData.email": _field("The address of the person.", **_EMAIL),
    "EventData.name": _field("The name."),
    "EventData.provider": _field(
        "How the user signed in or up: `password`, `passkey`, `magic_link`, `invitation`, `scim` or the name of a"
        " provider.",
        examples=["password"],
    ),
    "ProviderCredentialsData.provider": _field("The name of the identity provider.", examples=["google"]),
    "SiemConfiguredData.provider": _field("The interface of the receiver.", examples=["http"]),
    "SiemTestedData.provider": _field("The interface of the receiver.", examples=["http"]),
    "LoginSuccessData.service_id": _field("The id of the service that was signed in to; null for Gatehouse itself."),
    "SignupSuccessData.service_id": _field("The id of the service that was signed up for; null for Gatehouse itself."),
    "EventData.method": _field("The second factor: `totp`, `backup_code` or `passkey`.", examples=["totp"]),
    "EventData.by": _field("Which side did it: `vendor` or `customer`.", examples=["customer"]),
    "AccountLockedData.by": _field(
        "Who has locked it: `person`, `mail` for the person by the link of a mail, `organization` or `platform`.",
        examples=["person"],
    ),
    "EventData.sessions": _field("How many sessions were ended.", **_COUNT),
    "EventData.revoked_by": _field(
        "Who has ended them, as `actor.id` of the audit log names them.",
        examples=["01890a5d-ac96-774b-bcce-b302099a8057"],
    ),
    "EventData.revoked_by_email": _field(f"The address of that user; {_ADDRESS}", **_EMAIL),
    "EventData.reason": _field("Why it happened without being asked for.", examples=["email_change_undone"]),
    "LoginFailedData.reason": _field("Why the sign-in was refused.", examples=["wrong_password"]),
    "EventData.services": _field(
        "The slugs of the services to which the invitation gives access.", examples=[["shop"]]
    ),
    "EventData.left": _field("Whether the user has left by themselves, which is true."),
    "EventData.old_role": _field("The role that the member had.", examples=["member"]),
    "EventData.new_role": _field("The role that the member has now.", examples=["admin"]),
    "EventData.role_source": _field(
        "The `source` and the `group` of the rule that has given the role; null for a role that was given by hand.",
        examples=[{"source": "scim", "group": "01890a5d-ac96-774b-bcce-b302099a8057"}],
    ),
    "EventData.changed": _field("What of the user was changed.", examples=[["name"]]),
    "EventData.scim_token_id": _field("The id of the directory's token."),
    "EventData.expires_at": _field("When it expires; null for never."),
    "UserImpersonatedData.expires_at": _field("When the impersonation ends at the latest."),
    "EventData.impersonation_session": _field("The id of the session in which it happens."),
    "EventData.members_added": _field("How many members it got.", **_COUNT),
    "EventData.members_removed": _field("How many members it lost.", **_COUNT),
    "EventData.old_name": _field("The name that it had.", examples=["Sales"]),
    "EventData.external_id": _field("The id that the other side has given it; null for none.", examples=["crm-7"]),
    "EventData.kept": _field(
        "The ids of the members who stayed, at most 100.", examples=[["01890a5d-ac96-774b-bcce-b302099a8057"]]
    ),
    "EventData.kept_emails": _field(
        f"The addresses of those members, in the same order; each {_ADDRESS}", examples=[["ada@example.com"]]
    ),
    "EventData.kept_total": _field("How many members stayed.", **_COUNT),
    "EventData.metadata": _field(_NOTED, examples=[{"set": ["plan"], "removed": []}]),
    # The organization
    "EventData.changes": _field(
        "The old value, `from`, and the new one, `to`, of each field that was changed.", **_CHANGES
    ),
    "EventData.change": _field("What was changed.", examples=["webhook_created"]),
    "SamlConfigurationData.change": _field("What was changed.", examples=["saml_configured"]),
    "ServiceUpdatedData.change": _field("What was changed.", examples=["access_granted"]),
    "EventData.webhook_host": _field("The host of the webhook's URL; null for none.", examples=["hooks.example.com"]),
    "EventData.webhook_events": _field("The event types that the webhook gets.", examples=[["user.invited"]]),
    "EventData.setup_link": _field(
        "The `id` and the `parts` of a setup link, and the `action`.",
        examples=[{"id": "01890a5d-ac96-774b-bcce-b302099a8057", "parts": ["scim"], "action": "created"}],
    ),
    "EventData.role": _field("The slug of the role.", examples=["member"]),
    "EventData.source": _field(
        "Where it comes from: `scim` or the id of a connection for the rule of a group, `billing_event` for the payment"
        " provider.",
        examples=["billing_event"],
    ),
    "EventData.group": _field(
        "The group of the rule: its id, or its name at the identity provider.", examples=["Sales"]
    ),
    "EventData.restorable_until": _field("Until when the organization can be restored."),
    "EventData.subscriptions": _field("How many subscriptions were live.", **_COUNT),
    "EventData.domain": _field("The custom domain.", examples=["id.example.com"]),
    "DomainRouteData.domain": _field("The mail domain.", examples=["example.com"]),
    "EventData.replaced": _field("The domain that it replaces; null for none.", examples=["login.example.com"]),
    "EventData.key_name": _field("The name of the key.", examples=["Terraform"]),
    "EventData.key_prefix": _field("How the key begins; null for one without a secret.", examples=["gk_a1B2c3"]),
    "EventData.permissions": _field("What the key may do.", examples=[["services.view"]]),
    "EventData.scim_token_name": _field("The name of the token.", examples=["Okta"]),
    "EventData.scim_token_prefix": _field("How the token begins.", examples=["scim_live_a1B2c3"]),
    "EventData.groups": _field(
        "Of which groups the token is: `organization` or `directory`.", examples=["organization"]
    ),
    "EventData.host": _field("The host of the receiver; null for none.", examples=["siem.example.com"]),
    "MailServerData.host": _field("The host of the mail server.", examples=["mail.example.com"]),
    "MailServerConfiguredData.host": _field("The host of the mail server.", examples=["mail.example.com"]),
    "EventData.enabled": _field("Whether it is switched on."),
    "EventData.include": _field("What is sent: `audit`, `sign_ins` or both.", examples=[["audit", "sign_ins"]]),
    "EventData.restarted_from": _field(
        "From when on everything is sent again; `beginning` for all of it.", examples=["beginning"]
    ),
    "EventData.sealed_through": _field("The position of the last entry that was exported.", **_COUNT),
    "EventData.format": _field("The format in which what a search has found was downloaded.", examples=["csv"]),
    "EventData.mode": _field(
        "Whether the payment provider is in `live` or `test` mode, or the `sandbox`.", examples=["live"]
    ),
    "EventData.event_type": _field("The type of event as which the test is sent.", examples=["user.joined"]),
    "EventData.sample": _field("The data with which that event is sent.", examples=[{"is_test": True}]),
    "EventData.since": _field("What has failed since this moment is sent again."),
    # Services
    "EventData.client_id": _field("The client id of the service."),
    "ProviderCredentialsData.client_id": _field("The client id there; null when it was removed.", examples=["acme"]),
    "EventData.service_type": _field("What kind of application it is.", examples=["web"]),
    "EventData.organization_name": _field("The name of the customer.", examples=["Globex"]),
    "EventData.organization_slug": _field("The slug of the customer.", examples=["globex"]),
    "EventData.vendor_slug": _field("The slug of the organization whose product it is.", examples=["acme"]),
    "EventData.vendor_name": _field("The name of the organization whose product it is.", examples=["Acme"]),
    "EventData.relation": _field("What the user may do with the service now; null for nothing.", examples=["viewer"]),
    "EventData.previous_secret_hours": _field("For how many hours the previous secret is taken, too.", **_COUNT),
    "EventData.access": _field("Who may sign in: `everyone`, `members` or `assigned`.", examples=["assigned"]),
    "EventData.added": _field("The subjects to which the service was assigned."),
    "ServiceAccessChangedData.removed": _field("The subjects to which the service is not assigned any more."),
    "EventData.removed": _field("Whether the credentials were removed."),
    "ChangedAssignment.roles": _field("The names of the roles of the service.", examples=[["editor"]]),
    "ChangedAssignment.user_email": _field(
        "The address of the user, if it is about one; null if the organization does not know it.", **_EMAIL
    ),
    "ChangedAssignment.subject": _field(
        "The subject: `everyone`, `role:` and a slug, `group:` and an id, or `user:` and an id.",
        examples=["role:member"],
    ),
    "EventData.service_roles": _field("The roles of the service that the person has.", examples=[["editor"]]),
    "EventData.audience": _field("The audience of the program's tokens; null for Gatehouse's own.", examples=["sts"]),
    "EventData.match": _field("The claims of the program's tokens.", examples=[{"sub": "repo:acme/shop"}]),
    "EventData.issuer": _field("The issuer.", examples=["https://idp.example.com"]),
    "WorkloadData.service_id": _field("The id of the service; null or left out for a management key."),
    "WorkloadData.key_id": _field("The id of the management key; null or left out for a service."),
    "EventData.subscription_id": _field("The id of the subscription."),
    "EventData.status": _field("The state of the subscription.", examples=["active"]),
    "EventData.billing_subscription_id": _field(
        "The id of the subscription at the payment provider.", examples=["sub_1"]
    ),
    "EventData.deleted": _field("Whether it was deleted, which is true."),
    # Single sign-on
    "EventData.cause": _field("What has caused the change.", examples=["metadata"]),
    "EventData.certificate_id": _field("The id of the certificate."),
    "EventData.certificates_added": _field("How many certificates are new.", **_COUNT),
    "EventData.certificates_removed": _field("How many certificates are gone.", **_COUNT),
    "EventData.leads_elsewhere": _field("Whether the connection leads to another identity provider than before."),
    "EventData.sessions_ended": _field("How many sessions were ended.", **_COUNT),
    "EventData.identities_unlinked": _field("How many accounts were unlinked.", **_COUNT),
    "EventData.name_id_format": _field("The format of the user's name in assertions.", examples=["persistent"]),
    "EventData.signs_out_at_provider": _field("Whether signing out leads on to the identity provider, which is true."),
    "EventData.token_issuer": _field(
        "By whose keys the identity provider signs requests to end sessions.", examples=["https://example.okta.com"]
    ),
    "EventData.entity_id": _field(
        "The entity id of the service provider; null for none.", examples=["https://app.example.com/saml/metadata"]
    ),
    "EventData.deleted_entity_id": _field(
        "The entity id that the application had before it was deleted; null for none.",
        examples=["https://app.example.com/saml/metadata"],
    ),
    "EventData.acs_url": _field(
        "The address to which assertions go; null for none.", examples=["https://app.example.com/saml/acs"]
    ),
}
