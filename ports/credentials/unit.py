"""The part of the unit of work that belongs to the area `credentials`."""

from typing import Final, Protocol

from ports.credentials.devices import Devices, Locations
from ports.credentials.mfa import MfaEvents, SecondFactors, StoredBackupCodes, Totp, TotpSecrets
from ports.credentials.passkeys import PasskeyChallenges, Passkeys, WebAuthn


class CredentialsUnit(Protocol):
    """The aggregates of the area, each in this transaction."""

    locations: Final[Locations]
    devices: Final[Devices]
    totp: Final[Totp]
    totp_secrets: Final[TotpSecrets]
    second_factors: Final[SecondFactors]
    backup_codes: Final[StoredBackupCodes]
    webauthn: Final[WebAuthn]
    passkeys: Final[Passkeys]
    passkey_challenges: Final[PasskeyChallenges]
    mfa_events: Final[MfaEvents]
