"""The SAML identity provider: service providers sign their users in and out at Gatehouse."""
