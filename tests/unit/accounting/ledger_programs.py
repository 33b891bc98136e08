"""What tests of ledgers share: programs that run apart, and a mechanism that releases what it is told."""

import subprocess
import sys

import simplexdp as sdp

UNIT = sdp.PrivacyCurve.pure(2.0**-10)

PREAMBLE = """
import gc, multiprocessing, os, select, signal, sys, threading, time
import simplexdp as sdp
path, unit, children = sys.argv[1], sdp.PrivacyCurve.pure(2.0**-10), []
def child(work):
    pid = os.fork()
    if pid == 0:
        try: work(); os._exit(0)
        except BaseException as error: print(repr(error), file=sys.stderr); os._exit(1)
    children.append(pid)
def wait():
    for pid in children: assert os.waitpid(pid, 0)[1] == 0, "a child failed"
def expect(debits):
    found = sdp.Accountant.open(path)
    assert (found.debits, found.spent_epsilon()) == (debits, debits * 2.0**-10), found.debits
"""


def run(code: str, *arguments: object) -> str:
    """Run a program in a process of its own, warnings as errors, and return what it prints."""
    command = [sys.executable, "-W", "error", "-c", code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


class Constant:
    """A mechanism that releases one value, and counts its draws."""

    privacy = UNIT

    def __init__(self, value=1.5):
        self.value = value
        self.drawn = 0

    def release(self, *_):
        self.drawn += 1
        return self.value
