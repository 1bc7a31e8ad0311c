"""The part of the unit of work that belongs to the area `mail`."""

from typing import Final, Protocol

from ports.mail.mail import MailBrands, MailCounts, MailOutbox, RoutedMail


class MailUnit(Protocol):
    """The aggregates of the area, each in this transaction."""

    mail: Final[MailOutbox]
    mail_counts: Final[MailCounts]
    mail_brands: Final[MailBrands]
    routed_mail: Final[RoutedMail]

    @property
    def has_rate_limits(self) -> bool:
        """Whether the installation limits requests and mails; `GATEHOUSE_RATE_LIMITS=off`, for load tests, says no."""
        ...
