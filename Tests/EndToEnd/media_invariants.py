"""What must hold of media: rows, sums and files."""
import hashlib
import os
import re

from invariants import invariant

ORIGINAL = re.compile(r"[0-9a-f]{64}")
THUMBNAIL = re.compile(r"([0-9a-f]{64})-[0-9a-z]+\.[a-z]+")


def files(store):
    """Paths of what lies in the media folder, by name."""
    root = os.path.join(store.folder, "media")
    return {name: os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names}


@invariant("media files are those of the rows, each content once, named by its hash")
def media_files(store):
    found = files(store)
    rows = {row["hash"]: row for row in store.rows("SELECT hash, bytes FROM media")}
    for name in sorted(set(rows) - set(found)):
        yield f"the file {name} is not there"
    for name, path in found.items():
        folder = os.path.basename(os.path.dirname(path))
        thumbnail = THUMBNAIL.fullmatch(name)
        if thumbnail:
            if thumbnail[1] not in rows:
                yield f"the thumbnail {name} is of nothing"
            continue
        if not ORIGINAL.fullmatch(name) or folder != name[:2]:
            yield f"{folder}/{name} is no place for a file"
        elif name not in rows:
            yield f"the file {name} has no row"
        else:
            with open(path, "rb") as f:
                content = f.read()
            if hashlib.sha256(content).hexdigest() != name:
                yield f"the file {name} has another hash"
            if len(content) != rows[name]["bytes"]:
                yield f"the file {name} has {len(content)} bytes, its row says {rows[name]['bytes']}"


@invariant("what users have uploaded is the sum of the rows; what is awaited has not come")
def media_sums(store):
    sums = {row[0]: (row[1], row[2]) for row in store.rows("SELECT user_id, count(*), sum(bytes) FROM media GROUP BY user_id")}
    usage = {row["user_id"]: (row["items"], row["bytes"]) for row in store.rows("SELECT * FROM media_usage")}
    for user in sorted(set(sums) | set(usage)):
        if sums.get(user, (0, 0)) != usage.get(user, (0, 0)):
            yield f"{user} has {sums.get(user)}, the sums say {usage.get(user)}"
    for media_id in store.column("SELECT media_id FROM media_pending INTERSECT SELECT media_id FROM media"):
        yield f"{media_id} is there and awaited"
