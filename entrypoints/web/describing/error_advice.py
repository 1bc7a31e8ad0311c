"""What the caller of a refused request does next, for each error code: the text of its page in the reference.

The status and the meaning of a code are in `core/errors.py`, and which operations answer it in `documented_errors.py`.
"""

from __future__ import annotations

from typing import Final

from core.errors import ErrorCode

ADVICE: Final = {
    ErrorCode.BAD_REQUEST: (
        "Correct the request. `details` names each invalid field, and `error` says what is wrong with it. The"
        " same request is refused again."
    ),
    ErrorCode.UNAUTHORIZED: (
        "Send a credential of the kind that the operation takes, in the header that its command shows. An access"
        " token comes from a sign-in, and ends with its session. A refused password or code is answered in the"
        " same way for every account, so it does not say whether the account exists."
    ),
    ErrorCode.TOKEN_EXPIRED: (
        "Get a new access token with the refresh token, from `POST /api/auth/refresh` or `POST /auth/token`, and"
        " repeat the request once. If that is refused, let the user sign in again."
    ),
    ErrorCode.JWT_ERROR: (
        "Do not repeat the request with this token. Check that it is whole, that it is an access token, and that"
        " it comes from this installation; else let the user sign in again."
    ),
    ErrorCode.FORBIDDEN: (
        "Ask an owner or administrator of the organization for the role, the permission or the grant that the"
        " operation names, or use a key that has it. To sign in again does not help."
    ),
    ErrorCode.ORGANIZATION_NOT_ACTIVE: (
        "Wait until the organization is approved, or let its owner ask the operator of the platform why it is"
        " suspended or rejected."
    ),
    ErrorCode.FEATURE_NOT_AVAILABLE_IN_TIER: ("Change to a tier that includes the feature, or do without it."),
    ErrorCode.SSO_REQUIRED: (
        "Lead the user to the sign-in of their organization: by `connection_id` if the body has it, else by the"
        " sign-in page, where they enter their email address. A password or another provider is not accepted."
    ),
    ErrorCode.NOT_FOUND: (
        "Check the path, and each id and slug in it: the resource may be deleted, or belong to another"
        " organization. The answer is the same for what does not exist and for what the caller may not see."
    ),
    ErrorCode.METHOD_NOT_ALLOWED: ("Use one of the methods that the `Allow` header lists."),
    ErrorCode.REQUEST_TIMEOUT: ("Send the request again, with a body that arrives within 20 seconds."),
    ErrorCode.CONFLICT: (
        "Read the resource again, and decide by its present state: it exists already, or its state has changed"
        " meanwhile."
    ),
    ErrorCode.CUSTOMER_REQUIRED: (
        "Let the user choose one of `customers`, or none if `individual` is true, and send the choice with"
        " `customer_token` to `POST /api/auth/customer` within ten minutes."
    ),
    ErrorCode.REAUTH_REQUIRED: (
        "Let the user link the external account again; its provider does not accept the stored token any more."
    ),
    ErrorCode.GONE: (
        "Do not ask for it again. In the feed of events, leave the cursor out to begin with the oldest event that"
        " is kept."
    ),
    ErrorCode.PRECONDITION_FAILED: (
        "Read the resource again, apply the change to its present version, and send it with that version."
    ),
    ErrorCode.PAYLOAD_TOO_LARGE: (
        "Send less at once: a body of JSON has at most 64 KiB, unless the operation says otherwise."
    ),
    ErrorCode.UNSUPPORTED_MEDIA_TYPE: (
        "Send the body in the content type that the operation names, usually `application/json`, and without"
        " `Content-Encoding`."
    ),
    ErrorCode.SERVICE_LIMIT_EXCEEDED: (
        "Delete a service that is not used, or ask the operators of the platform to lift the limit, which the message"
        " names."
    ),
    ErrorCode.TEAM_LIMIT_EXCEEDED: (
        "Remove a member or withdraw an invitation, or change to a tier with more members."
    ),
    ErrorCode.PASSWORD_TOO_COMMON: (
        "Let the user choose another password; `details` says what makes this one easy to guess."
    ),
    ErrorCode.PASSWORD_BREACHED: ("Let the user choose another password, which they use nowhere else."),
    ErrorCode.INVITATION_EXPIRED: ("Ask the person who has invited for another invitation."),
    ErrorCode.DEVICE_CODE_EXPIRED: ("Ask for a new device code, and show it to the user."),
    ErrorCode.DEVICE_CODE_PENDING: (
        "Ask again after the `interval` that came with the device code, until it is authorized or expires."
    ),
    ErrorCode.RATE_LIMIT_EXCEEDED: (
        "Wait as many seconds as the `Retry-After` header says, then repeat the request. Requests that are sent"
        " meanwhile are refused as well."
    ),
    ErrorCode.INTERNAL_SERVER_ERROR: (
        "Try once more. If that fails too, give the operator the `request_id` of the body: the log of the service"
        " has the reason under it."
    ),
    ErrorCode.DATABASE_ERROR: (
        "Try once more: nothing of the request was stored. If that fails too, give the operator the `request_id`"
        " of the body."
    ),
    ErrorCode.OAUTH_ERROR: (
        "Let the user try again, or sign in in another way. If it lasts, an administrator of the organization"
        " tests the provider in the console."
    ),
    ErrorCode.PROVIDER_ERROR: (
        "Show the user the text: it names what failed, and who can repair it. An administrator of the organization"
        " tests the connection in the console; the log of the service has the reason under the `request_id`."
    ),
    ErrorCode.BILLING_ERROR: (
        "Try again in a few minutes. If it lasts, the status page of the payment provider may say why."
    ),
    ErrorCode.AUDIT_ERROR: (
        "There is nothing to do: no operation answers with this code, which stands here because the interface names it."
        " A change and its entry in the audit log are one transaction; if that fails, the code is `DATABASE_ERROR`."
    ),
    ErrorCode.NOT_IMPLEMENTED: (
        "Do without this operation: its standard names it, and this installation does not have it."
    ),
    ErrorCode.SERVICE_UNAVAILABLE: ("Wait as many seconds as the `Retry-After` header says, then repeat the request."),
}
