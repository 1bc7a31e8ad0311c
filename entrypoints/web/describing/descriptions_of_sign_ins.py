"""What the fields of sign-ins mean: a part of `descriptions.py`."""

from typing import Any, Final


def _field(text: str, **keywords: Any) -> dict[str, Any]:
    return {"description": text, **keywords}


FIELDS: Final[dict[str, dict[str, Any]]] = {
    "sign_ins": _field("The sign-ins, the newest first."),
    "SignIn.created_at": _field("When it was; with a second factor, when that was asked for, refused or accepted."),
    "outcome": _field(
        "What came of it. `second_factor_asked` is a sign-in that waits for its second factor, or was given up then.",
        examples=["refused"],
    ),
    "SignIn.reason": _field("Why it was refused, or what it waits for; null for a success.", examples=["wrong_code"]),
    "reason_text": _field(
        "The reason for people; null for a success. What the person has read may reveal less.",
        examples=["The password was wrong."],
    ),
    "SignIn.organization": _field("The organization to sign in to; null for a sign-in on the platform."),
    "SignIn.service": _field("The service to sign in to; null for a sign-in to none."),
    "connection": _field("The connection by which the user came; null without one, and for another organization's."),
    "device": _field("The browser or program, by its `user_agent`.", examples=["Firefox on Linux"]),
    "SignIn.device_id": _field("The id of the device; null unless its token has shown which it is."),
    "SignIn.risk_factors": _field("What the risk consists of.", examples=[["new_device"]]),
    "SignIn.request_id": _field("The id of the request, as in the log of Gatehouse; null if it was not recorded."),
    "ExportedLogin.reason": _field(
        "Why it was refused, or what it waited for; null for a success, or if not recorded."
    ),
}
