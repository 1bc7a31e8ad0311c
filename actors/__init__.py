"""Supervised Trio tasks that run beside the requests, each of which receives messages from a box of its own.

An actor that sends extends `Dispatcher` of `dispatching.py`; one that works off what is due, `PeriodicActor` of
`periods.py`.
"""
