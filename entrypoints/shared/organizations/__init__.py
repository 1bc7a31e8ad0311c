"""What routes and pages of organizations share."""
