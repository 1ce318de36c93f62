"""What Web/martlet-messenger.d.ts declares, and what the scripts and programs of the element have, read from their texts."""
import os
import re

from server import ROOT

WEB = os.path.join(ROOT, "Web")
CALLED_BY_BROWSERS = {"constructor", "connectedCallback", "disconnectedCallback", "attributeChangedCallback"}


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
    def __init__(self):
        self.text = without_comments(read("Web", "martlet-messenger.d.ts"))

    def members(self, name):
        """The members of a class or an interface, each as its text."""
        begin = self.text.index("{", re.search(rf"(?:class|interface) {name}\b", self.text).start())
        return split(self.text[begin + 1:closing(self.text, begin)], ";")

    def methods(self):
        """{name: names of its arguments}, without what every element has."""
        found = {}
        for member in self.members("MartletMessenger"):
            match = re.match(r"(\w+)\(", member)
            if match and match[1] != "addEventListener":
                arguments = member[match.end():closing(member, match.end() - 1)]
                found[match[1]] = [re.match(r"(?:\.\.\.)?\w+", argument)[0] for argument in split(arguments, ",")]
        return found

    def properties(self):
        """{name: whether it can only be read}"""
        matches = [re.match(r"(readonly )?(\w+): ", member) for member in self.members("MartletMessenger")]
        return {match[2]: match[1] is not None for match in matches if match}

    def attributes(self):
        return {re.match(r"'?([\w-]+)'?\?: ", member)[1] for member in self.members("MessengerAttributes")}

    def events(self):
        """{name: {key of its detail: whether it may be missing}}"""
        return {member.split(":")[0]: self.keys(member[member.index("<") + 1:-1]) for member in self.members("MessengerEventMap")}

    def keys(self, kind):
        found = {}
        for part in split(kind, "&"):
            for member in split(part[1:-1], ";") if part.startswith("{") else [] if part == "null" else self.members(part):
                match = re.match(r"(\w+)(\??)[:(]", member)
                found[match[1]] = match[2] == "?"
        return found


class Script:
    """The element's scripts, and what the two programs tell them."""

    def __init__(self):
        self.text = read("Web", "martlet-messenger.js")
        self.events_text = read("Web", "messenger-events.js")
        self.body = self.text[self.text.index("class MartletMessenger"):]

    def methods(self):
        found = {}
        for match in re.finditer(r"^  (?:async )?(\w+)\(", self.body, re.M):
            if match[1] not in CALLED_BY_BROWSERS:
                arguments = self.body[match.end():closing(self.body, match.end() - 1)]
                found[match[1]] = [argument for argument in split(arguments, ",")]
        return found

    def properties(self):
        setters = set(re.findall(r"^  set (\w+)\(", self.body, re.M))
        return {name: name not in setters for name in re.findall(r"^  get (\w+)\(", self.body, re.M)}

    def attributes(self):
        observed = re.search(r"observedAttributes = \[(.*?)\]", self.text)[1]
        return set(re.findall(r"'([\w-]+)'", observed)) | set(re.findall(r"(?:this\.(?:get|has)Attribute|#reflect)\('([\w-]+)'", self.text))

    def events(self):
        """All that is dispatched: what the element says itself, what it makes of a room's events, and what a program tells that it hands on."""
        own = set(re.findall(r"(?:#tell|CustomEvent)\('(\w+)'", self.text))
        made = set(re.findall(r"\['(\w+)', ", self.events_text)) | set(re.search(r"isUp \? '(\w+)' : '(\w+)'", self.events_text).groups())
        made |= set(re.findall(r"'(\w+)'", re.search(r"receiptKinds = \[(.*?)\]", self.events_text)[1]))
        told = set()
        for path in ("Sources/Web/MessengerElement", "Sources/Web/WebApp/App/Embedding.swift"):
            path = os.path.join(ROOT, path)
            for file in [path] if path.endswith(".swift") else [os.path.join(path, name) for name in os.listdir(path)]:
                told |= set(re.findall(r'(?:tell|need)\("(\w+)"', read(file)))
        kept = set(re.findall(r"case '(\w+)':[^\n]*return;", self.text)) | set(re.findall(r"case '(\w+)':", self.events_text)) | {"loaded"}
        return own | made | told - kept


def same_arguments(declared, written):
    """By their names; what a script takes apart has none."""
    plain = lambda argument: argument if argument.startswith("{") else argument.split("=")[0].strip()
    return len(declared) == len(written) and all(
        name == plain(argument) or plain(argument).startswith("{") for name, argument in zip(declared, written))
