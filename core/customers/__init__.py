"""One service for many customers: the organizations that use the service of another one, and the people they admit."""
