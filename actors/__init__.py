"""Supervised Trio tasks that run beside the requests.

One that sends extends `Dispatcher` of `dispatching.py`, one that works every period `PeriodicActor` of `periods.py`.
"""
