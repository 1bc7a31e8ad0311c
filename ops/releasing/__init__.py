"""Making the files of a release, and checking those of one (`ops/release`, ops/decisions/0075-proof-of-a-release.md).

It needs the standard library alone, the program git, and minisign where something is signed or a signature is checked.
"""
