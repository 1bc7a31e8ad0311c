"""Checkout, the billing portal, and the receiver of the payment provider's events."""
