"""The implementation of `ops/seed`: it fills a database like that of an installation with years of use."""
