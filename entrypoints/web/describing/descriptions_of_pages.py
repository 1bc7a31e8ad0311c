"""What the fields of forms and pages mean: a part of `descriptions.py`."""

from typing import Any, Final


def _field(text: str, **keywords: Any) -> dict[str, Any]:
    return {"description": text, **keywords}


_BOX: Final = {"enum": ["", "on"]}

FIELDS: Final[dict[str, dict[str, Any]]] = {
    "pages": _field("Whether the pages for people are described as well.", examples=[True]),
    "form_token": _field("The token of the browser, which every form of a page carries."),
    "return_to": _field("A path of Gatehouse without parameters, to open after signing in."),
    "return_id": _field("The id of a kept path, to open after signing in; valid once."),
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
    "seen_role": _field("The role that the page has shown; the form is refused when it is another one by now."),
    "seen_version": _field("The state that the page has shown; the form is refused when it is another one by now."),
    "seen_status": _field("The status that the page has shown; the form is refused when it is another one by now."),
    "seen_tier": _field(
        "The tier that the page has shown, by its id; the form is refused when it is another one by now."
    ),
    "seen_max_services": _field("The own limit of services that the page has shown; empty for that of the tier."),
    "seen_max_users": _field("The own limit of members that the page has shown; empty for that of the tier."),
    "seen_sessions": _field("How many sessions the page has shown; the form is refused when there are fewer by now."),
    "seen_enabled_at": _field(
        "Since when the page has shown the second factor to be on; the form is refused when it is another one by now."
    ),
    "MailForm.mail": _field("The mails to send again, by their ids; at most 100."),
    "AnonymizationForm.email": _field("The address of the account, typed to confirm it."),
    "repeated": _field("The new password once more."),
    "WhyLimitForm.address": _field("The address whose limits end."),
    "credential": _field("The answer of the browser, as `toJSON()` writes it."),
}
