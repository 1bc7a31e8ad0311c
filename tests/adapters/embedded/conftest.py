"""Folders and processes, for the tests in this folder."""

from tests.adapters.embedded.clusters import folder, new_folder, original, running, start_process

__all__ = ["folder", "new_folder", "original", "running", "start_process"]
