"""What commands and pages share of looking after the platform."""
