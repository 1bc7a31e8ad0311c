"""What pages and the interface share of billing."""
