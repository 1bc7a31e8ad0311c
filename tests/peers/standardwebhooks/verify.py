"""Verifies a delivery in a file with each of the secrets; writes `valid` or why it is not, in a line for each."""

import json
import sys
from pathlib import Path

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

delivery = json.loads(Path(sys.argv[1]).read_text())
for secret in sys.argv[2:]:
    try:
        Webhook(secret).verify(delivery["body"], delivery["headers"])
    except WebhookVerificationError as refused:
        sys.stdout.write(f"{refused}\n")
    else:
        sys.stdout.write("valid\n")
