"""What the .d.ts files in Web/ declare, and what the scripts and programs behind them have, read from their texts."""
import os
import re

from server import ROOT

WEB = os.path.join(ROOT, "Web")
CALLED_BY_BROWSERS = {"constructor", "connectedCallback", "disconnectedCallback", "attributeChangedCallback"}
# What every target of events has.
INHERITED = {"addEventListener", "removeEventListener"}


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def without_comments(text):
    return re.sub(r"//[^\n]*", "", re.sub(r"/\*.*?\*/", "", text, flags=re.S))


def closing(text, start):
    """Where the bracket that opens at `start` closes."""
    depth = 0
    for index in range(start, len(text)):
        depth += {"{": 1, "(": 1, "[": 1, "}": -1, ")": -1, "]": -1}.get(text[index], 0)
        if depth == 0:
            return index
    raise ValueError(f"a bracket does not close: {text[start:start + 60]}")


def split(text, separators):
    """Pieces between separators that stand in no bracket; `<` and `>` are brackets of types."""
    pieces, depth, piece = [], 0, ""
    for index, character in enumerate(text):
        if character in "({[<":
            depth += 1
        elif character in ")}]" or (character == ">" and text[index - 1] != "="):
            depth -= 1
        if depth == 0 and character in separators:
            pieces.append(piece.strip())
            piece = ""
        else:
            piece += character
    return [part for part in pieces + [piece.strip()] if part]


class Declarations:
    """Of one file. `name` is that of a class or an interface."""

    def __init__(self, file):
        self.text = without_comments(read("Web", file))

    def members(self, name):
        """The members, each as its text."""
        begin = self.text.index("{", re.search(rf"(?:class|interface) {name}\b", self.text).start())
        return split(self.text[begin + 1:closing(self.text, begin)], ";")

    def methods(self, name):
        """{name: [(name of an argument, its type)]}; one of the class itself is called `static …`."""
        found = {}
        for member in self.members(name):
            match = re.match(r"((?:static )?\w+)\(", member)
            if match and match[1] not in INHERITED:
                arguments = split(member[match.end():closing(member, match.end() - 1)], ",")
                found[match[1]] = [re.match(r"((?:\.\.\.)?\w+)\??: (.*)", argument, re.S).groups() for argument in arguments]
        return found

    def properties(self, name):
        """{name: whether it can only be read}"""
        matches = [re.match(r"(static )?(readonly )?(\w+): ", member) for member in self.members(name)]
        return {(match[1] or "") + match[3]: match[2] is not None for match in matches if match}

    def attributes(self, name):
        return {re.match(r"'?([\w-]+)'?\?: ", member)[1] for member in self.members(name)}

    def events(self, name):
        """{name: {key of its detail: whether it may be missing}}"""
        return {member.split(":")[0]: self.keys(member[member.index("<") + 1:-1]) for member in self.members(name)}

    def listened(self, name):
        """The events that `addEventListener` of it takes, where there is no map of them."""
        return {event for member in self.members(name) if member.startswith("addEventListener(") for event in re.findall(r"'(\w+)'", member)}

    def keys(self, kind):
        found = {}
        for part in split(kind, "&"):
            for member in split(part[1:-1], ";") if part.startswith("{") else [] if part == "null" else self.members(part):
                match = re.match(r"(?:readonly )?(\w+)(\??)[:(]", member)
                found[match[1]] = match[2] == "?"
        return found


class Script:
    """A class in a script."""

    def __init__(self, file, name):
        self.text = read("Web", file)
        begin = self.text.index("{", re.search(rf"class {name}\b", self.text).start())
        self.body = self.text[begin + 1:closing(self.text, begin)]

    def methods(self):
        """Those that are not for the script alone."""
        found = {}
        for match in re.finditer(r"^  ((?:static )?)(?:async )?([a-z]\w*)\(", self.body, re.M):
            found[match[1] + match[2]] = split(self.body[match.end():closing(self.body, match.end() - 1)], ",")
        return found

    def properties(self):
        """{name: whether it can only be read}; what the constructor writes is the class's own to write."""
        setters = set(re.findall(r"^  set (\w+)\(", self.body, re.M))
        getters = re.findall(r"^  ((?:static )?)get ([a-z]\w*)\(", self.body, re.M)
        written = re.findall(r"^    this\.([a-z]\w*) = ", self.body, re.M)
        return {kind + name: name not in setters for kind, name in getters} | {name: True for name in written}

    def dispatched(self):
        return set(re.findall(r"(?:#tell|CustomEvent)\('(\w+)'", self.body))

    def details(self):
        """{event: keys of its detail} of what `#tell` tells; of `connected` and `reconnected` in one place."""
        found = {}
        for match in re.finditer(r"#tell\((?='|type, \{)", self.body):
            name, detail = split(self.body[match.end():closing(self.body, match.end() - 1)], ",")
            keys = {re.match(r"\w+", part)[0] for part in split(detail[1:-1], ",")}
            for event in [name[1:-1]] if name != "type" else re.findall(r"#connected\('(\w+)'", self.body):
                found[event] = keys
        return found


class ElementScript(Script):
    """The element's scripts, and what the two programs tell them."""

    def __init__(self):
        super().__init__("martlet-messenger.js", "MartletMessenger")
        self.events_text = read("Web", "messenger-events.js")

    def methods(self):
        return {name: arguments for name, arguments in super().methods().items() if name not in CALLED_BY_BROWSERS}

    def attributes(self):
        observed = re.search(r"observedAttributes = \[(.*?)\]", self.body)[1]
        return set(re.findall(r"'([\w-]+)'", observed)) | set(re.findall(r"(?:this\.(?:get|has)Attribute|#reflect)\('([\w-]+)'", self.text))

    def events(self):
        """All that is dispatched: what the element says itself, what it makes of a room's events, and what a program tells that it hands on."""
        made = set(re.findall(r"\['(\w+)', ", self.events_text)) | set(re.search(r"isUp \? '(\w+)' : '(\w+)'", self.events_text).groups())
        made |= set(re.findall(r"'(\w+)'", re.search(r"receiptKinds = \[(.*?)\]", self.events_text)[1]))
        told = set()
        for path in ("Sources/Web/MessengerElement", "Sources/Web/WebApp/App/Embedding.swift"):
            path = os.path.join(ROOT, path)
            for file in [path] if path.endswith(".swift") else [os.path.join(path, name) for name in os.listdir(path)]:
                told |= set(re.findall(r'(?:tell|need)\("(\w+)"', read(file)))
        kept = set(re.findall(r"case '(\w+)':[^\n]*return;", self.text)) | set(re.findall(r"case '(\w+)':", self.events_text)) | {"loaded"}
        return self.dispatched() | made | told - kept


def require_same_methods(declarations, declared, written):
    """These have the same arguments: by their names, and what a script takes apart by the names of its parts."""
    if declared.keys() != written.keys():
        raise AssertionError(f"methods: {sorted(declared.keys() ^ written.keys())}")
    for name, arguments in declared.items():
        parts = written[name]
        if len(arguments) != len(parts) or not all(
                same_argument(declarations, *argument, part) for argument, part in zip(arguments, parts)):
            raise AssertionError(f"{name}: {arguments}, and {parts}")


def same_argument(declarations, name, kind, written):
    if not written.startswith("{"):
        return name == written.split("=")[0].strip()
    inside = split(written[1:closing(written, 0)], ",")
    return declarations.keys(kind).keys() == {re.match(r"\w+", part)[0] for part in inside}
