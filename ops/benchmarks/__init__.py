"""What `ops/bench` does. A new operation is one row in `operations.py`."""
