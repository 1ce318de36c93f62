"""`martlet backup`, `restore` and `check`: under load, killed, on a full disk, and everything read back."""
import contextlib
import gzip
import json
import os
import pwd
import shutil
import signal
import sqlite3
import statistics
import subprocess
import tempfile
import threading
import time

import databases
from client import User, room_path
from harness import NotRun, test
from server import Server, program


def run(*words, code=0):
    done = subprocess.run([program(), *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == code, f"martlet {' '.join(words)} ended with {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout if code == 0 else done.stdout + done.stderr


def back_up(server, folder):
    return json.loads(run("backup", folder, "--data-dir", server.folder, "--json"))


class Senders:
    """Users who send as fast as they are answered, each into a room of their own."""

    def __init__(self, server, count=3):
        self.users = [User(server.base) for _ in range(count)]
        self.rooms = [user.create_room() for user in self.users]
        self.sent = [[] for _ in self.users]
        self.times = []
        self.failures = []
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._send, args=(index,)) for index in range(count)]

    def _send(self, index):
        while not self._stop.is_set():
            start = time.monotonic()
            try:
                self.sent[index].append(self.users[index].send(self.rooms[index], f"{index} {len(self.sent[index])}"))
            except Exception as error:  # whatever it is, it is shown
                self.failures.append(error)
                return
            self.times.append((start, time.monotonic() - start))

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        for thread in self._threads:
            thread.join()


@test("a backup under load is restored with every message and file that there was, and senders hardly notice")
def under_load(context):
    databases.needs_sqlite("martlet backup")
    server, place = Server().start(), tempfile.mkdtemp(prefix="martlet-backup-")
    restored = Server(folder=os.path.join(place, "data"))
    folder = os.path.join(place, "backup")
    try:
        with Senders(server) as senders:
            content = os.urandom(300_000)
            uri = senders.users[0].request(
                "POST", "/_matrix/media/v3/upload", body=content, headers={"Content-Type": "image/x-test"}).ok()["content_uri"]
            time.sleep(1)
            before = [len(sent) for sent in senders.sent]
            start = time.monotonic()
            first = back_up(server, folder)
            end = time.monotonic()
            second = back_up(server, folder)
            time.sleep(0.3)
        assert not senders.failures, senders.failures
        assert second["copied_files"] < first["copied_files"], (first, second)
        assert first["missing_media"] == second["missing_media"] == 0
        slow = [took for at, took in senders.times if start <= at <= end]
        assert slow and max(slow) < 5, max(slow)
        print(f"{len(slow)} messages during {end - start:.2f} s of backup: median {statistics.median(slow):.3f} s, longest {max(slow):.3f} s")
        for root, folders, files in os.walk(folder):
            assert not any(os.stat(os.path.join(root, name)).st_mode & 0o077 for name in folders + files), root
        assert "sound" in run("restore", folder, "--dry-run", "--data-dir", restored.folder)
        assert not os.path.exists(restored.folder)
        run("restore", folder, "--data-dir", restored.folder)
        assert "overwrite" in run("restore", folder, "--data-dir", restored.folder, code=1)
        assert "sound" in run("restore", folder, "--dry-run", "--data-dir", restored.folder)
        assert "sound" in run("check", "--hashes", "--data-dir", restored.folder)
        restored.start()
        for user, room, sent, count in zip(senders.users, senders.rooms, senders.sent, before):
            user.base, user.host = restored.base, f"127.0.0.1:{restored.port}"
            for event in sent[:count]:
                user.get(room_path(room, "event", event))
        assert senders.users[0].request("GET", "/_matrix/client/v1/media/download/" + uri.removeprefix("mxc://")).body == content
    finally:
        restored.close()
        server.close()
        shutil.rmtree(place, ignore_errors=True)


