"""Keys, tokens and other secrets that may stand in no log of a server, in no console of a page and in nothing that a run leaves behind."""
import os
import re

# What keys look like. Public keys, IDs of sessions and events look like any other base64, and are not among them.
SHAPES = {
    "a recovery key": r"\bEs[A-Za-z0-9]{2}(?: [1-9A-HJ-NP-Za-km-z]{4}){11}\b",
    "the key of a room": r"""session_key\W{1,6}[A-Za-z0-9+/]{100,}""",
    "a file of room keys": r"-----BEGIN MEGOLM SESSION DATA-----",
    "the key of a file": r"""\bk\W{1,6}[A-Za-z0-9_-]{43}\b""",
    "the key of a file in an address": r"#[A-Za-z0-9_-]{43}&[A-Za-z0-9+/%]{20,}",
    "a private key": r"""(?:private_key|secret_key|seed|pickle|pickled)\W{1,6}[A-Za-z0-9+/_-]{40,}""",
    "a secret of another device": r"""m\.secret\.send.{0,300}?secret\W{1,6}[A-Za-z0-9+/]{40,}""",
    "an access token": r"""(?:access_token|refresh_token)\W{1,6}[A-Za-z0-9._~+/-]{16,}|\bBearer [A-Za-z0-9._~+/-]{16,}""",
}
_SHAPES = {name: re.compile(pattern.encode()) for name, pattern in SHAPES.items()}
# Pictures are not read.
UNREAD = (".png", ".webm", ".mp4", ".zip")
# Shorter ones may stand somewhere by chance.
SPECIFIC_LENGTH = 12

_known = {}


def keep_secret(text, name="a token of a test"):
    """It is looked for from now on, as it is."""
    if text and len(text) >= SPECIFIC_LENGTH:
        _known[text.encode()] = name


def leaks(content):
    """What secrets stand in it: their names, not themselves."""
    if isinstance(content, str):
        content = content.encode()
    found = [name for name, shape in _SHAPES.items() if shape.search(content)]
    return sorted({*found, *(name for text, name in _known.items() if text in content)})


class Logs:
    """Files that grow: each call reads what is new of them."""

    def __init__(self):
        self._read = {}

    def leaks(self, paths):
        """What stands in which file, one sentence each."""
        found = []
        for path in paths:
            try:
                with open(path, "rb") as file:
                    size = os.fstat(file.fileno()).st_size
                    # What was cut in two the last time is whole now; a file that is shorter is another one.
                    start = self._read.get(path, 0)
                    file.seek(max(0, start - 4_096) if size >= start else 0)
                    content = file.read()
            except OSError:
                continue
            if size == self._read.get(path):
                continue
            self._read[path] = size
            found += [f"{name} stands in {os.path.basename(path)}" for name in leaks(content)]
        return found


def artifacts(folder):
    """Texts that a run has left there."""
    return [os.path.join(place, name) for place, _, names in os.walk(folder) for name in names if not name.endswith(UNREAD)]
