"""What is answered: bodies, errors, headers and documents."""
