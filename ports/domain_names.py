"""Port for internationalized domain names (IDNA 2008); fast, and without I/O."""

from typing import Protocol


class DomainNames(Protocol):
    """Calculates the ASCII form of domain names."""

    def to_ascii(self, domain: str) -> str | None:
        """Return a domain in lower case with every label in its ASCII form; None when a label has none.

        Nothing is mapped: a label is refused when it contains a character that IDNA 2008 does not allow, and an `xn--`
        label when it is not exactly the ASCII form of the label that it decodes to.
        """
        ...
