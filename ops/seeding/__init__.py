"""The implementation of `ops/seed`: it fills a database as years of use would."""
