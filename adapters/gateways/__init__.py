"""Ways out of the house: mail now, payments, OAuth and webhooks as they come."""
