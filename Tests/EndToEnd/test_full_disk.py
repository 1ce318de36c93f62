"""A disk that fills up: nothing is lost, everybody is told, reading and deleting go on. On 48 MB of tmpfs, where mounting is allowed."""
import contextlib
import json
import os
import subprocess
import tempfile
import urllib.error
import urllib.request

import databases
from client import Api, User, room_path
from harness import NotRun, test
from server import Server, free_port

DISK_MEGABYTES = 48
TEXT = {"msgtype": "m.text", "body": "x" * 30_000}


@contextlib.contextmanager
def small_disk():
    with tempfile.TemporaryDirectory(prefix="martlet-disk-") as folder:
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MEGABYTES}m", "tmpfs", folder], capture_output=True, text=True)
        if mounted.returncode:
            raise NotRun("no file system can be mounted here: " + mounted.stderr.strip())
        try:
            yield folder
        finally:
            subprocess.run(["umount", folder], check=True)


def health(server):
    try:
        with urllib.request.urlopen(server.base + "/health") as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def metric(address, name):
    with urllib.request.urlopen(f"http://{address}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    return next(float(line.split()[-1]) for line in lines if line.startswith(name + " "))


def fill(user, room):
    """The answers to messages until one is refused."""
    answers = []
    while not answers or answers[-1].status == 200:
        answers.append(user.put(room_path(room, "send", "m.room.message", f"t{len(answers)}"), TEXT))
        assert len(answers) < DISK_MEGABYTES * 100
    return answers


@test("a full disk: 507 with words, an unhealthy server, one line in the log; reading and deleting work; nothing is lost", alone=True)
def full_disk(context):
    databases.needs_sqlite("a full disk")
    context.own_server()
    with small_disk() as folder:
        metrics = f"127.0.0.1:{free_port()}"
        # What somebody else has on the disk, and takes away later.
        other = os.path.join(folder, "other")
        data = os.path.join(folder, "data")
        os.mkdir(data)
        server = Server(data, metrics_bind=metrics)
        try:
            server.start()
            full(server, metrics, other)
        finally:
            server.close()


def full(server, metrics, other):
    user = User(server.base)
    room = user.create_room()
    with open(other, "wb") as file:
        file.write(bytes(14 << 20))
    media = user.request("POST", "/_matrix/media/v3/upload", body=b"text", headers={"Content-Type": "text/plain"}).ok()["content_uri"]
    assert health(server) == (200, {"status": "ok"})
    answers = fill(user, room)
    refused = answers[-1]
    refused.fails(507, "M_UNKNOWN")
    assert "disk is full" in refused.json["error"], refused.body
    status, words = health(server)
    assert status == 503 and words["status"] == "failing" and "disk" in words["reason"], (status, words)
    assert metric(metrics, "martlet_disk_full") == 1
    for number in range(50):
        user.put(room_path(room, "send", "m.room.message", f"more{number}"), TEXT).fails(507, "M_UNKNOWN")
    user.request("POST", "/_matrix/media/v3/upload", body=b"x", headers={"Content-Type": "text/plain"}).fails(507, "M_UNKNOWN")
    lines = [line for line in server.output(1 << 20).splitlines() if " error " in line]
    assert len(lines) == 1 and "full" in lines[0] and "refused=1" in lines[0], lines
    assert metric(metrics, "martlet_disk_refused_requests_total") == 52

    # Reading and deleting.
    user.get("sync").ok()
    assert user.request("GET", "/_matrix/client/v1/media/download/" + media.removeprefix("mxc://")).body == b"text"
    kept = [answer.json["event_id"] for answer in answers[:-1]]
    assert len(kept) > 60, len(kept)
    for number, event in enumerate(kept[:50]):
        user.put(room_path(room, "redact", event, f"r{number}"), {}).ok()
    for event in kept[:50]:
        assert "body" not in user.get(room_path(room, "event", event)).ok()["content"]

    os.remove(other)
    assert health(server) == (200, {"status": "ok"})
    user.put(room_path(room, "send", "m.room.message", "again"), TEXT).ok()
    server.kill()
    server.start()
    for event in kept[50:]:
        assert user.get(room_path(room, "event", event)).ok()["content"]["body"] == TEXT["body"]
