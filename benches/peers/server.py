"""What the Neo4j used, by its process."""

import os

from support import usage_of


def server_usage():
    """Processor seconds, and megabytes; nothing of a server elsewhere."""
    pid = os.environ.get("NEO4J_PID")
    return usage_of(pid) if pid else (0.0, 0.0)


def server_seconds():
    return server_usage()[0]


def server_megabytes():
    return server_usage()[1]
