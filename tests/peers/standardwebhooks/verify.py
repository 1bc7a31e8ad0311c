"""Verifies a delivery with the library of Standard Webhooks.

    python verify.py DELIVERY SECRET…

It is run by the peer's own Python, and writes a line for each secret: `valid`, or why it is not.
"""

import importlib
import json
import sys
from pathlib import Path

library = importlib.import_module("standardwebhooks.webhooks")
delivery = json.loads(Path(sys.argv[1]).read_text())
for secret in sys.argv[2:]:
    try:
        library.Webhook(secret).verify(delivery["body"], delivery["headers"])
    except library.WebhookVerificationError as refused:
        sys.stdout.write(f"{refused}\n")
    else:
        sys.stdout.write("valid\n")
