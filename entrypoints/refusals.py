"""The error that ends a start or an operator's command with one line."""


class CannotStart(Exception):
    """Something required is missing or wrong; the message is the line to print and states what to do."""
