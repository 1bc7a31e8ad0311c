"""The part of the unit of work that belongs to the area `mail`."""

from typing import Protocol

from ports.mail.brands import MailBrands
from ports.mail.mail import MailCounts, MailOutbox
from ports.mail.routed_mail import RoutedMail


class MailUnit(Protocol):
    """The aggregates of the area, each in this transaction."""

    @property
    def mail(self) -> MailOutbox: ...

    @property
    def mail_counts(self) -> MailCounts: ...

    @property
    def mail_brands(self) -> MailBrands: ...

    @property
    def routed_mail(self) -> RoutedMail: ...

    @property
    def has_rate_limits(self) -> bool:
        """Whether the installation limits requests and mails; only load tests do without (decisions 1.9)."""
        ...
