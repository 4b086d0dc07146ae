"""What the Neo4j used, by its process."""

import os
from pathlib import Path


def processor_of(pid):
    stat = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")


def megabytes_of(pid):
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def server_seconds():
    pid = os.environ.get("NEO4J_PID")
    return processor_of(pid) if pid else 0.0


def server_megabytes():
    pid = os.environ.get("NEO4J_PID")
    return megabytes_of(pid) if pid else 0.0
