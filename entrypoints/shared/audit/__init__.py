"""What the JSON routes and the pages of the area share."""
