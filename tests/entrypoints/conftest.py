"""Processes, for the tests in this folder."""

from tests.processes import commands, embedded_commands, embedded_services, services

__all__ = ["commands", "embedded_commands", "embedded_services", "services"]