@test("a backup is streamed to tar while the server runs, unpacked by it, and restored from the stream")
def streamed(context):
    databases.needs_sqlite("martlet backup")
    server, place = Server().start(), tempfile.mkdtemp(prefix="martlet-backup-")
    restored = Server(folder=os.path.join(place, "data"))
    unpacked = os.path.join(place, "unpacked")
    try:
        user = User(server.base)
        room = user.create_room()
        event, content = user.send(room, "Hello"), os.urandom(3 << 20)
        user.request("POST", "/_matrix/media/v3/upload", body=content, headers={"Content-Type": "image/x-test"}).ok()
        made = subprocess.run([program(), "backup", "-", "--data-dir", server.folder, "--json"], capture_output=True, timeout=60,
                              env={**os.environ, "TMPDIR": place})
        assert made.returncode == 0 and json.loads(made.stderr)["missing_media"] == 0, made.stderr
        assert os.listdir(place) == [], os.listdir(place)
        # tar understands it, and what tar unpacks is a backup.
        os.mkdir(unpacked)
        subprocess.run(["tar", "-x", "-C", unpacked], input=made.stdout, check=True, timeout=60)
        assert "sound" in run("restore", unpacked, "--dry-run", "--data-dir", restored.folder)
        # What tar packs anew, with folders in it, is a stream.
        again = subprocess.run(["tar", "-c", "-C", unpacked, "."], capture_output=True, check=True, timeout=60).stdout

        def restore(stream, *words, code=0):
            done = subprocess.run([program(), "restore", "-", *words, "--data-dir", restored.folder], input=stream, capture_output=True,
                                  timeout=60)
            assert done.returncode == code, done.stdout + done.stderr
            return (done.stdout + done.stderr).decode()

        assert "sound" in restore(again, "--dry-run")
        assert "not a whole backup" in restore(made.stdout[:-3_000], code=1)
        assert "not a backup of martlet" in restore(content, code=1)
        assert "through gunzip" in restore(gzip.compress(made.stdout), code=1)
        assert os.listdir(place) == ["unpacked"]
        restore(made.stdout)
        assert "overwrite" in restore(made.stdout, code=1)
        assert "sound" in restore(made.stdout, "--dry-run")
        assert sorted(os.listdir(place)) == ["data", "unpacked"]
        assert "sound" in run("check", "--hashes", "--data-dir", restored.folder)
        restored.start()
        user.base, user.host = restored.base, f"127.0.0.1:{restored.port}"
        assert user.get(room_path(room, "event", event)).ok()["content"]["body"] == "Hello"
    finally:
        restored.close()
        server.close()
        shutil.rmtree(place, ignore_errors=True)


