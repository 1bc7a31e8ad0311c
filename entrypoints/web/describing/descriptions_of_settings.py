"""What the fields of an organization's own settings mean: a part of `descriptions.py`."""

from typing import Any, Final

from core.limits import EMAIL_CHARACTERS_MAX


def _field(text: str, **keywords: Any) -> dict[str, Any]:
    return {"description": text, **keywords}


_COLOR: Final = {"pattern": "^#[0-9a-fA-F]{6}$", "examples": ["#14544a"]}
_PICTURE: Final = "as `data:image/png;base64,…` or `data:image/svg+xml;base64,…`, at most 256 KiB; null removes it."
_DATA_URL: Final = {"examples": ["data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4="]}

FIELDS: Final[dict[str, dict[str, Any]]] = {
    # Mail server
    "host": _field("The name or the address of the mail server.", examples=["smtp.example.com"]),
    "port": _field("The port of the mail server.", examples=[587]),
    "tls": _field("How the connection is encrypted: `starttls`, `tls` from the first byte, or `none`."),
    "username": _field("The user name of the login; null for none.", examples=["postmaster"]),
    "MailServerUpdate.password": _field(
        "The password of the login, which is never shown.", format="password", examples=["a password of the server"]
    ),
    "has_password": _field("Whether a password is stored."),
    "from_name": _field("The name of the sender.", examples=["Acme"]),
    "from_email": _field(
        "The address of the sender.", format="email", maxLength=EMAIL_CHARACTERS_MAX, examples=["post@example.com"]
    ),
    "MailServerSettings.status": _field("Whether the server takes mail: `working` or `failing`."),
    "failing_since": _field("Since when the server has taken no mail; null while it works."),
    "last_error": _field("Why the last attempt failed; null after a success."),
    "next_attempt_at": _field("When waiting mails are tried again; null while the server works."),
    "last_success_at": _field("When the server last took a mail; null if it never has."),
    "last_tested_at": _field("When these settings were tested last; null if they were not."),
    "last_test_accepted": _field("Whether the server took the mail of that test; null without one."),
    "last_test_answer": _field(
        "What the server answered to that test, without addresses, or why there was no answer; null without one.",
        examples=["The mail server answered 250 OK"],
    ),
    "waiting_mails": _field("How many mails wait for the server.", minimum=0),
    "to": _field("The address that the test mail goes to.", format="email", examples=["ada@example.com"]),
    "MailServerTestResult.success": _field("Whether the mail server took the mail."),
    "MailServerTestResult.message": _field("What the mail server answered, or why there was no answer."),
    # Branding
    "logo": _field("The address of the logo; null without one."),
    "icon": _field("The address of the icon, which browsers show beside the title of a page; null without one."),
    "BrandingUpdate.logo": _field(f"The logo {_PICTURE}", **_DATA_URL),
    "BrandingUpdate.icon": _field(f"The icon {_PICTURE}", **_DATA_URL),
    "primary_color": _field(
        "The colour of buttons and links; it stands out from white by a contrast of 4.5, and from the background by 3.",
        **_COLOR,
    ),
    "background_color": _field("The background of pages.", **_COLOR),
    "support_email": _field(
        "The address for questions of users.",
        format="email",
        maxLength=EMAIL_CHARACTERS_MAX,
        examples=["help@example.com"],
    ),
    "terms_url": _field("The address of the terms of use.", examples=["https://example.com/terms"]),
    "privacy_url": _field("The address of the privacy policy.", examples=["https://example.com/privacy"]),
    "BrandingRecord.updated_at": _field("When the branding was last changed; null if it never was."),
    "branding_show_file.name": _field("The name of the file, which changes with its content."),
    # Custom domain
    "CustomDomain.domain": _field("The domain.", examples=["id.example.com"]),
    "CustomDomainUpdate.domain": _field("The domain.", examples=["id.example.com"]),
    "TlsQuestion.domain": _field("The name of the host.", examples=["id.example.com"]),
    "CustomDomain.status": _field(
        "Whether the TXT record was found: `pending`, `verified`, or `failing` after it has disappeared."
    ),
    "txt_name": _field("The name of the TXT record that proves the domain.", examples=["_gatehouse.id.example.com"]),
    "txt_value": _field("The value of that record."),
    "verified_at": _field("When the domain was verified; null until then."),
    "checked_at": _field("When the name servers were last asked; null if they never were."),
    "CustomDomain.failing_since": _field("Since when the TXT record is missing; null while it is there."),
    "ends_at": _field("When the domain ends unless the TXT record comes back; null while it is there."),
    # Setup links
    "parts": _field(
        "What the holder of the link may set: `saml`, `scim`, `upstream`, `domain`, `siem`, `groups`.",
        examples=[["domain", "siem"]],
    ),
    "SetupLinkForm.find_service_slug": _field("A part of the name or the slug of a service."),
    "SetupLinkCreation.service_slug": _field(
        "The slug of the service whose SAML the link sets; only with the part `saml`.", examples=["shop"]
    ),
    "SetupLink.service_slug": _field("The slug of the service of the part `saml`; null without it."),
    "CreatedSetupLink.service_slug": _field("The slug of the service of the part `saml`; null without it."),
    "SetupLinkCreation.roles": _field(
        "The roles that rules of groups may give, which you may give too; only with the part `groups`.",
        examples=[[]],
        sent="the roles that rules of groups may give, with the part `groups`",
    ),
    "SetupLink.roles": _field(
        "The roles that rules of groups may give; none without the part `groups`.", examples=[[]]
    ),
    "CreatedSetupLink.roles": _field(
        "The roles that rules of groups may give; none without the part `groups`.", examples=[[]]
    ),
    "SetupLinkCreation.expires_in_days": _field("For how many days the link is valid."),
    "SetupLink.created_by": _field("The id of the member who made the link."),
    "CreatedSetupLink.created_by": _field("The id of the member who made the link."),
    "CreatedSetupLink.url": _field("The address to send to the people who set these parts."),
    "SetupLink.made_by_key": _field("The id of the key of the organization that made it; null for a person."),
    "setup_links": _field("The valid links, the newest first."),
    "link_id": _field("The id of the link."),
    "OrganizationKey.prefix": _field(
        "The beginning of the key, by which people recognize it; null for one without a secret.",
        examples=["gk_a1B2c3"],
    ),
    "NewOrganizationKey.secret": _field(
        "Whether the key has a secret. Without one only its workloads use it.", examples=[True]
    ),
    "Workload.name": _field("What the program is.", examples=["Deployment"]),
    "Workload.issuer": _field(
        "The `iss` of its tokens, exactly.", examples=["https://token.actions.githubusercontent.com"]
    ),
    "Workload.jwks_uri": _field("Where the keys are, in place of discovery.", examples=[None]),
    "Workload.jwks": _field("The keys themselves, in place of discovery.", examples=[None]),
    "Workload.audience": _field("The `aud` of its tokens; null for the issuer of this installation.", examples=[None]),
    "Workload.match": _field(
        "The claims that its tokens must have, with their exact values.",
        examples=[{"repository_id": "123456789", "ref": "refs/heads/main"}],
    ),
    "Workload.last_used_at": _field("When it got a token last, to the minute."),
    "Workload.last_refused": _field("The last token that was refused; null without one."),
    "NewWorkload.name": _field("What the program is, with 1 to 100 characters.", examples=["Deployment"]),
    "NewWorkload.issuer": _field(
        "The `iss` of its tokens, exactly as they have it.", examples=["https://token.actions.githubusercontent.com"]
    ),
    "NewWorkload.match": _field(
        "Claims with the values that they must have, exactly; a nested claim is named by its path, such as"
        " `kubernetes.io/serviceaccount/uid`. An issuer that many share needs claims by id.",
        examples=[{"repository_id": "123456789", "ref": "refs/heads/main"}],
    ),
    "NewWorkload.jwks_uri": _field("Where the keys are, in place of discovery.", examples=[None]),
    "NewWorkload.jwks": _field("The keys themselves, in place of discovery.", examples=[None]),
    "NewWorkload.audience": _field(
        "The `aud` of its tokens; by default the issuer of this installation.", examples=[None]
    ),
    "RefusedAssertion.at": _field("When it was refused."),
    "RefusedAssertion.reason": _field("Why it was refused.", examples=["claims"]),
    "RefusedAssertion.claims": _field(
        "What it had for the claims of `match`, null for one that it lacked; empty without a valid signature.",
        examples=[{"repository_id": "123456789", "ref": "refs/heads/next"}],
    ),
    "WorkloadForm.claim": _field("The names of claims.", examples=[["repository_id", "ref"]]),
    "WorkloadForm.value": _field(
        "The values of the claims, in the same order.", examples=[["123456789", "refs/heads/main"]]
    ),
    "WorkloadForm.preset": _field("The platform of the program.", examples=["github"]),
    "WorkloadForm.audience": _field("The `aud` of its tokens; empty for the issuer of this installation."),
    "KeyForm.for_workloads": _field("Ticked for a key that only its workloads use."),
    "keep_previous_hours": _field("For how many hours the previous secret is taken beside the new one.", examples=[24]),
    "previous_secret_expires_at": _field(
        "Until when the client secret before the present one is taken; null where none was kept.", examples=[None]
    ),
    "RotationForm.keep": _field("For how many hours the previous secret is taken.", examples=["24"]),
    "WorkloadList.workloads": _field("The workloads, the newest first."),
    "workload_id": _field("The id of the workload."),
    "OrganizationKey.permissions": _field(
        "The capabilities of the key, of which it has those that its maker has too.", examples=[["services.view"]]
    ),
    "NewOrganizationKey.permissions": _field(
        "The capabilities that the key has; at least one.", examples=[["services.view"]]
    ),
    "OrganizationKeyCreated.key": _field("The key as lists show it."),
    "OrganizationKeyCreated.secret": _field(
        "The key itself, to send in the `X-Api-Key` header.",
        examples=["gk_a1B2c3_…"],
    ),
    "OrganizationKeyList.keys": _field("The keys, the newest first."),
    "made_by_key": _field(
        "The id of the key of the organization that made it, itself or by a setup link; null for a person. It stays"
        " when the key has ended."
    ),
    "MadeByKeyList.things": _field("What the key has made, the newest first."),
    "MadeByKey.kind": _field("`api_key`, `scim_token` or `setup_link`."),
    "MadeByKey.name": _field("The name; of a setup link its parts.", examples=["Backend"]),
    "MadeByKey.service_slug": _field(
        "The service of an API key, of a link for SAML, and of the customer for which it was made; null otherwise.",
        examples=["shop"],
    ),
    "MadeByKey.customer_id": _field("The customer for which it was made; null for the organization's own."),
    "MadeByKey.made_at": _field("When the key made it."),
    "key_id": _field("The id of the key."),
    "shown_id": _field("Under which the secret is kept until it is shown."),
    "ApplicationForm.name_id_format": _field("The format of the user's name in assertions; empty for the usual one."),
    "email_attribute": _field("The name of the attribute with the email address; empty for the usual one."),
    "claim_id": _field("The claim that the page has shown; another one is not deleted."),
    "shown_entity_id": _field("The entity id that the page has shown; another application is not deleted."),
    "siem_provider": _field("The interface of the receiver."),
    "SiemForm.include": _field("What is sent: `audit`, `sign_ins`, or `audit,sign_ins`; empty to leave it."),
    "siem_token": _field("The token of the receiver; empty to keep it."),
    "setup_pages_show_link.secret": _field("The secret of the link."),
    "setup_pages_press_begin.secret": _field("The secret of the link."),
}
