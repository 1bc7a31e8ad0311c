"""How setting up multi-factor authentication is limited, and what its QR code is called."""

from core.rate_limits import RateLimit

SETUP_LIMITS = (RateLimit.MFA_SETUP, RateLimit.MFA_SETUP_ENDPOINT)
QR_CODE_TITLE = "QR code for your authenticator app"
