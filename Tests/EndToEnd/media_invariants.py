"""What must hold of media: rows, sums and files."""
import hashlib
import os
import re

import buckets
from invariants import invariant

ORIGINAL = re.compile(r"[0-9a-f]{64}")
THUMBNAIL = re.compile(r"([0-9a-f]{64})-[0-9a-z]+\.[a-z]+")

THUMBNAIL_KEY = re.compile(r"([0-9a-f]{64})-[0-9a-z]+")


def files(store):
    """Paths of what lies in the media folder, by name."""
    root = os.path.join(store.folder, "media")
    return {name: os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names}


@invariant("media files are those of the rows, each content once, named by its hash")
def media_files(store):
    if buckets.of(store.folder):
        yield from bucket_files(store, buckets.of(store.folder))
        return
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


def bucket_files(store, bucket):
    service = buckets.service()
    found = service.objects(bucket)
    rows = {row["hash"]: row["bytes"] for row in store.rows("SELECT hash, bytes FROM media")}
    states = dict(store.rows("SELECT hash, state FROM media_object"))
    for name, bytes in sorted(rows.items()):
        size = found.get(f"media/{name[:2]}/{name}")
        if size != bytes:
            yield f"the object of {name} has {size} bytes, its row says {bytes}"
        if states.get(name, "alive") != "alive":
            yield f"the object of {name} is {states[name]}, and a row names it"
    for key in found:
        kind, folder, name = key.split("/")
        original = name if kind == "media" else THUMBNAIL_KEY.fullmatch(name)[1]
        if folder != original[:2] or original not in rows and original not in states:
            yield f"the object {key} is of nothing"
        elif kind == "media" and hashlib.sha256(service.read(bucket, key)).hexdigest() != name:
            yield f"the object {key} has another hash"


@invariant("what users have uploaded is the sum of the rows; what is awaited has not come")
def media_sums(store):
    sums = {row[0]: (row[1], row[2]) for row in store.rows("SELECT user_id, count(*), sum(bytes) FROM media GROUP BY user_id")}
    usage = {row["user_id"]: (row["items"], row["bytes"]) for row in store.rows("SELECT * FROM media_usage")}
    for user in sorted(set(sums) | set(usage)):
        if sums.get(user, (0, 0)) != usage.get(user, (0, 0)):
            yield f"{user} has {sums.get(user)}, the sums say {usage.get(user)}"
    for media_id in store.column("SELECT media_id FROM media_pending INTERSECT SELECT media_id FROM media"):
        yield f"{media_id} is there and awaited"
