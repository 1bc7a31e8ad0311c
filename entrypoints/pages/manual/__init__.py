"""The manual, as it is served: the pages of `ops/docs` and `ops/runbooks`, found by their words."""
