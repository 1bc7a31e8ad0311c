"""What the JSON interface and the pages of services share."""
