"""What the keys of the data of events mean: a part of `descriptions.py`.

`EventData.key` is the key in the data of every type, unless the data of one have a line of their own.
"""

from typing import Final

from entrypoints.web.describing.described import Lines, field

_ADDRESS: Final = "null if the organization does not know it, or does not know it any more."
_EMAIL: Final = {"format": "email", "examples": ["ada@example.com"]}
_COUNT: Final = {"minimum": 0, "examples": [1]}

FIELDS: Final[Lines] = {
    # The event
    "EventPayload.event": "The type of the event.",
    "EventPayload.timestamp": "When it happened.",
    "EventPayload.organization_id": "The id of the organization; null for an event of none.",
    "EventPayload.actor_user_id": "The id of the user who did it; null for Gatehouse itself, a program or a setup"
    " link.",
    "EventPayload.actor_email": field("The address that the actor had then; null without an actor.", **_EMAIL),
    "EventPayload.data": field(
        "What happened, by the type of the event.", examples=[{"invited_email": "ada@example.com", "role": "member"}]
    ),
    # In the data of every event
    "EventData.organization_key_id": "The id of the management key that did it; left out without one.",
    "EventData.organization_key_name": field("The name of that key.", examples=["Terraform"]),
    "EventData.organization_key_workload_id": "The id of the workload that has called as that key; left out without"
    " one.",
    "EventData.setup_link_id": "The id of the setup link by which it was done; left out without one.",
    "EventData.is_test": "Whether the delivery is only a test, which is true. Then the other keys of the type may be"
    " missing.",
    # People
    "EventData.user_email": field(f"The address of the user; {_ADDRESS}", **_EMAIL),
    "EventData.previous_user_id": "The id of the account that the address had before.",
    "EventData.previous_user_email": field(f"The address of that account; {_ADDRESS}", **_EMAIL),
    "EventData.old_owner_user_id": "The id of the former owner.",
    "EventData.old_owner_user_email": field(f"The address of the former owner; {_ADDRESS}", **_EMAIL),
    "EventData.new_owner_user_id": "The id of the new owner.",
    "EventData.new_owner_user_email": field(
        f"The address of the new owner; {_ADDRESS}", format="email", examples=["grace@example.com"]
    ),
    "EventData.invited_email": field("The address that was invited.", **_EMAIL),
    "EventData.email": field("The address of the person.", **_EMAIL),
    "EventData.name": "The name.",
    "EventData.provider": field(
        "How the user signed in or up: `password`, `passkey`, `magic_link`, `invitation`, `scim` or the name of a"
        " provider.",
        examples=["password"],
    ),
    "ProviderCredentialsData.provider": field("The name of the identity provider.", examples=["google"]),
    "SiemConfiguredData.provider SiemTestedData.provider": field("The interface of the receiver.", examples=["http"]),
    "LoginSuccessData.service_id": "The id of the service that was signed in to; null for Gatehouse itself.",
    "SignupSuccessData.service_id": "The id of the service that was signed up for; null for Gatehouse itself.",
    "EventData.method": field("The second factor: `totp`, `backup_code` or `passkey`.", examples=["totp"]),
    "EventData.by": field("Which side did it: `vendor` or `customer`.", examples=["customer"]),
    "AccountLockedData.by": field(
        "Who has locked it: `person`, `mail` for the person by the link of a mail, `organization` or `platform`.",
        examples=["person"],
    ),
    "EventData.sessions EventData.sessions_ended": field("How many sessions were ended.", **_COUNT),
    "EventData.revoked_by": field(
        "Who has ended them, as `actor.id` of the audit log names them.",
        examples=["01890a5d-ac96-774b-bcce-b302099a8057"],
    ),
    "EventData.revoked_by_email": field(f"The address of that user; {_ADDRESS}", **_EMAIL),
    "EventData.reason": field("Why it happened without being asked for.", examples=["email_change_undone"]),
    "LoginFailedData.reason": field("Why the sign-in was refused.", examples=["wrong_password"]),
    "EventData.services": field("The slugs of the services to which the invitation gives access.", examples=[["shop"]]),
    "EventData.left": "Whether the user has left by themselves, which is true.",
    "EventData.old_role": field("The role that the member had.", examples=["member"]),
    "EventData.new_role": field("The role that the member has now.", examples=["admin"]),
    "EventData.role_source": field(
        "The `source` and the `group` of the rule that has given the role; null for a role that was given by hand.",
        examples=[{"source": "scim", "group": "01890a5d-ac96-774b-bcce-b302099a8057"}],
    ),
    "EventData.changed": field("What of the user was changed.", examples=[["name"]]),
    "EventData.scim_token_id": "The id of the directory's token.",
    "EventData.expires_at": "When it expires; null for never.",
    "UserImpersonatedData.expires_at": "When the impersonation ends at the latest.",
    "EventData.impersonation_session": "The id of the session in which it happens.",
    "EventData.members_added": field("How many members it got.", **_COUNT),
    "EventData.members_removed": field("How many members it lost.", **_COUNT),
    "EventData.old_name": field("The name that it had.", examples=["Sales"]),
    "EventData.external_id": field("The id that the other side has given it; null for none.", examples=["crm-7"]),
    "EventData.kept": field(
        "The ids of the members who stayed, at most 100.", examples=[["01890a5d-ac96-774b-bcce-b302099a8057"]]
    ),
    "EventData.kept_emails": field(
        f"The addresses of those members, in the same order; each {_ADDRESS}", examples=[["ada@example.com"]]
    ),
    "EventData.kept_total": field("How many members stayed.", **_COUNT),
    "EventData.metadata": field(
        "The names that were noted, in `set`, and those that were taken away, in `removed`.",
        examples=[{"set": ["plan"], "removed": []}],
    ),
    # The organization
    "EventData.changes": field(
        "The old value, `from`, and the new one, `to`, of each field that was changed.",
        examples=[{"name": {"from": "Acme", "to": "Acme Corporation"}}],
    ),
    "EventData.change": field("What was changed.", examples=["webhook_created"]),
    "SamlConfigurationData.change": field("What was changed.", examples=["saml_configured"]),
    "ServiceUpdatedData.change": field("What was changed.", examples=["access_granted"]),
    "EventData.webhook_host": field("The host of the webhook's URL; null for none.", examples=["hooks.example.com"]),
    "EventData.webhook_events": field("The event types that the webhook gets.", examples=[["user.invited"]]),
    "EventData.setup_link": field(
        "The `id` and the `parts` of a setup link, and the `action`.",
        examples=[{"id": "01890a5d-ac96-774b-bcce-b302099a8057", "parts": ["scim"], "action": "created"}],
    ),
    "EventData.role": field("The slug of the role.", examples=["member"]),
    "EventData.source": field(
        "Where it comes from: `scim` or the id of a connection for the rule of a group, `billing_event` for the payment"
        " provider.",
        examples=["billing_event"],
    ),
    "EventData.group": field(
        "The group of the rule: its id, or its name at the identity provider.", examples=["Sales"]
    ),
    "EventData.restorable_until": "Until when the organization can be restored.",
    "EventData.subscriptions": field("How many subscriptions were live.", **_COUNT),
    "EventData.domain": field("The custom domain.", examples=["id.example.com"]),
    "DomainRouteData.domain": field("The mail domain.", examples=["example.com"]),
    "EventData.replaced": field("The domain that it replaces; null for none.", examples=["login.example.com"]),
    "EventData.key_name": field("The name of the key.", examples=["Terraform"]),
    "EventData.key_prefix": field("How the key begins; null for one without a secret.", examples=["gk_a1B2c3"]),
    "EventData.permissions": field("What the key may do.", examples=[["services.view"]]),
    "EventData.scim_token_name": field("The name of the token.", examples=["Okta"]),
    "EventData.scim_token_prefix": field("How the token begins.", examples=["scim_live_a1B2c3"]),
    "EventData.groups": field(
        "Of which groups the token is: `organization` or `directory`.", examples=["organization"]
    ),
    "EventData.host": field("The host of the receiver; null for none.", examples=["siem.example.com"]),
    "MailServerData.host MailServerConfiguredData.host": field(
        "The host of the mail server.", examples=["mail.example.com"]
    ),
    "EventData.enabled": "Whether it is switched on.",
    "EventData.include": field("What is sent: `audit`, `sign_ins` or both.", examples=[["audit", "sign_ins"]]),
    "EventData.restarted_from": field(
        "From when on everything is sent again; `beginning` for all of it.", examples=["beginning"]
    ),
    "EventData.sealed_through": field("The position of the last entry that was exported.", **_COUNT),
    "EventData.format": field("The format in which what a search has found was downloaded.", examples=["csv"]),
    "EventData.mode": field(
        "Whether the payment provider is in `live` or `test` mode, or the `sandbox`.", examples=["live"]
    ),
    "EventData.event_type": field("The type of event as which the test is sent.", examples=["user.joined"]),
    "EventData.sample": field("The data with which that event is sent.", examples=[{"is_test": True}]),
    "EventData.since": "What has failed since this moment is sent again.",
    # Services
    "EventData.client_id": "The client id of the service.",
    "ProviderCredentialsData.client_id": field("The client id there; null when it was removed.", examples=["acme"]),
    "EventData.service_type": field("What kind of application it is.", examples=["web"]),
    "EventData.organization_name": field("The name of the customer.", examples=["Globex"]),
    "EventData.organization_slug": field("The slug of the customer.", examples=["globex"]),
    "EventData.vendor_slug": field("The slug of the organization whose product it is.", examples=["acme"]),
    "EventData.vendor_name": field("The name of the organization whose product it is.", examples=["Acme"]),
    "EventData.relation": field("What the user may do with the service now; null for nothing.", examples=["viewer"]),
    "EventData.previous_secret_hours": field("For how many hours the previous secret is taken, too.", **_COUNT),
    "EventData.access": field("Who may sign in: `everyone`, `members` or `assigned`.", examples=["assigned"]),
    "EventData.added": "The subjects to which the service was assigned.",
    "ServiceAccessChangedData.removed": "The subjects to which the service is not assigned any more.",
    "EventData.removed": "Whether the credentials were removed.",
    "ChangedAssignment.roles": field("The names of the roles of the service.", examples=[["editor"]]),
    "ChangedAssignment.user_email": field(
        "The address of the user, if it is about one; null if the organization does not know it.", **_EMAIL
    ),
    "ChangedAssignment.subject": field(
        "The subject: `everyone`, `role:` and a slug, `group:` and an id, or `user:` and an id.",
        examples=["role:member"],
    ),
    "EventData.service_roles": field("The roles of the service that the person has.", examples=[["editor"]]),
    "EventData.audience": field("The audience of the program's tokens; null for Gatehouse's own.", examples=["sts"]),
    "EventData.match": field("The claims of the program's tokens.", examples=[{"sub": "repo:acme/shop"}]),
    "EventData.issuer": field("The issuer.", examples=["https://idp.example.com"]),
    "WorkloadData.service_id": "The id of the service; null or left out for a management key.",
    "WorkloadData.key_id": "The id of the management key; null or left out for a service.",
    "EventData.subscription_id": "The id of the subscription.",
    "EventData.status": field("The state of the subscription.", examples=["active"]),
    "EventData.billing_subscription_id": field(
        "The id of the subscription at the payment provider.", examples=["sub_1"]
    ),
    "EventData.deleted": "Whether it was deleted, which is true.",
    # Single sign-on
    "EventData.cause": field("What has caused the change.", examples=["metadata"]),
    "EventData.certificate_id": "The id of the certificate.",
    "EventData.certificates_added": field("How many certificates are new.", **_COUNT),
    "EventData.certificates_removed": field("How many certificates are gone.", **_COUNT),
    "EventData.leads_elsewhere": "Whether the connection leads to another identity provider than before.",
    "EventData.identities_unlinked": field("How many accounts were unlinked.", **_COUNT),
    "EventData.name_id_format": field("The format of the user's name in assertions.", examples=["persistent"]),
    "EventData.signs_out_at_provider": "Whether signing out leads on to the identity provider, which is true.",
    "EventData.token_issuer": field(
        "By whose keys the identity provider signs requests to end sessions.", examples=["https://example.okta.com"]
    ),
    "EventData.entity_id": field(
        "The entity id of the service provider; null for none.", examples=["https://app.example.com/saml/metadata"]
    ),
    "EventData.deleted_entity_id": field(
        "The entity id that the application had before it was deleted; null for none.",
        examples=["https://app.example.com/saml/metadata"],
    ),
    "EventData.acs_url": field(
        "The address to which assertions go; null for none.", examples=["https://app.example.com/saml/acs"]
    ),
}
