"""The part of the unit of work that belongs to the area `credentials`."""

from typing import Protocol

from ports.credentials.devices import Devices, Locations
from ports.credentials.mfa import SecondFactors, StoredBackupCodes, TotpSecrets
from ports.credentials.mfa_events import MfaEvents
from ports.credentials.passkeys import PasskeyChallenges, Passkeys, WebAuthn
from ports.credentials.totp import Totp


class CredentialsUnit(Protocol):
    """The aggregates of the area, each in this transaction."""

    @property
    def locations(self) -> Locations: ...

    @property
    def devices(self) -> Devices: ...

    @property
    def totp(self) -> Totp: ...

    @property
    def totp_secrets(self) -> TotpSecrets: ...

    @property
    def second_factors(self) -> SecondFactors: ...

    @property
    def backup_codes(self) -> StoredBackupCodes: ...

    @property
    def webauthn(self) -> WebAuthn: ...

    @property
    def passkeys(self) -> Passkeys: ...

    @property
    def passkey_challenges(self) -> PasskeyChallenges: ...

    @property
    def mfa_events(self) -> MfaEvents: ...
