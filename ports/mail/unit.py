"""The part of the unit of work that belongs to the area `mail`."""

from typing import Protocol

from ports.mail.mail import MailOutbox


class MailUnit(Protocol):
    """The aggregates of the area, each in this transaction."""

    @property
    def mail(self) -> MailOutbox: ...
