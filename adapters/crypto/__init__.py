"""Cryptography by third-party packages: encryption, hashes, tokens, randomness."""
