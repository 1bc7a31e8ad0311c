"""The routes of the HTTP interface: one folder for each area, one module for each capability."""
