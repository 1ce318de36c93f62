"""Collects tests and carries them out: a sentence for each, a traceback if one fails."""
import asyncio
import contextlib
import inspect
import io
import os
import signal
import time
import traceback
import urllib.request
from dataclasses import dataclass
from typing import Callable

import leaks
import nodes
import processes
import server

TESTS = []

# Seconds that something may take which is sure to come: a crowded machine is slow, and what works is not waited for that long.
PATIENCE = 60
# Seconds that a whole test may take, and how many more until its lane is given up.
TEST_SECONDS = 3_600 if os.environ.get("MARTLET_LONG") == "1" else 480
STUCK_SECONDS = 60
# Seconds that the browsers of a lane may take to close.
CLOSING_SECONDS = 10


@dataclass
class Test:
    module: str
    sentence: str
    function: Callable
    differs_on_synapse: str | None
    is_alone: bool
    needs_browser: bool
    one_server: str | None = None


def test(sentence, differs_on_synapse=None, alone=None, browser=None, one_server=None):
    """`differs_on_synapse` says why the test, right by the specification, is not run against Synapse.

    `alone`: no other test runs at the same time, because this one measures time or takes all of the machine. `browser`: it needs one. Modules say
    ALONE = True and NEEDS_BROWSER = True above their tests if most of them do. `one_server` says why the test cannot be run on several nodes."""
    def add(function):
        of_module = function.__globals__.get
        is_alone = of_module("ALONE", False) if alone is None else alone
        in_browser = of_module("NEEDS_BROWSER", False) if browser is None else browser
        TESTS.append(Test(function.__module__.removeprefix("test_"), sentence, function, differs_on_synapse, is_alone, in_browser, one_server))
        return function
    return add


class NotRun(Exception):
    """Raised by a test that lacks something; its text says what."""


class Stuck(BaseException):
    """A test that neither ends nor lets itself be cancelled; its text says what it waits for. No test may catch it as it catches failures."""


# What the tests have to do without, by `run --without`.
WITHOUT = set()


def needs_browser():
    """Called before anything that starts a browser. Tests known to need a browser are not even started without it."""
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


def stack(coroutine):
    """Where a coroutine waits, a line for each of those that it waits for in turn."""
    lines = []
    while frame := getattr(coroutine, "cr_frame", None):
        lines.append(f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno} {frame.f_code.co_name}")
        coroutine = coroutine.cr_await
    return lines


@dataclass
class Result:
    """`outcome`: "ok", "FAILED" or "not run". `words`: what it printed, and the traceback of a failure, as lines."""
    module: str
    sentence: str
    outcome: str
    reason: str
    seconds: float
    cpu: float
    words: list


class Runner:
    """Carries out tests one after the other in one event loop, so that what is slow to start, a browser, outlives the test that started it."""

    current = None

    def __init__(self, context):
        self.context = context
        self._runner = asyncio.Runner()
        self._at_end = {}
        self.module = None
        self.sentence = None
        # After a stuck test nothing can be said of the loop, the browser and the servers.
        self.is_stuck = False
        self._logs = leaks.Logs()

    def __enter__(self):
        Runner.current = self
        signal.signal(signal.SIGALRM, self._give_up)
        return self

    def __exit__(self, *_):
        Runner.current = None
        for close in self._at_end:
            with contextlib.suppress(Exception):
                self._runner.run(asyncio.wait_for(close(), CLOSING_SECONDS))
        self._runner.close()

    def is_here(self):
        """Whether the running event loop is the one that stays."""
        return asyncio.get_running_loop() is self._runner.get_loop()

    def at_end(self, close):
        """`close` is an asynchronous function; it is called once, however often it is given."""
        self._at_end[close] = None

    def carry_out(self, test):
        self.module, self.sentence = test.module, test.sentence
        start, cpu, output = time.monotonic(), processes.cpu_seconds(os.getpid()), io.StringIO()
        with contextlib.redirect_stdout(output):
            outcome, reason, trace = self._outcome(test)
        seconds = time.monotonic() - start
        # A browser that ends here brings what it took for tests before.
        cpu = min(processes.cpu_seconds(os.getpid()) - cpu, seconds * os.cpu_count())
        return Result(test.module, test.sentence, outcome, reason, seconds, cpu, output.getvalue().splitlines() + ["          " + line for line in trace])

    def _outcome(self, test):
        try:
            signal.setitimer(signal.ITIMER_REAL, TEST_SECONDS + STUCK_SECONDS)
            self.context.begin(f"{test.module}: {test.sentence}")
            if test.differs_on_synapse and self.context.is_synapse:
                raise NotRun("Synapse: " + test.differs_on_synapse)
            if test.one_server and nodes.COUNT > 1:
                raise NotRun("several nodes: " + test.one_server)
            try:
                self._run(test.function)
            except Exception as error:
                if BROWSER_CRASHED not in str(error):
                    raise
                print(f"          again, because of {why(error)[:500]}")
                self._run(test.function)
            self.search_logs()
            return "ok", "", []
        except NotRun as reason:
            return "not run", str(reason), []
        except (Exception, Stuck) as error:
            self.is_stuck = isinstance(error, Stuck)
            return "FAILED", f"{type(error).__name__} {why(error)[:500]}", traceback.format_exc().splitlines()[1:]
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def search_logs(self):
        """Servers and runs leave no keys behind."""
        found = self._logs.leaks([*server.logs, *leaks.artifacts(self.context.artifacts)])
        assert not found, found

    def _give_up(self, *_):
        try:
            # A test may have a loop of its own.
            loop = asyncio.get_running_loop()
        except RuntimeError:
            loop = self._runner.get_loop()
        waiting = [" < ".join(reversed(stack(task.get_coro()))) for task in asyncio.all_tasks(loop)]
        raise Stuck("\n".join([f"after {TEST_SECONDS + STUCK_SECONDS} seconds", *waiting]))

    def _run(self, function):
        result = function(self.context)
        if inspect.iscoroutine(result):
            self._runner.run(self._enclosed(result))

    async def _enclosed(self, coroutine):
        """Ends the tasks that a test leaves behind, but not those of Playwright, which belong to the browser."""
        before = asyncio.all_tasks()
        try:
            await asyncio.wait_for(coroutine, TEST_SECONDS)
        finally:
            code = lambda task: getattr(task.get_coro(), "cr_code", None)
            left = [task for task in asyncio.all_tasks() - before if code(task) is None or "playwright" not in code(task).co_filename]
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)
