"""The XML of SAML: parsing, building, signing and verifying messages and metadata, and certificates."""
