"""Runs the checks: the gate (`ops/test`), the long tests that a change asks for, and `ops/report`."""
