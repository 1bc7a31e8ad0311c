"""Processes, for the tests in this folder."""

from tests.processes import commands, commands_here, embedded_commands, embedded_services, services

__all__ = ["commands", "commands_here", "embedded_commands", "embedded_services", "services"]
