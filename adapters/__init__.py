"""The world behind the ports: PostgreSQL, cryptography, gateways and SAML."""
