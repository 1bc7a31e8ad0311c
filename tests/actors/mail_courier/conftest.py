"""The installation, for the tests in this folder."""

from tests.actors.mail_courier.installation import autojump_clock, clock, doorbells, installation

__all__ = ["autojump_clock", "clock", "doorbells", "installation"]
