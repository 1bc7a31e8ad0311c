"""Validates documents by a schema of OASIS, which the library contains.

    python validate.py SCHEMA FILE…

It is run by the peer's own Python, and writes a line for each invalid file, with what is wrong.
"""

import importlib
import sys
from pathlib import Path

from lxml import etree

schema, *files = sys.argv[1:]
folder = Path(str(importlib.import_module("onelogin.saml2").__file__)).parent / "schemas"
validator = etree.XMLSchema(etree.parse(str(folder / schema)))
for file in files:
    if not validator.validate(etree.parse(file)):
        sys.stdout.write(f"{Path(file).name} {validator.error_log}\n")
