"""Make the file of the commonest passwords from the list of the package `zxcvbn`, which is not needed otherwise.

    .venv/bin/pip install zxcvbn==4.5.0
    .venv/bin/python ops/common_passwords.py

The list changes once in years, so the file is kept in the repository and no build makes it.
"""

import importlib
import importlib.metadata
import sys
from pathlib import Path

COUNT = 30_000
FILE = Path(__file__).resolve().parent.parent / "adapters" / "password_lists" / "common_passwords.txt"
HEADER = """\
# The {count} commonest passwords of leaked lists, sorted, in lower case; ops/common_passwords.py makes this file.
# They are the list "passwords" of the package zxcvbn {version} for Python, which has it from zxcvbn by Dropbox.
# Both are under the MIT License, which stands beside this file: license.txt.
"""


def main() -> int:
    """Write the file."""
    lists = importlib.import_module("zxcvbn.frequency_lists").FREQUENCY_LISTS
    # They come in the order of how common they are.
    passwords = sorted({password.casefold().encode("ascii") for password in lists["passwords"][:COUNT]})
    if len(passwords) != COUNT or any(b":" in password or password.startswith(b"#") for password in passwords):
        sys.stderr.write("The list is not what this program knows. Look at it, and change the program.\n")
        return 1
    header = HEADER.format(count=f"{COUNT:,}", version=importlib.metadata.version("zxcvbn"))
    FILE.write_bytes(header.encode("ascii") + b"".join(password + b"\n" for password in passwords))
    return 0


if __name__ == "__main__":
    sys.exit(main())
