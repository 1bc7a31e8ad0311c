"""What the fields of an organization's own settings mean: a part of `descriptions.py`."""

from typing import Final

from core.limits import EMAIL_CHARACTERS_MAX
from entrypoints.web.describing.described import Lines, field

_COLOR: Final = {"pattern": "^#[0-9a-fA-F]{6}$", "examples": ["#14544a"]}
_PICTURE: Final = "as `data:image/png;base64,…` or `data:image/svg+xml;base64,…`, at most 256 KiB; null removes it."
_DATA_URL: Final = {"examples": ["data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4="]}

FIELDS: Final[Lines] = {
    # Mail server
    "host": field("The name or the address of the mail server.", examples=["smtp.example.com"]),
    "port": field("The port of the mail server.", examples=[587]),
    "tls": "How the connection is encrypted: `starttls`, `tls` from the first byte, or `none`.",
    "username": field("The user name of the login; null for none.", examples=["postmaster"]),
    "MailServerUpdate.password": field(
        "The password of the login, which is never shown.", format="password", examples=["a password of the server"]
    ),
    "has_password": "Whether a password is stored.",
    "from_name": field("The name of the sender.", examples=["Acme"]),
    "from_email": field(
        "The address of the sender.", format="email", maxLength=EMAIL_CHARACTERS_MAX, examples=["post@example.com"]
    ),
    "MailServerSettings.status": "Whether the server takes mail: `working` or `failing`.",
    "failing_since": "Since when the server has taken no mail; null while it works.",
    "last_error": "Why the last attempt failed; null after a success.",
    "next_attempt_at": "When waiting mails are tried again; null while the server works.",
    "last_success_at": "When the server last took a mail; null if it never has.",
    "last_tested_at": "When these settings were tested last; null if they were not.",
    "last_test_accepted": "Whether the server took the mail of that test; null without one.",
    "last_test_answer": field(
        "What the server answered to that test, without addresses, or why there was no answer; null without one.",
        examples=["The mail server answered 250 OK"],
    ),
    "waiting_mails": field("How many mails wait for the server.", minimum=0),
    "MailServerTestResult.success": "Whether the mail server took the mail.",
    "MailServerTestResult.message": "What the mail server answered, or why there was no answer.",
    # Branding
    "logo": "The address of the logo; null without one.",
    "icon": "The address of the icon, which browsers show beside the title of a page; null without one.",
    "BrandingUpdate.logo": field(f"The logo {_PICTURE}", **_DATA_URL),
    "BrandingUpdate.icon": field(f"The icon {_PICTURE}", **_DATA_URL),
    "primary_color": field(
        "The colour of buttons and links; it stands out from white by a contrast of 4.5, and from the background by 3.",
        **_COLOR,
    ),
    "background_color": field("The background of pages.", **_COLOR),
    "support_email": field(
        "The address for questions of users.",
        format="email",
        maxLength=EMAIL_CHARACTERS_MAX,
        examples=["help@example.com"],
    ),
    "terms_url": field("The address of the terms of use.", examples=["https://example.com/terms"]),
    "privacy_url": field("The address of the privacy policy.", examples=["https://example.com/privacy"]),
    "BrandingRecord.updated_at": "When the branding was last changed; null if it never was.",
    "branding_show_file.name": "The name of the file, which changes with its content.",
    # Custom domain
    "CustomDomain.domain CustomDomainUpdate.domain": field("The domain.", examples=["id.example.com"]),
    "TlsQuestion.domain": field("The name of the host.", examples=["id.example.com"]),
    "CustomDomain.status": "Whether the TXT record was found: `pending`, `verified`, or `failing` after it has"
    " disappeared.",
    "txt_name": field("The name of the TXT record that proves the domain.", examples=["_gatehouse.id.example.com"]),
    "txt_value": "The value of that record.",
    "verified_at": "When the domain was verified; null until then.",
    "checked_at": "When the name servers were last asked; null if they never were.",
    "CustomDomain.failing_since": "Since when the TXT record is missing; null while it is there.",
    "ends_at": "When the domain ends unless the TXT record comes back; null while it is there.",
    # Setup links
    "parts": field(
        "What the holder of the link may set: `saml`, `scim`, `upstream`, `domain`, `siem`, `groups`.",
        examples=[["domain", "siem"]],
    ),
    "SetupLinkForm.find_service_slug": "A part of the name or the slug of a service.",
    "SetupLinkCreation.service_slug": field(
        "The slug of the service whose SAML the link sets; only with the part `saml`.", examples=["shop"]
    ),
    "SetupLink.service_slug CreatedSetupLink.service_slug": "The slug of the service of the part `saml`; null without"
    " it.",
    "SetupLinkCreation.roles": field(
        "The roles that rules of groups may give, which you may give too; only with the part `groups`.",
        examples=[[]],
        sent="the roles that rules of groups may give, with the part `groups`",
    ),
    "SetupLink.roles CreatedSetupLink.roles": field(
        "The roles that rules of groups may give; none without the part `groups`.", examples=[[]]
    ),
    "SetupLinkCreation.expires_in_days": "For how many days the link is valid.",
    "SetupLink.created_by CreatedSetupLink.created_by": "The id of the member who made the link.",
    "CreatedSetupLink.url": "The address to send to the people who set these parts.",
    "SetupLink.made_by_key": "The id of the key of the organization that made it; null for a person.",
    "setup_links": "The valid links, the newest first.",
    "link_id": "The id of the link.",
    "OrganizationKey.prefix": field(
        "The beginning of the key, by which people recognize it; null for one without a secret.",
        examples=["gk_a1B2c3"],
    ),
    "NewOrganizationKey.secret": field(
        "Whether the key has a secret. Without one only its workloads use it.", examples=[True]
    ),
    "Workload.name": field("What the program is.", examples=["Deployment"]),
    "Workload.issuer": field(
        "The `iss` of its tokens, exactly.", examples=["https://token.actions.githubusercontent.com"]
    ),
    "Workload.jwks_uri NewWorkload.jwks_uri": field("Where the keys are, in place of discovery.", examples=[None]),
    "Workload.jwks NewWorkload.jwks": field("The keys themselves, in place of discovery.", examples=[None]),
    "Workload.audience": field("The `aud` of its tokens; null for the issuer of this installation.", examples=[None]),
    "Workload.match": field(
        "The claims that its tokens must have, with their exact values.",
        examples=[{"repository_id": "123456789", "ref": "refs/heads/main"}],
    ),
    "Workload.last_used_at": "When it got a token last, to the minute.",
    "Workload.last_refused": "The last token that was refused; null without one.",
    "NewWorkload.name": field("What the program is, with 1 to 100 characters.", examples=["Deployment"]),
    "NewWorkload.issuer": field(
        "The `iss` of its tokens, exactly as they have it.", examples=["https://token.actions.githubusercontent.com"]
    ),
    "NewWorkload.match": field(
        "Claims with the values that they must have, exactly; a nested claim is named by its path, such as"
        " `kubernetes.io/serviceaccount/uid`. An issuer that many share needs claims by id.",
        examples=[{"repository_id": "123456789", "ref": "refs/heads/main"}],
    ),
    "NewWorkload.audience": field(
        "The `aud` of its tokens; by default the issuer of this installation.", examples=[None]
    ),
    "RefusedAssertion.at": "When it was refused.",
    "RefusedAssertion.reason": field("Why it was refused.", examples=["claims"]),
    "RefusedAssertion.claims": field(
        "What it had for the claims of `match`, null for one that it lacked; empty without a valid signature.",
        examples=[{"repository_id": "123456789", "ref": "refs/heads/next"}],
    ),
    "WorkloadForm.claim": field("The names of claims.", examples=[["repository_id", "ref"]]),
    "WorkloadForm.value": field(
        "The values of the claims, in the same order.", examples=[["123456789", "refs/heads/main"]]
    ),
    "WorkloadForm.preset": field("The platform of the program.", examples=["github"]),
    "WorkloadForm.audience": "The `aud` of its tokens; empty for the issuer of this installation.",
    "KeyForm.for_workloads": "Ticked for a key that only its workloads use.",
    "keep_previous_hours": field("For how many hours the previous secret is taken beside the new one.", examples=[24]),
    "previous_secret_expires_at": field(
        "Until when the client secret before the present one is taken; null where none was kept.", examples=[None]
    ),
    "RotationForm.keep": field("For how many hours the previous secret is taken.", examples=["24"]),
    "WorkloadList.workloads": "The workloads, the newest first.",
    "workload_id": "The id of the workload.",
    "OrganizationKey.permissions": field(
        "The capabilities of the key, of which it has those that its maker has too.", examples=[["services.view"]]
    ),
    "NewOrganizationKey.permissions": field(
        "The capabilities that the key has; at least one.", examples=[["services.view"]]
    ),
    "OrganizationKeyCreated.key": "The key as lists show it.",
    "OrganizationKeyCreated.secret": field(
        "The key itself, to send in the `X-Api-Key` header.",
        examples=["gk_a1B2c3_…"],
    ),
    "OrganizationKeyList.keys": "The keys, the newest first.",
    "made_by_key": "The id of the key of the organization that made it, itself or by a setup link; null for a person."
    " It stays when the key has ended.",
    "MadeByKeyList.things": "What the key has made, the newest first.",
    "MadeByKey.kind": "`api_key`, `scim_token` or `setup_link`.",
    "MadeByKey.name": field("The name; of a setup link its parts.", examples=["Backend"]),
    "MadeByKey.service_slug": field(
        "The service of an API key, of a link for SAML, and of the customer for which it was made; null otherwise.",
        examples=["shop"],
    ),
    "MadeByKey.customer_id": "The customer for which it was made; null for the organization's own.",
    "MadeByKey.made_at": "When the key made it.",
    "key_id": "The id of the key.",
    "shown_id": "Under which the secret is kept until it is shown.",
    "ApplicationForm.name_id_format": "The format of the user's name in assertions; empty for the usual one.",
    "email_attribute": "The name of the attribute with the email address; empty for the usual one.",
    "claim_id": "The claim that the page has shown; another one is not deleted.",
    "shown_entity_id": "The entity id that the page has shown; another application is not deleted.",
    "siem_provider": "The interface of the receiver.",
    "SiemForm.include": "What is sent: `audit`, `sign_ins`, or `audit,sign_ins`; empty to leave it.",
    "siem_token": "The token of the receiver; empty to keep it.",
    "setup_pages_show_link.secret setup_pages_press_begin.secret": "The secret of the link.",
}