@test("a killed backup leaves the one before or none, and the next goes on; so does a killed restore")
def killed(context):
    databases.needs_sqlite("martlet backup")
    server, place = Server().start(), tempfile.mkdtemp(prefix="martlet-backup-")
    folder, target = os.path.join(place, "backup"), os.path.join(place, "data")
    try:
        user = User(server.base)
        for _ in range(8):
            user.request("POST", "/_matrix/media/v3/upload", body=os.urandom(1 << 20)).ok()
        server.stop()

        def kill(seconds, *words):
            process = subprocess.Popen([program(), *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(seconds)
            process.send_signal(signal.SIGKILL)
            return process.wait()

        killed = 0
        for step in range(12):
            code = kill(0.02 + 0.01 * step, "backup", folder, "--data-dir", server.folder)
            killed += code == -signal.SIGKILL
            if os.path.exists(os.path.join(folder, "backup.list")):
                run("restore", folder, "--dry-run", "--data-dir", target)
            elif os.path.exists(folder):
                assert "no complete backup" in run("restore", folder, "--data-dir", target, code=1)
        assert killed, "no backup was killed"
        back_up(server, folder)
        for step in range(6):
            code = kill(0.02 + 0.01 * step, "restore", folder, "--data-dir", target)
            if os.path.exists(target):
                run("check", "--hashes", "--data-dir", target)
                shutil.rmtree(target)
        run("restore", folder, "--data-dir", target)
        assert os.listdir(place).count("data.restoring") == 0
        run("check", "--hashes", "--data-dir", target)
    finally:
        server.close()
        shutil.rmtree(place, ignore_errors=True)


@test("a backup killed while clients write disturbs nobody, and the next one has all that was sent before it")
def killed_under_load(context):
    databases.needs_sqlite("martlet backup")
    server, place = Server().start(), tempfile.mkdtemp(prefix="martlet-backup-")
    folder, target = os.path.join(place, "backup"), os.path.join(place, "data")
    restored = Server(folder=target)
    try:
        with Senders(server) as senders:
            killed = 0
            for step in range(8):
                process = subprocess.Popen([program(), "backup", folder, "--data-dir", server.folder], stdout=subprocess.DEVNULL)
                time.sleep(0.02 + 0.02 * step)
                process.send_signal(signal.SIGKILL)
                killed += process.wait() == -signal.SIGKILL
            assert killed, "no backup was killed"
            before = [len(sent) for sent in senders.sent]
            back_up(server, folder)
        assert not senders.failures, senders.failures
        run("restore", folder, "--data-dir", target)
        run("check", "--hashes", "--data-dir", target)
        restored.start()
        for user, room, sent, count in zip(senders.users, senders.rooms, senders.sent, before):
            user.base, user.host = restored.base, f"127.0.0.1:{restored.port}"
            for event in sent[:count]:
                user.get(room_path(room, "event", event)).ok()
    finally:
        restored.close()
        server.close()
        shutil.rmtree(place, ignore_errors=True)


@contextlib.contextmanager
def small_disk(megabytes):
    place = tempfile.mkdtemp(prefix="martlet-backup-")
    try:
        if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", place], capture_output=True).returncode:
            raise NotRun("no file system can be mounted")
        try:
            yield place
        finally:
            subprocess.run(["umount", place], check=False)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def files_in(folder):
    return sorted(os.path.join(root, name) for root, _, names in os.walk(folder) for name in names)


def upload_megabytes(server, count):
    user = User(server.base)
    for _ in range(count):
        user.request("POST", "/_matrix/media/v3/upload", body=os.urandom(1 << 20)).ok()


def words_of_failure(*words):
    """What a command says that fails because the disk is full."""
    said = run(*words, code=1)
    assert "No space left on device" in said or "disk is full" in said, said


@test("a backup onto a full disk says so, ends with 1 and leaves the folder as it was")
def full_disk(context):
    databases.needs_sqlite("martlet backup")
    server = Server().start()
    try:
        with small_disk(12) as place:
            folder, other = os.path.join(place, "backup"), os.path.join(place, "other")
            # The first backup of all.
            with open(other, "wb") as file:
                file.write(bytes(12 * 1_000_000))
            words_of_failure("backup", folder, "--data-dir", server.folder)
            assert files_in(folder) == []
            assert "no complete backup" in run("restore", folder, "--data-dir", os.path.join(place, "data"), code=1)
            os.remove(other)
            back_up(server, folder)

            before = files_in(folder)
            with open(os.path.join(folder, "backup.list"), "rb") as file:
                list_before = file.read()
            upload_megabytes(server, 12)
            for _ in range(2):
                words_of_failure("backup", folder, "--data-dir", server.folder)
                assert files_in(folder) == before
                with open(os.path.join(folder, "backup.list"), "rb") as file:
                    assert file.read() == list_before
            run("restore", folder, "--dry-run", "--data-dir", os.path.join(place, "data"))
    finally:
        server.close()


@test("a restore onto a full disk says so, ends with 1 and leaves no data folder")
def full_disk_of_restore(context):
    databases.needs_sqlite("martlet backup")
    server = Server().start()
    try:
        upload_megabytes(server, 10)
        with tempfile.TemporaryDirectory(prefix="martlet-backup-") as elsewhere, small_disk(8) as place:
            folder, target = os.path.join(elsewhere, "backup"), os.path.join(place, "data")
            back_up(server, folder)
            words_of_failure("restore", folder, "--data-dir", target)
            assert os.listdir(place) == [], os.listdir(place)
            run("restore", folder, "--data-dir", os.path.join(elsewhere, "data"))
            run("check", "--hashes", "--data-dir", os.path.join(elsewhere, "data"))
    finally:
        server.close()


@test("a data folder on a full disk is backed up and checked, with its server stopped, killed or running")
def full_data_disk(context):
    databases.needs_sqlite("martlet backup")
    with small_disk(12) as place, tempfile.TemporaryDirectory(prefix="martlet-backup-") as elsewhere:
        data, other = os.path.join(place, "data"), os.path.join(place, "other")
        os.mkdir(data, 0o700)
        server = Server(folder=data)
        try:
            for name, end in (("stopped", server.stop), ("killed", server.kill), ("running", None)):
                server.start()
                os.chmod(server.log, 0o600)
                User(server.base)
                if end:
                    end()
                with contextlib.suppress(OSError), open(other, "wb", buffering=0) as file:
                    while True:
                        file.write(bytes(1_000))
                folder = os.path.join(elsewhere, name)
                run("backup", folder, "--data-dir", data)
                run("check", "--hashes", "--data-dir", data)
                run("restore", folder, "--dry-run", "--data-dir", os.path.join(elsewhere, "data"))
                os.remove(other)
        finally:
            server.close()


@test("a backup tells of missing and damaged uploads with a status of its own, and --quiet prints nothing else")
def damaged_uploads(context):
    databases.needs_sqlite("martlet backup")
    server = Server().start()
    try:
        upload_megabytes(server, 2)
        server.stop()
        with tempfile.TemporaryDirectory(prefix="martlet-backup-") as place:
            folder = os.path.join(place, "backup")
            assert run("backup", folder, "--quiet", "--data-dir", server.folder) == ""
            files = [path for path in files_in(os.path.join(server.folder, "media")) if len(os.path.basename(path)) == 64]
            assert len(files) == 2, files
            os.remove(files[0])
            os.truncate(files[1], 5)
            for words in (["--quiet"], []):
                said = run("backup", folder, *words, "--data-dir", server.folder, code=2)
                assert "missing (1) or damaged (1)" in said and "has 2 of them from before" in said, said
                assert ("copied" in said) == (not words), said
            run("restore", folder, "--data-dir", os.path.join(place, "data"))
            run("check", "--hashes", "--data-dir", os.path.join(place, "data"))
            stream = subprocess.run([program(), "backup", "-", "--quiet", "--data-dir", server.folder], capture_output=True, timeout=60)
            assert stream.returncode == 2 and b"missing (1) or damaged (1)" in stream.stderr, stream.stderr
    finally:
        server.close()


@test("backup and check name the owner of a file or folder that belongs to another user")
def other_users(context):
    databases.needs_sqlite("martlet backup")
    if os.geteuid() != 0:
        raise NotRun("only root can give files to another user")
    nobody, name = 65534, pwd.getpwuid(65534).pw_name
    server = Server().start()
    try:
        User(server.base)
        server.stop()
        # Not in the folder of this run of the tests, which is closed to other users.
        with tempfile.TemporaryDirectory(prefix="martlet-backup-", dir="/tmp") as place:
            os.chmod(place, 0o755)
            data, folder = os.path.join(place, "data"), os.path.join(place, "backup")
            shutil.copytree(server.folder, data)

            def as_nobody(*words):
                done = subprocess.run([program(), *words, "--data-dir", data], capture_output=True, text=True, timeout=60, cwd="/",
                                      user=nobody, group=nobody, extra_groups=[])
                assert done.returncode == 1, done.stdout + done.stderr
                return done.stdout + done.stderr

            said = as_nobody("check")
            assert f"Permission denied ({data} belongs to root)" in said, said
            for path in [data, *(os.path.join(root, name) for root, folders, files in os.walk(data) for name in folders + files)]:
                os.chown(path, nobody, nobody)
            key = next(path for path in files_in(data) if not os.path.basename(path).startswith("martlet."))
            os.chown(key, 0, 0)
            os.chmod(key, 0o600)
            assert "cannot be read by this user (it belongs to root)" in as_nobody("check")
            assert f"Permission denied ({place} belongs to root)" in as_nobody("backup", os.path.join(place, "other"))
            os.mkdir(folder, 0o700)
            os.chown(folder, nobody, nobody)
            assert f"Permission denied ({key} belongs to root)" in as_nobody("backup", folder)
            said = run("backup", folder, "--data-dir", data, code=1)
            assert f"belongs to {name}" in said and f"sudo -u {name} martlet backup {folder}" in said, said
            assert files_in(folder) == []
    finally:
        server.close()


@test("a restore onto a mount point says that it cannot be replaced, before it copies anything")
def mount_point(context):
    databases.needs_sqlite("martlet backup")
    server = Server().start()
    try:
        with tempfile.TemporaryDirectory(prefix="martlet-backup-") as elsewhere, small_disk(12) as place:
            folder = os.path.join(elsewhere, "backup")
            back_up(server, folder)
            said = run("restore", folder, "--data-dir", place, code=1)
            assert "is a mount point" in said and f"{place}/data" in said, said
            run("restore", folder, "--data-dir", os.path.join(place, "data"))
            assert os.listdir(place) == ["data"]
    finally:
        server.close()


@test("a backup of a newer version is refused in words, and the newer version's data folder can still be backed up")
def newer_version(context):
    databases.needs_sqlite("martlet backup")
    server = Server().start()
    try:
        User(server.base)
        server.stop()
        with tempfile.TemporaryDirectory(prefix="martlet-backup-") as place:
            folder, target = os.path.join(place, "backup"), os.path.join(place, "data")
            with contextlib.closing(sqlite3.connect(os.path.join(server.folder, "martlet.db"))) as database, database:
                newest = database.execute("SELECT max(version) FROM schema_version").fetchone()[0]
                database.execute("INSERT INTO schema_version SELECT version + 1, name || ' (newer)' FROM schema_version WHERE version = ?", [newest])
            back_up(server, folder)
            for words in (["--dry-run"], []):
                said = run("restore", folder, "--data-dir", target, *words, code=1)
                assert f"schema version {newest + 1}" in said and "newer program" in said, said
            assert not os.path.exists(target)
    finally:
        server.close()
