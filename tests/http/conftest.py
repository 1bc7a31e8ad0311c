"""The application, for the tests in this folder."""

from tests.application import actors, application, client, installation, key_pairs, settings

__all__ = ["actors", "application", "client", "installation", "key_pairs", "settings"]
