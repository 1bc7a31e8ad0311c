"""Making and checking the files of a release (`ops/release`, ops/decisions/0075-proof-of-a-release.md).

It needs the standard library alone, the program git, and minisign where something is signed or a signature is checked.
"""
