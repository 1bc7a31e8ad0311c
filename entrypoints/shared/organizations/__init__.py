"""What JSON handlers and pages of organizations share."""
