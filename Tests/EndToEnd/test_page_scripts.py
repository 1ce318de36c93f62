"""The page's scripts as they lie in Web/: what they import, the lists of them that are kept by hand, and what programs and page say to each
other. Nothing here needs a browser."""
import importlib.machinery
import importlib.util
import os
import re

from harness import test
from server import ROOT

AT_ONCE = r"^import (?:[^'\n]* from )?'\./([\w.-]+)';"
LATER = r"\bimport\('\./([\w.-]+)'\)"
WORKER = r"\bnew Worker\(new URL\('([\w.-]+)'"


def text(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


PROGRAM = ["app.wasm", *(f"app.{part}.wasm" for part in re.findall(r"^([a-z]+) ", text("Web", "program-parts.txt"), re.MULTILINE))]


def imports_of(name, *ways):
    return [other for way in ways for other in re.findall(way, text("Web", name), re.MULTILINE)]


def imported(scripts, *ways):
    """These scripts and all that they import in these ways, one by another."""
    found, waiting = set(), list(scripts)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += imports_of(name, *ways)
    return found


@test("the page loads beforehand what its scripts import, and the service worker keeps all of its files")
def _(test):
    page, worker = text("Web", "index.html"), text("Web", "sw.js")
    scripts = re.findall(r'<script type="module"(?: async)? src="([^"]+)"', page)
    preloaded = re.findall(r'<link rel="modulepreload" href="([^"]+)"', page)
    at_once = imported(scripts, AT_ONCE) - {"host.js"}
    assert scripts == ["host.js", "early.js"] and len(at_once) > 10 and sorted(preloaded) == sorted(at_once), set(preloaded) ^ at_once
    kept = re.findall(r"'([^']+)'", re.search(r"^const files = \[(.*?)\];", worker, re.MULTILINE | re.DOTALL).group(1))
    kept_scripts = [name for name in kept if name.endswith(".js")]
    # What is imported later is wanted without a network, too.
    wanted = imported(scripts, AT_ONCE, LATER, WORKER)
    assert sorted(kept_scripts) == sorted(wanted), set(kept_scripts) ^ wanted
    linked = set(re.findall(r'<link rel="(?:icon|manifest|preload|stylesheet)" href="([^"]+)"', page))
    assert linked <= set(kept), linked - set(kept)
    # The page for administrators shows nothing without a network.
    lacking = set(PROGRAM) - {"app.administration.wasm"} - set(kept)
    assert not lacking, lacking
    # Scripts/build-web joins the style sheet from its parts.
    assert all(name in [*PROGRAM, "./", "app.css"] or os.path.exists(os.path.join(ROOT, "Web", name)) for name in kept), kept


@test("the frame of the messenger loads beforehand what its program needs")
def _(test):
    preloaded = re.findall(r'<link rel="modulepreload" href="([^"]+)"', text("Web", "messenger.html"))
    wanted = imported(["host.js"], AT_ONCE)
    assert sorted(preloaded) == sorted(wanted), set(preloaded) ^ wanted


def circle(imports):
    """The names around a circle of a graph, or None: `imports` has the names that each imports."""
    state, way = {}, []

    def visit(name):
        if state.get(name) == "done":
            return None
        if name in way:
            return way[way.index(name):] + [name]
        way.append(name)
        found = next(filter(None, map(visit, imports.get(name, []))), None)
        way.pop()
        state[name] = "done"
        return found
    return next(filter(None, map(visit, imports)), None)


@test("no script of the page imports itself by way of others, at once or later")
def _(test):
    assert circle({"a": ["b", "c"], "b": ["c"], "c": []}) is None
    assert circle({"a": ["b"], "b": ["c", "d"], "c": [], "d": ["b"]}) == ["b", "d", "b"]
    names = [name for name in os.listdir(os.path.join(ROOT, "Web")) if name.endswith(".js")]
    graph = {name: imports_of(name, AT_ONCE, LATER) for name in names}
    assert len(names) > 30 and sum(map(len, graph.values())) > 60, graph
    # Every import is one that the patterns see.
    for name in names:
        written = re.findall(r"^import\b|^export .* from |\bimport\(", text("Web", name), re.MULTILINE)
        assert len(written) == len(graph[name]), (name, graph[name])
    assert circle(graph) is None, circle(graph)


def host_protocol():
    """Scripts/host-protocol as a module."""
    loader = importlib.machinery.SourceFileLoader("host_protocol", os.path.join(ROOT, "Scripts", "host-protocol"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


@test("programs and page know the same calls, commands and events: both sides are written from one list, and each file serves its calls")
def _(test):
    script = host_protocol()
    protocol = script.parse(script.read(script.LIST))
    assert len(protocol.calls) > 70 and len(protocol.commands) > 20 and len(protocol.events) > 12
    assert script.read(script.SWIFT) == script.swift(protocol), "run Scripts/host-protocol"
    assert script.read(script.SCRIPT) == script.script(protocol), "run Scripts/host-protocol"
    assert script.lacking(protocol, lambda name: text("Web", name)) == []


@test("a call, a command or an event that one side has under another name or number is found")
def _(test):
    script = host_protocol()
    listed = script.read(script.LIST)
    protocol = script.parse(listed)

    def renamed(wanted, old, new):
        def read(name):
            found = text("Web", name)
            assert name != wanted or re.search(old, found, re.MULTILINE), (wanted, old)
            return re.sub(old, new, found, flags=re.MULTILINE) if name == wanted else found
        return script.lacking(protocol, read)
    assert renamed("page.js", r"^    page_reload:", "    page_load:") == ["page.js does not serve page_reload"]
    assert renamed("dom-batch.js", r"^  translateY\(", "  translate(") == ["dom-batch.js has no command translateY"]
    assert renamed("events.js", r"^  swipe:", "  swiped:") == ["events.js has no event swipe"]
    assert renamed("page.js", r"pageChanges\.escape", "pageChanges.leave") == ["page.js tells of no change escape"]
    for old, new in (("command 7 remove", "command 77 remove"), ("event 3 scroll", "event 33 scroll"), ("call lock id:int", "call hold id:int"),
                     ("change 7 escape", "change 8 escape"), ("state 3 dark", "state 19 dark"), ("name:atom value:text", "value:text name:atom")):
        assert old in listed
        other = script.parse(listed.replace(old, new, 1))
        assert script.read(script.SWIFT) != script.swift(other) and script.read(script.SCRIPT) != script.script(other), old


# Imports of other hosts: an instance of MartletCall has a host of its own.
@test("what martlet-call.js serves its program is of the list")
def _(test):
    script = host_protocol()
    calls = {call.name for call in script.parse(script.read(script.LIST)).calls}
    host = re.search(r"#host\(\) \{(.*?)\n  \}", text("Web", "martlet-call.js"), re.DOTALL).group(1)
    served = set(re.findall(r"^      (\w+): ", host, re.MULTILINE))
    assert len(served) >= 10 and served <= calls, served - calls
