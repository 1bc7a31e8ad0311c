"""What the fields of second factors and passkeys mean: a part of `descriptions.py`."""

from typing import Any, Final

from core.credentials.passkey_challenges import LIFETIME as PASSKEY_CHALLENGE_LIFETIME


def _field(text: str, **keywords: Any) -> dict[str, Any]:
    return {"description": text, **keywords}


_BASE64URL: Final = {
    "pattern": "^([A-Za-z0-9_-]{4})*([A-Za-z0-9_-]{2}(==)?|[A-Za-z0-9_-]{3}=?)?$",
    "examples": ["dGVzdA"],
}
FIELDS: Final[dict[str, dict[str, Any]]] = {
    "code": _field("A code of the authenticator app, or a backup code.", examples=["123456"]),
    "MfaVerification.code": _field(
        "A code of the authenticator app, or a backup code; in its place, `credential`.", examples=["123456"]
    ),
    "MfaVerification.credential": _field("What a passkey has signed, as its `toJSON()` writes it; else null."),
    "second_factor": _field("Whether the passkey is asked for after another factor."),
    "PasskeyUpdate.second_factor": _field("Whether the passkey is to be asked for after another factor."),
    "MfaActivation.code": _field("The six digits that the app shows.", pattern="^[0-9]{6}$", examples=["123456"]),
    "enabled": _field("Whether multi-factor authentication is on."),
    "has_backup_codes": _field("Whether unused backup codes are left."),
    "secret": _field("The secret as text, to type into the app.", examples=["JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"]),
    "qr_code_svg": _field("The QR code to scan with the app, as an SVG image."),
    "qr_code_uri": _field("The address that opens the app, `otpauth://…`.", format="uri"),
    "MfaEnabled.backup_codes": _field(
        "The backup codes, each of which can be used once; empty beside another second factor, whose codes stay valid.",
        examples=[["ABCD-2345"]],
    ),
    "backup_codes": _field("The backup codes, each of which can be used once.", examples=[["ABCD-2345"]]),
    "challenge_id": _field(
        f"The id of the challenge, which is valid for {PASSKEY_CHALLENGE_LIFETIME.seconds // 60} minutes."
    ),
    "options": _field("The options for `navigator.credentials`, as JSON (WebAuthn)."),
    "credential": _field("The credential, as its `toJSON()` writes it."),
    "RegistrationCredential.id": _field("The id of the credential, in base64url.", **_BASE64URL, minLength=2),
    "AuthenticationCredential.id": _field("The id of the credential, in base64url.", **_BASE64URL, minLength=2),
    "type": _field("The type of the credential."),
    "response": _field("The answer of the authenticator."),
    "clientDataJSON": _field("The client data, in base64url.", **_BASE64URL),
    "attestationObject": _field("The attestation object, in base64url.", **_BASE64URL),
    "authenticatorData": _field("The authenticator data, in base64url.", **_BASE64URL),
    "signature": _field("The signature of the authenticator, in base64url.", **_BASE64URL),
    "userHandle": _field("The user handle, in base64url.", **_BASE64URL),
    "transports": _field("How the authenticator is connected, such as `internal` or `usb`.", examples=[["internal"]]),
    "enroll": _field("The page on which a passkey is added.", format="uri"),
    "manage": _field("The page of one's passkeys.", format="uri"),
    "passkeys": _field("The passkeys, the oldest first."),
    "aaguid": _field("The model of the authenticator; zeros if it is not known."),
    "backup_eligible": _field("Whether the passkey can be synchronized between devices."),
}
