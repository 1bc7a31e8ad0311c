"""What the fields of sign-ins mean: a part of `descriptions.py`."""

from typing import Any, Final


def _field(text: str, **keywords: Any) -> dict[str, Any]:
    return {"description": text, **keywords}


FIELDS: Final[dict[str, dict[str, Any]]] = {
    # The customer of a service for which its user comes
    "customer": _field(
        "The customer of the service for which the user comes, by its id or slug. Without it, the only one that is open"
        " is taken, or the user is asked.",
        examples=["globex"],
    ),
    "ClaimsPreviewQuery.customer": _field("The id of the customer for which the person comes; none by default."),
    "MagicLinkRequest.customer": _field(
        "The customer of the service for which the user comes, by its id or slug, unless the sign-in names another.",
        examples=["globex"],
    ),
    "ProfileForCustomer.customer_id": _field("The id of the customer for which the token is."),
    # The log of sign-ins
    "sign_ins": _field("The sign-ins, the newest first."),
    "SignIn.customer": _field(
        "The customer of the service for which the user signed in, or was refused after they had proved who they are."
        " It is null for none, for one that has ended since, and to the vendor where it does not know that the user"
        " belongs to the customer."
    ),
    "SignIn.created_at": _field("When it was; with a second factor, when that was asked for, refused or accepted."),
    "outcome": _field(
        "What came of it. `second_factor_asked` is a sign-in that waits for its second factor, or was given up then.",
        examples=["refused"],
    ),
    "SignIn.reason": _field("Why it was refused, or what it waits for; null for a success.", examples=["wrong_code"]),
    "mailed_proof": _field(
        "Whether the `link` or the `code` of a mail was used; null for other ways, and where it is not known."
    ),
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
    "ExplainedSignIn.account": _field(
        "The account; null when no account has the address, and for an organization also when its user is neither its"
        " member nor its end user."
    ),
    "is_told": _field(
        "Whether what concerns the account alone is shown: to an organization, of users who have confirmed that they"
        " belong to it."
    ),
    "ways": _field("Each way to sign in that was asked about, and each connection."),
    "way": _field("The way to sign in.", examples=["password"]),
    "ExplainedSignIn.next_step": _field(
        "What the person does next, where a connection is required; null where nothing is required or known."
    ),
    "StepOfSignIn.step": _field(
        "`connection`: sign in by it, and nothing more is asked for. `mailed_code`: sign in by it, and type a code that"
        " is mailed to the address then, once."
    ),
    "StepOfSignIn.connection": _field("The connection that is required."),
    "ExplainedWay.connection": _field("The connection; null for every other way."),
    "refused_by": _field("The rule that refuses this way; null when none does.", examples=["credential"]),
    "ExplainedWay.rules": _field("The rules, in the order in which signing in applies them."),
    "rule": _field("The rule.", examples=["credential"]),
    "verdict": _field(
        "What it answers. One that asks for something more, or depends on the attempt, ends no sign-in; `not_told`"
        " concerns the account alone.",
        examples=["refuses"],
    ),
    "ExplainedRule.reason": _field("Why it refuses, asks or depends; null otherwise.", examples=["no_password"]),
    "ExplainedRule.reason_text": _field("The reason for people."),
    "until": _field("Until when it refuses; null when that has no end, or it does not refuse."),
    "ExplainedRule.networks": _field(
        "The networks from which it refuses; empty for an organization.", examples=[["192.0.2.0/24"]]
    ),
    "ExplainedRule.required": _field("The connection by which the user has to sign in; null when that is not why."),
    "NamedConnection.organization_name": _field("The name of the organization of the connection."),
    "attempts": _field("The last ten attempts to sign in, the newest first."),
    "ExplainedSignIn.problems": _field("Why sign-ins by the connections failed lately, of which the user is unknown."),
    "failures": _field("The problems, the newest first."),
    "UpstreamFailure.problem": _field("What was wrong."),
    "first_at": _field("When it occurred first, without a day between."),
    "last_at": _field("When it occurred last."),
    "occurrences": _field("How often it occurred.", minimum=1, examples=[3]),
    "last_request_id": _field("The id of the request that met it last."),
}
