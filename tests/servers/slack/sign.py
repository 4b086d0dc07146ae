"""Signs requests with Slack's own library: reads lines of JSON [secret, timestamp, body], prints signatures."""

import json
import sys

from slack_sdk.signature import SignatureVerifier

for line in sys.stdin:
    secret, timestamp, body = json.loads(line)
    print(SignatureVerifier(secret).generate_signature(timestamp=timestamp, body=body), flush=True)
