"""What keeps the house from starting, or an operator's command from being done."""


class CannotStart(Exception):
    """Something that is needed is missing or wrong; the message is the line to print, and says what to do."""
