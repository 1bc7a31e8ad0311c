"""What one transaction offers a use case, declared by area in the modules `unit.py`.

It is the only port that the core names, and only in annotations. Every method here and on the aggregates is
synchronous: a use case runs to completion inside one transaction, and waits for nothing else.
"""

from datetime import datetime
from typing import Protocol

from ports.accounts.unit import AccountsUnit
from ports.audit.unit import AuditUnit
from ports.billing.unit import BillingUnit
from ports.clock import Randomness
from ports.credentials.unit import CredentialsUnit
from ports.customers.unit import CustomersUnit
from ports.domain_names import DomainNames
from ports.events.unit import EventsUnit
from ports.invitations.unit import InvitationsUnit
from ports.mail.unit import MailUnit
from ports.openid.unit import OpenidUnit
from ports.organizations.unit import OrganizationsUnit
from ports.pepper import Pepper
from ports.platform.unit import PlatformUnit
from ports.privacy.unit import PrivacyUnit
from ports.reads_elsewhere import ReadsElsewhere
from ports.saml.unit import SamlUnit
from ports.scim.unit import ScimUnit
from ports.service_api.unit import ServiceApiUnit
from ports.services.unit import ServicesUnit
from ports.sessions.unit import SessionsUnit
from ports.sign_in.unit import SignInUnit
from ports.webhooks.unit import WebhooksUnit


class UnitOfWork(
    EventsUnit,
    MailUnit,
    SessionsUnit,
    OrganizationsUnit,
    ServicesUnit,
    BillingUnit,
    CredentialsUnit,
    AccountsUnit,
    SignInUnit,
    OpenidUnit,
    SamlUnit,
    ScimUnit,
    WebhooksUnit,
    InvitationsUnit,
    AuditUnit,
    PrivacyUnit,
    CustomersUnit,
    ServiceApiUnit,
    PlatformUnit,
    Protocol,
):
    """One transaction. Raising rolls it back, returning commits it."""

    @property
    def now(self) -> datetime:
        """The moment of this transaction, in UTC; it does not change while the transaction lasts."""
        ...

    def require_transaction(self) -> None:
        """Let the use case run in a transaction, from its beginning, where it runs as a step or only reads.

        For one that seldom writes more than one statement. It has written nothing when it calls this.
        """
        ...

    @property
    def elsewhere(self) -> ReadsElsewhere:
        """What may be read from a replica that shows everything which was committed before the caller was read."""
        ...

    @property
    def randomness(self) -> Randomness:
        """Ids and secrets that cannot be guessed."""
        ...

    @property
    def domain_names(self) -> DomainNames:
        """The ASCII forms of internationalized domain names."""
        ...

    @property
    def pepper(self) -> Pepper:
        """Keyed hashes that only this installation can compute."""
        ...
