"""The installation, for the tests in this folder."""

from tests.actors.mail_courier.installation import clock, doorbells, installation

__all__ = ["clock", "doorbells", "installation"]
