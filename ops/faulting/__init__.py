"""Faults that are put in a copy of the tree, to see which of them the tests find."""
