"""The facts by which a sign-in is judged: frozen values, which `fact_reading.py` reads.

What follows from them without a read is here too, so that the rules name it and compute nothing twice.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum, auto
from typing import TYPE_CHECKING

from core.lazy_dataclasses import dataclass
from core.organizations.organizations import DEVICE_TRUST_DEFAULT
from core.sessions.mfa_methods import MfaMethods
from core.sessions.sessions import MFA, OTP
from core.sign_in import admission, customer_choices
from core.sign_in.customer_choices import ForCustomer
from core.sign_in.proofs import Target

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from core.accounts.single_sign_on import RequiredConnection
    from core.accounts.users import User
    from core.sign_in.customer_choices import Choice
    from core.sign_in.entitlement import ConnectionStanding
    from core.sign_in.places import Place
    from core.sign_in.proofs import Destination, IdentityProof, InBrowser
    from core.sign_in.recognition import DeviceMatch
    from core.sign_in.risk import Habits, Risk


class Stage(Enum):
    """What is read of a sign-in after its account, when a rule needs it."""

    # Whether the user has not confirmed yet what the organization gave.
    UNCONFIRMED_ACCESS = auto()
    CIRCUMSTANCES = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownDevice:
    """The device of a sign-in, the habits with which it is compared, and the resulting risk."""

    match: DeviceMatch
    habits: Habits
    risk: Risk

    def is_trusted_at(self, place: Place, at: datetime) -> bool:
        """Return whether it is trusted in place of the second factor."""
        organization, customer = place.organization, place.customer
        if organization is not None and organization.mfa_required and organization.is_phishing_resistant:
            return False
        trust = organization.device_trust if organization is not None else DEVICE_TRUST_DEFAULT
        if customer is not None:
            # The rules of both hold, the stricter one each.
            if customer.requires_mfa and customer.mfa_methods is MfaMethods.PHISHING_RESISTANT:
                return False
            trust = min(trust, customer.device_trust)
        return self.match.is_trusted(trust, at=at) and not self.risk.is_high


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What is read behind the lock of the account, and what follows from it.

    `place` has the customer for which the user signs in, and `choice` says how that was found; `target` is where the
    sign-in finally leads. `required` is the connection by which the user has to sign in, and `lacking_connection` the
    same where they do not; None when the way is open. `standing` is what the user is to the connection of the proof;
    None without one, and for one that is gone. `device` is None while the user is not signing in. `receivers` get the
    event of a sign-in that names no organization.
    """

    place: Place
    choice: Choice
    target: Target
    required: RequiredConnection | None
    lacking_connection: RequiredConnection | None
    standing: ConnectionStanding | None = None
    device: KnownDevice | None = None
    receivers: Sequence[UUID | None] = ()

    @classmethod
    def of(
        cls,
        proof: IdentityProof,
        destination: Destination,
        place: Place,
        target: Target,
        required: RequiredConnection | None,
        standing: ConnectionStanding | None,
    ) -> Circumstances:
        """Return the circumstances of a sign-in at a place, which does not name the customer yet, on no device."""
        choice = customer_choices.choose(
            place.service,
            admission.customers_of(place, confirms=destination.confirms_membership),
            destination.customer,
            proof.confinement,
            must_know=destination.asks_for_customer,
        )
        if isinstance(choice, ForCustomer):
            place = replace(place, customer=choice.customer)
            target = place.target
        elif target.organization_id is None:
            # A limited proof that leads nowhere stays with what it is limited to.
            target = Target.within(proof.confinement)
        return cls(
            place=place,
            choice=choice,
            target=target,
            required=required,
            lacking_connection=_lacking(required, proof, destination.browser),
            standing=standing,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInFacts:
    """An account whose user would sign in, the proof, the destination, and what is read of them.

    `has_waited` says that the first factor was right minutes ago. `is_admitted_by_saml` is None where the sign-in is
    not by SAML. `has_unconfirmed_access` and `circumstances` are None while they are not read.
    """

    user: User | None
    proof: IdentityProof
    destination: Destination
    now: datetime
    has_waited: bool = False
    is_admitted_by_saml: bool | None = None
    has_unconfirmed_access: bool | None = None
    circumstances: Circumstances | None = None

    @property
    def account(self) -> User:
        """The account, once the first rule has found that there is one."""
        assert self.user is not None, "a rule judges a sign-in without an account"
        return self.user

    @property
    def here(self) -> Circumstances:
        """The circumstances, for what is judged after they were read."""
        assert self.circumstances is not None, "a rule judges circumstances that are not read"
        return self.circumstances

    @property
    def would_use_unconfirmed_access(self) -> bool:
        """Whether the sign-in would use what the organization gave, where using it does not confirm it."""
        return self.destination.organization_slug is not None and self.is_unconfirmed

    @property
    def is_unconfirmed(self) -> bool:
        """Whether signing in confirms nothing that organizations gave to the address."""
        return self.account.waits_for_proof or self._is_proved_before_address

    @property
    def _is_proved_before_address(self) -> bool:
        """Whether the identity was proved in a session that is older than the proof of the address."""
        proved_at, address_proved_at = self.proof.authenticated_at, self.account.email_verified_at
        return proved_at is not None and address_proved_at is not None and proved_at < address_proved_at

    @property
    def asks_second_factor(self) -> bool:
        """Whether a second factor is asked for, unless the device is trusted."""
        user, proof = self.account, self.proof
        return user.has_mfa and not proof.has_second_factor and not self.destination.continues_two_factors

    @property
    def uses_trusted_device(self) -> bool:
        """Whether a trusted device replaces the second factor."""
        device = self.here.device
        return self.asks_second_factor and device is not None and device.is_trusted_at(self.here.place, self.now)

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods of the session (RFC 8176); a sign-in that has waited keeps its earlier ones."""
        is_new = self.uses_trusted_device and not self.has_waited
        return (*self.proof.amr, "trusted") if is_new else self.proof.amr

    def lacks(self, stage: Stage) -> bool:
        """Return whether a rule that needs a stage cannot judge yet."""
        if stage is Stage.CIRCUMSTANCES:
            return self.circumstances is None
        return self.has_unconfirmed_access is None and self.would_use_unconfirmed_access


def amended(facts: SignInFacts) -> SignInFacts:
    """Return the facts as a proof of the address leaves them, for an account whose user is not signing in.

    What organizations gave is unconfirmed again, the second factors and the devices are gone
    (`core/accounts/addresses.py`).
    """
    user = facts.account.reclaimed(at=facts.now)
    here = facts.here
    place = here.place.unconfirmed()
    target = place.target if place.organization is not None else here.target
    found = Circumstances.of(facts.proof, facts.destination, place, target, here.required, here.standing)
    return replace(
        facts,
        user=user,
        has_unconfirmed_access=True if place.is_member else facts.has_unconfirmed_access,
        circumstances=replace(found, receivers=here.receivers),
    )


def answered(facts: SignInFacts) -> SignInFacts:
    """Return the facts of a user who has given the second factor; with several, by a passkey."""
    takes_passkey = facts.account.has_passkey_factor and not facts.proof.is_by_passkey
    return replace(facts, proof=facts.proof.with_methods("hwk" if takes_passkey else OTP, MFA))


def _lacking(
    required: RequiredConnection | None, proof: IdentityProof, browser: InBrowser | None
) -> RequiredConnection | None:
    """Return the required connection, unless the user signs in by it."""
    if required is None or proof.connection_id == required.connection_id:
        return None
    if browser is None:
        return required
    present = browser.present if browser.is_again else None
    if present is not None and present.connection_id == required.connection_id:
        return None
    # A browser that comes from the connection signs in to the account, so that the two are linked.
    return None if required.is_linking else required
