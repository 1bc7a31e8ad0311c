"""Supervised Trio tasks that run beside the requests, each of which receives messages from a box of its own.

One that sends extends `Dispatcher` of `dispatching.py`, one that does all that is due `PeriodicActor` of `periods.py`.
"""
