"""The export and the anonymization of personal data."""
