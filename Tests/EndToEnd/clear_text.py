"""What can be read in the stores of clients and of the server, as it lies there."""
import contextlib
import os

# What every store of a client has, sealed: none of these may stand in a file or record as it is.
ALWAYS_SEALED = ("access_token", "refresh_token", "curve25519", "m.room.message")
# Shorter texts may stand in a file by chance.
SPECIFIC_LENGTH = 8


def specific(texts):
    return [text for text in texts if len(text) >= SPECIFIC_LENGTH]


def found_in_folder(folder, *words, without=()):
    """Which of these words stand in which file of the folder; `without`: names of files that are left out."""
    found = []
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            if name not in without and os.path.isfile(path):
                found += found_in_file(path, *words)
    return found


def found_in_file(path, *words):
    # Files of a program that runs come and go.
    with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
        content = file.read()
        return [(path, word) for word in words if word.encode() in content]
    return []
