"""What the benchmarks of the whole program share: a process of it, how it is told something, and what it used. Needs Python 3.9 and nothing else."""

import hashlib
import hmac
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

SECRET = "a-secret-of-this-benchmark-only"

# Ordinary words, so that earlier turns are found to be about the same.
PLACES = "cellar attic kitchen garden office hall workshop library garage canteen terrace archive laundry stairwell courtyard roof".split()
THINGS = (
    "printer kettle lease invoice ladder violin ticket boiler projector whiteboard microscope bicycle freezer generator scanner "
    "telescope piano dishwasher router thermostat sprinkler lathe kiln forklift heater camera antenna battery compressor pump"
).split()


def quantile(values, share):
    """Milliseconds, of seconds."""
    values = sorted(values)
    return 1000 * values[min(len(values) - 1, int(len(values) * share))] if values else 0.0


def signature(body):
    """The value of the header `Muninn-Signature`."""
    now = str(int(time.time()))
    return f"t={now},v1={hmac.new(SECRET.encode(), f'{now}.{body}'.encode(), hashlib.sha256).hexdigest()}"


def usage_of(pid):
    """Processor seconds, and megabytes."""
    stat = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    seconds = (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")
    status = Path(f"/proc/{pid}/status").read_text()
    return seconds, int(status.split("VmRSS:")[1].split()[0]) / 1024


def settings(folder, on_neo4j):
    """The defaults, without limits that are for people."""
    found = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "DATA_DIR": str(folder),
        "GRAPH_TIMEOUT": "60",
        "MESSAGES_PER_MINUTE": "10000000",
        "LOG": "error",
    }
    if on_neo4j:
        found |= {"GRAPH_URL": os.environ["NEO4J_URI"]}
        found |= {"GRAPH_USER": os.environ["NEO4J_USER"], "GRAPH_PASSWORD": os.environ["NEO4J_PASSWORD"]}
    # So that what traces cost can be measured.
    return found | {name: value for name, value in os.environ.items() if name.startswith("OTEL_")}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Bot:
    """A process of Muninn, with a data folder of its own, whose answers go to an address."""

    def __init__(self, program, answer_url, folder, on_neo4j=True):
        self.port = free_port()
        folder.mkdir(exist_ok=True)
        webhook = {
            "WEBHOOK_ADDR": f"127.0.0.1:{self.port}",
            "WEBHOOK_SECRET": SECRET,
            "WEBHOOK_ANSWER_URL": answer_url,
            "INBOX_SIZE": "4096",
        }
        self.began = time.monotonic()
        environment = settings(folder, on_neo4j) | webhook
        self.process = subprocess.Popen([program, "serve"], env=environment, cwd=folder, stdin=subprocess.DEVNULL)

    def ready(self):
        """The seconds until it listens."""
        while self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return time.monotonic() - self.began
            except OSError:
                time.sleep(0.01)
        raise SystemExit("muninn ended before it listened; is NEO4J_URI right?")

    def usage(self):
        return usage_of(self.process.pid)

    def end(self, how=signal.SIGTERM):
        """The seconds until it ended."""
        began = time.monotonic()
        self.process.send_signal(how)
        self.process.wait()
        return time.monotonic() - began
