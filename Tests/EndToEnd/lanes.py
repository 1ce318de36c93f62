"""Tests in lanes: each lane is a process that gets one part after the other, those that take longest first."""
import multiprocessing
import time
from dataclasses import dataclass, field
from multiprocessing.connection import wait

import kept_seconds
import processes
from lane import READY, Lane

# Seconds that the lanes may take to end their servers and browsers.
ENDING_SECONDS = 8


@dataclass
class Part:
    """The tests of a module, but for those that run alone, which are a part of their own."""
    name: str
    is_alone: bool
    tests: list = field(default_factory=list)


def parts_of(tests):
    """In the order of the tests, by their names."""
    found = {}
    for test in tests:
        name = test.module + (" alone" if test.is_alone else "")
        found.setdefault(name, Part(name, test.is_alone)).tests.append(test)
    return found


class Deal:
    """Which part a lane gets next: the longest that is left. The last of three or more lanes is for parts that wait for the clock, which need little
    of the processor that the others share."""

    def __init__(self, parts, lanes, known):
        beside = sorted((part for part in parts if not part.is_alone), key=lambda part: -kept_seconds.wall(known, part.name))
        self.waiting = [part for part in beside if kept_seconds.waits(known, part.name)]
        self.busy = [part for part in beside if part not in self.waiting]
        self.lane_of_waiting = lanes - 1 if lanes > 2 and self.waiting else None

    def next(self, lane):
        """None if there is none for this lane any more."""
        for queue in (self.waiting,) if lane == self.lane_of_waiting else (self.busy, self.waiting):
            if queue:
                return queue.pop(0)
        return None

    def left(self):
        return self.busy + self.waiting


class Lanes:
    """`on_result` gets each result, `on_part` each part with its wall and processor seconds, `on_trouble` the words for what else went wrong."""

    def __init__(self, count, options, on_result, on_part, on_trouble):
        self.count, self.options = count, options
        self.on_result, self.on_part, self.on_trouble = on_result, on_part, on_trouble
        # By connection: the lane's number and process; of those at work their part, and when it began, in wall and processor seconds.
        self._lanes, self._at_work, self._free = {}, {}, {}

    def run(self, parts):
        self._parts = parts
        deal = Deal(parts.values(), self.count, kept_seconds.load())
        alone = [part for part in parts.values() if part.is_alone]
        try:
            for number in range(self.count):
                self._start(number)
            self._serve(lambda number: deal.next(number), keeps_one=True)
            self._serve(lambda _: alone.pop(0) if alone else None)
        finally:
            self._end()
        for part in deal.left() + alone:
            self.on_trouble(f"{part.name} was not run: no lane is left")

    def _start(self, number):
        fork = multiprocessing.get_context("fork")
        ours, theirs = fork.Pipe()
        process = fork.Process(target=Lane(number, self.options, self._parts).work, args=(theirs,))
        process.start()
        theirs.close()
        self._lanes[ours] = number, process

    def _serve(self, next_part, keeps_one=False):
        """Hands parts to the lanes until all are taken. A lane that gets no part ends."""
        for connection in list(self._free):
            self._give(connection, next_part)
        while len(self._free) < len(self._lanes):
            for connection in wait([connection for connection in self._lanes if connection not in self._free]):
                if self._hear(connection):
                    self._give(connection, next_part)
            self._dismiss(list(self._free)[1:])
        if not keeps_one:
            self._dismiss(list(self._free))

    def _give(self, connection, next_part):
        number, process = self._lanes[connection]
        part = next_part(number)
        if part is None:
            self._free[connection] = None
            return
        self._free.pop(connection, None)
        self._at_work[connection] = part, time.monotonic(), processes.cpu_seconds(process.pid)
        connection.send(part.name)

    def _hear(self, connection):
        """Whether the lane wants a part."""
        _, process = self._lanes[connection]
        try:
            said = connection.recv()
        except (EOFError, ConnectionError):
            self._lost(connection)
            return False
        if said != READY:
            self.on_result(said)
            return False
        if connection in self._at_work:
            part, start, cpu = self._at_work.pop(connection)
            self.on_part(part, time.monotonic() - start, processes.cpu_seconds(process.pid) - cpu)
        return True

    def _lost(self, connection):
        """Another lane takes its place, unless this one could not even begin."""
        number, process = self._lanes.pop(connection)
        process.join(ENDING_SECONDS)
        part = self._at_work.pop(connection, None)
        when = f"in the middle of {part[0].name}" if part else "before its first module"
        self.on_trouble(f"lane {number} ended {when}, with status {process.exitcode}")
        if part:
            self._start(number)

    def _dismiss(self, connections):
        """They close their servers, schema checks and browsers."""
        for connection in connections:
            self._free.pop(connection)
            _, process = self._lanes.pop(connection)
            connection.send(None)
            process.join(60)
            if process.is_alive():
                self._kill(process)

    def _end(self):
        """After an interruption lanes are left, which are at work."""
        left = [process for _, process in self._lanes.values()]
        for process in left:
            process.terminate()
        end = time.monotonic() + ENDING_SECONDS
        for process in left:
            process.join(max(0, end - time.monotonic()))
            if process.is_alive():
                self._kill(process)

    @staticmethod
    def _kill(process):
        processes.end_descendants(process.pid)
        process.kill()
        process.join()
