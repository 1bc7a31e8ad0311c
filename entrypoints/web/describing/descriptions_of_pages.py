"""What the fields of forms and pages mean: a part of `descriptions.py`."""

from typing import Any, Final


def _field(text: str, **keywords: Any) -> dict[str, Any]:
    return {"description": text, **keywords}


_BOX: Final = {"enum": ["", "on"]}

FIELDS: Final[dict[str, dict[str, Any]]] = {
    "pages": _field("Whether the pages for people are described as well.", examples=[True]),
    "reference_show_area.area": _field("The name of the area, as the index has it.", examples=["invitations"]),
    "reference_show_error.code": _field("The error code, in upper or lower case.", examples=["NOT_FOUND"]),
    "form_token": _field("The token of the browser, which every form of a page carries."),
    "return_to": _field("A path of Gatehouse without parameters, to open after signing in."),
    "return_id": _field("The id of a kept path, to open after signing in; valid once."),
    "back": _field("The page that the browser came from, to which it is led where the sign-in is cancelled."),
    "form_id": _field("Under which a form is kept until its user has signed in again."),
    "stay": _field("Whether the browser stays signed in for 30 days.", **_BOX),
    "by": _field(
        "How the invited person accepts, as the page has offered it.",
        enum=["", "mail", "session", "new_password", "password", "other_way", "connection"],
    ),
    "trust": _field("Whether this device is asked for no code for a while.", **_BOX),
    "passkey_id": _field("The id of the passkey."),
    "sign_in_id": _field("The id of the sign-in."),
    "emails": _field("The addresses of the people to invite, one on each line."),
    "note": _field("Why this is done; the audit log keeps it."),
    "job_id": _field("The id of the job."),
    "seen_total": _field("How many rows the search had found; the form is refused when that is another number by now."),
    "seen_role": _field("The role that the page has shown; the form is refused when it is another one by now."),
    "seen_version": _field(
        "The number of the version that the page has shown as the present one; the form is refused when it is another"
        " one by now."
    ),
    "VersionForm.version": _field("The number of the version to use again."),
    "BrandingForm.logo": _field(
        "The file of the logo: PNG or SVG, at most 256 KiB. Without one, the saved logo stays."
    ),
    "BrandingForm.icon": _field(
        "The file of the icon: PNG or SVG, at most 256 KiB. Without one, the saved icon stays."
    ),
    "PreviewForm.logo": _field(
        "The file of the logo: PNG or SVG, at most 256 KiB. Without one, the saved logo is shown."
    ),
    "PreviewForm.icon": _field(
        "The file of the icon: PNG or SVG, at most 256 KiB. Without one, the saved icon is shown."
    ),
    "metadata_file": _field("The file with the SAML metadata; it stands for the text, and for an address."),
    "logo_sent": _field("The logo that was sent with a form which was refused, as the page carries it."),
    "icon_sent": _field("The icon that was sent with a form which was refused, as the page carries it."),
    "remove_logo": _field("Whether the branding is to have no logo.", **_BOX),
    "remove_icon": _field("Whether the branding is to have no icon.", **_BOX),
    "view": _field("The page or the mail to show."),
    "dark": _field("Whether it is shown in dark colours.", **_BOX),
    "seen_at": _field("When what the page has shown was changed last; the form is refused when it was changed since."),
    "days": _field("In how many days the token ends; empty for never.", examples=["90"]),
    "TestForm.event_type": _field("The type of event as which the test is sent.", examples=["user.joined"]),
    "RestartForm.since": _field("The day or time since when entries are sent again, in UTC; empty for all of them."),
    "SinceForm.since": _field("The day or time since when deliveries that have failed are sent again, in UTC."),
    "DecisionForm.back": _field("`overview` leads back to the overview of the platform after an approval; else empty."),
    "NewOrganizationForm.approve": _field("`on` approves the organization at once, for those who may."),
    "seen_status": _field("The status that the page has shown; the form is refused when it is another one by now."),
    "seen_name": _field("The name that the page has shown; the form is refused when it is another one by now."),
    "seen_state": _field(
        "The state of the settings that the page has shown; the form is refused after another change."
    ),
    "seen_tier": _field(
        "The tier that the page has shown, by its id; the form is refused when it is another one by now."
    ),
    "seen_max_services": _field("The own limit of services that the page has shown; empty for the tier's limit."),
    "seen_max_users": _field("The own limit of members that the page has shown; empty for the tier's limit."),
    "seen_email": _field("The address that the page has shown; the form is refused when it is another one by now."),
    "price": _field("The price, with a point or a comma before the cents."),
    "PlanForm.features": _field("What the plan includes, one on each line."),
    "seen_certificate": _field("The id of the certificate that the page has shown; empty for none."),
    "DetailsForm.enabled": _field("Anything while users sign in by SAML; empty to switch it off."),
    "DetailsForm.members_only": _field("Anything to admit only people of the organization."),
    "DetailsForm.sign_assertions": _field("Anything to sign assertions."),
    "DetailsForm.sign_response": _field("Anything to sign the whole answer."),
    "id_attribute": _field("The attribute of the permanent id in assertions; empty for none."),
    "name_attribute": _field("The attribute of the name in assertions; empty for none."),
    "role_attribute": _field("The attribute of the role in assertions; empty for none."),
    "groups_attribute": _field("The attribute of the groups in assertions; empty for none."),
    "seen_relation": _field("The access that the page has shown; the form is refused when it is another one by now."),
    "GrantForm.relation": _field("What the member may do: `manager` or `viewer`."),
    "NewKeyForm.expires": _field("After how many days the key expires; empty for never."),
    "seen_sessions": _field("How many sessions the page has shown; the form is refused when there are fewer by now."),
    "seen_enabled_at": _field(
        "Since when the page has shown the second factor to be on; the form is refused when it is another one by now."
    ),
    "seen": _field(
        "When the state was stored that the page has shown; the form is refused when it is another one by now."
    ),
    "seen_mfa_required": _field(
        "Whether the page has shown that a second factor is required; the form is refused when that is not so by now.",
        enum=["", "yes", "no"],
    ),
    "seen_device_trust_days": _field(
        "How many days the page has shown; the form is refused when it is another number."
    ),
    "seen_provider_id": _field(
        "The connection that the page has shown, by its id; the form is refused when it is another one by now."
    ),
    "seen_enforced": _field(
        "Whether the page has shown the domain as enforced; the form is refused when that is not so by now.",
        enum=["", "yes", "no"],
    ),
    "RulesForm.mfa_required": _field("Whether members need a second factor.", **_BOX),
    "RulesForm.device_trust_days": _field("For how many days a device is trusted; empty changes nothing."),
    "ConnectionForm.provider": _field("The kind of provider whose steps the page has shown."),
    "OptionsForm.scopes": _field("The scopes to ask the provider for, separated by blanks; empty changes nothing."),
    "OptionsForm.trust_mfa": _field("Whether the connection satisfies the second factor.", **_BOX),
    "claim_of_id": _field("The claim or attribute with the stable id; empty for the usual one."),
    "claim_of_groups": _field("The claim or attribute with the groups; empty for the usual one."),
    "claim_of_email": _field("The claim or attribute with the address; empty for the usual one."),
    "claim_of_name": _field("The claim or attribute with the name; empty for the usual ones."),
    "claim_of_given_name": _field("The claim or attribute with the given name; empty for the usual ones."),
    "claim_of_family_name": _field("The claim or attribute with the family name; empty for the usual ones."),
    "OptionsForm.name_id_format": _field("The format of names to ask for, by SAML; empty for none."),
    "OptionsForm.signs_out_at_provider": _field(
        "Whether signing out goes on to the provider, by OpenID Connect; empty changes nothing.", enum=["", "yes", "no"]
    ),
    "EnablingForm.enabled": _field("Whether the connection signs in from now on.", enum=["", "yes", "no"]),
    "RoutingForm.enforced": _field("Whether every other way to sign in is refused for this domain.", **_BOX),
    "seen_redirect_uri": _field(
        "The refused redirect URI that the page has shown; the form is refused when it is another one by now."
    ),
    "NewServiceForm.kind": _field("The kind of application; the page offers the kinds."),
    "WebhookForm.sets": _field("Sets of event types besides: `all`, or all of a group of the page."),
    "MailForm.mail": _field("The mails to send again, by their ids; at most 100."),
    "MailServerForm.port": _field("The port of the mail server, as it was typed.", examples=["587"]),
    "AnonymizationForm.email": _field("The address of the account, typed to confirm it."),
    "repeated": _field("The new password once more."),
    "WhyLimitForm.address": _field("The address whose limits end."),
    "credential": _field("The answer of the browser, as `toJSON()` writes it."),
}
