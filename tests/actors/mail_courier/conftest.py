"""The installation, for the tests in this folder."""

from tests.actors.mail_courier.installation import clock, installation, mailboxes

__all__ = ["clock", "installation", "mailboxes"]
