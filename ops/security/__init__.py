"""What Gatehouse answers to lists of security requirements, and the pages of the manual that are made of it."""
