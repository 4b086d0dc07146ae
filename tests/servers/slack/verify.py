"""Checks requests with Slack's own library: reads lines of JSON [secret, headers, body], prints True or False."""

import json
import sys

from slack_sdk.signature import SignatureVerifier

for line in sys.stdin:
    secret, headers, body = json.loads(line)
    print(SignatureVerifier(secret).is_valid_request(body, headers), flush=True)
