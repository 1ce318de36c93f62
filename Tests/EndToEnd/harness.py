"""Collects tests and runs them: a sentence for each, one line for each, a traceback where one fails."""
import asyncio
import inspect
import os
import sys
import time
import traceback
import urllib.request

TESTS = []

# Seconds that something may take which is sure to come: a crowded machine is slow, and what works is not waited for that long.
PATIENCE = 60
# Seconds that a whole test may take.
TEST_SECONDS = 480


def test(sentence, differs_on_synapse=None):
    """`differs_on_synapse` says why the test, right by the specification, is not run against Synapse."""
    def add(function):
        TESTS.append((function.__module__, sentence, function, differs_on_synapse))
        return function
    return add


class NotRun(Exception):
    """Raised by a test that lacks something; its text says what."""


# What the tests have to do without, by `run --without`.
WITHOUT = set()


def needs_browser():
    """Stands before everything that starts a browser. Modules of nothing else say NEEDS_BROWSER = True, and are not begun at all."""
    if "browser" in WITHOUT:
        raise NotRun("browsers are left out")


class Context:
    """What the tests are given.

    base: where clients connect (through the schema proxy if there is one). direct: the server itself. server: the `Server` behind it, None with --base.
    limited_base(): a server with its rate limits on. artifacts: a folder for screenshots and the like."""

    def __init__(self, base, direct, server=None, is_synapse=False, limited=None, artifacts="."):
        self.base, self.direct, self.server, self.is_synapse, self.artifacts = base, direct, server, is_synapse, artifacts
        self._limited = limited

    def begin(self, test):
        """Tells the schema check, where there is one, who asks from now on."""
        if self.base != self.direct:
            urllib.request.urlopen(urllib.request.Request(self.base + "/.schema-check/test", test.encode(), method="PUT")).close()

    def limited_base(self):
        if self._limited is None:
            raise NotRun("no server with rate limits (--limited-base)")
        return self._limited() if callable(self._limited) else self._limited

    def own_server(self):
        """For tests that kill it."""
        if self.server is None:
            raise NotRun("needs a server of its own, --base was given")


def why(error):
    """What an error says, in one line; where it says nothing, the line that raised it: a record of CI keeps little more than that."""
    lines = [line.strip() for line in str(error).strip().splitlines()[:4]]
    notes = getattr(error, "__notes__", [])
    if lines:
        return " | ".join([*notes, *lines])
    place = traceback.extract_tb(error.__traceback__)[-1]
    return " | ".join([*notes, f"at {os.path.basename(place.filename)}:{place.lineno}: {place.line}"])


# A tab of Chromium that died: of its own accord once in some thousand tests, which says nothing of ours. It may do so once in a test, and is told of.
BROWSER_CRASHED = "Target crashed"


def carry_out(function, context):
    result = function(context)
    if inspect.iscoroutine(result):
        asyncio.run(asyncio.wait_for(result, TEST_SECONDS))


def run(context, only=None, named=""):
    """(passed, failed, not run) of the tests of these modules whose sentence has those words"""
    counts = [0, 0, 0]
    module = None
    for name, sentence, function, difference in TESTS:
        if only and name.removeprefix("test_") not in only or named not in sentence:
            continue
        if name != module:
            module = name
            print(f"\n{name}", flush=True)
        start = time.monotonic()
        context.begin(f"{name.removeprefix('test_')}: {sentence}")
        try:
            if difference and context.is_synapse:
                raise NotRun("Synapse: " + difference)
            try:
                carry_out(function, context)
            except Exception as error:
                if BROWSER_CRASHED not in str(error):
                    raise
                print(f"  again   {sentence}: {why(error)[:500]}", flush=True)
                carry_out(function, context)
            counts[0] += 1
            print(f"  ok      {sentence} ({time.monotonic() - start:.1f} s)", flush=True)
        except NotRun as reason:
            counts[2] += 1
            print(f"  not run {sentence}: {reason}", flush=True)
        except Exception as error:
            counts[1] += 1
            print(f"  FAILED  {sentence}: {type(error).__name__} {why(error)[:500]}", flush=True)
            for line in traceback.format_exc().splitlines()[1:]:
                print("          " + line, flush=True)
    sys.stdout.flush()
    return tuple(counts)
