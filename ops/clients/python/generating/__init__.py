"""How `generate.py` writes modules from the OpenAPI document."""
