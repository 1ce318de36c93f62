"""Media in a bucket: what the server does when it, the bucket or the link between them fails, and moving files there and back."""
import contextlib
import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
import threading
import time

import buckets
import databases
import invariants
from client import User
from harness import PATIENCE, test
from server import Server, program
from test_media import download, upload

SECRET = "a-secret-nobody-sees"
LARGE = 40 << 20


@contextlib.contextmanager
def bucket_server(name, has_link=False, **settings):
    """A server with a bucket of its own, the bucket's name, and the link between them."""
    service = buckets.service()
    link = buckets.Link(service.port) if has_link else None
    access = service.settings(service.make(name), link and link.endpoint)
    server = Server(**{key.removeprefix("MARTLET_").lower(): value for key, value in access.items()}, max_upload_bytes=LARGE, **settings)
    try:
        yield server.start(), link
    finally:
        if link:
            link.release()
        server.close()
        if link:
            link.close()


def hold_invariants(server, name):
    """Of a server that has stopped."""
    buckets.service().names.add(buckets.name_of(server.folder))
    own = buckets.name_of
    buckets.name_of = lambda folder: name
    try:
        wrong = invariants.report(server.folder)
    finally:
        buckets.name_of = own
    assert not wrong, wrong


def forget_cache(server):
    shutil.rmtree(os.path.join(server.folder, "media-cache"))


def cached_names(server):
    """What lies in the cache, unfinished files included."""
    return {name for _, _, names in os.walk(os.path.join(server.folder, "media-cache")) for name in names}


def wait_for(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def command(server, *words, code=0):
    """Runs `martlet` on the server's folder, with its settings of the bucket."""
    settings = {key: str(value) for key, value in server.settings.items() if key.startswith("media")}
    environment = {**os.environ, **{"MARTLET_" + key.upper(): value for key, value in settings.items()}}
    if server.database_url:
        environment["MARTLET_DATABASE_URL"] = server.database_url
    done = subprocess.run([program(), *words, "--data-dir", server.folder], env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    return done


def refused(**settings):
    """What a server says that does not start."""
    server = Server(**settings)
    try:
        server.start()
    except SystemExit:
        return server.output()
    finally:
        server.close()
    raise AssertionError(f"a server started with {settings}")


def settings(name, **others):
    access = buckets.service().settings(name)
    return {**{key.removeprefix("MARTLET_").lower(): value for key, value in access.items()}, **others}


@test("a server says plainly why it does not start on a bucket, and never shows the secret")
def refusals(context):
    buckets.service().make("there")
    shown = refused(**settings("there", media_s3_secret_key=SECRET))
    assert "media.s3.secret_key is not its secret" in shown and "bucket there at http://127.0.0.1" in shown, shown
    assert SECRET not in shown
    shown = refused(**settings("there", media_s3_access_key="AKIAUNKNOWN"))
    assert "does not know media.s3.access_key" in shown, shown
    shown = refused(**settings("not-there"))
    assert "there is no bucket of the name media.s3.bucket" in shown, shown
    arguments = ["--" + key.replace("_", "-") + "=" + value for key, value in settings("there", media_s3_secret_key=SECRET).items()]
    checked = subprocess.run([program(), "config", "check", *arguments], capture_output=True, text=True, check=True)
    assert SECRET not in checked.stdout + checked.stderr
    arguments = [argument for argument in arguments if "secret" not in argument]
    lacking = subprocess.run([program(), "config", "check", *arguments], capture_output=True, text=True)
    assert lacking.returncode != 0 and "neither media.s3.secret_key nor" in lacking.stderr, lacking.stderr
    file = tempfile.NamedTemporaryFile("w", suffix="-secret")
    file.write(buckets.service().access["secret_key"] + "\n")
    file.flush()
    of_file = settings("there", media_s3_secret_key_file=file.name)
    del of_file["media_s3_secret_key"]
    Server(**of_file).start().close()


@test("what is in the bucket comes back whole and in parts, from the bucket and from the cache, also in parts of an upload of its own")
def round_trip(context):
    with bucket_server("round") as (server, _):
        ann = User(server.base)
        small, large = os.urandom(1_000), os.urandom(35 << 20)
        media = {upload(ann, body): body for body in (small, large, b"")}
        objects = buckets.service().objects("round")
        assert {key.split("/")[-1]: size for key, size in objects.items()} == {
            hashlib.sha256(body).hexdigest(): len(body) for body in media.values()}
        whole = "media/{0:.2}/{0}".format(hashlib.sha256(large).hexdigest())
        assert buckets.service().client.head_object(Bucket="round", Key=whole)["ETag"].endswith('-3"'), "it did not come in three parts"
        for is_cached in (True, False):
            if not is_cached:
                server.stop()
                forget_cache(server)
                server.start()
            for name, body in media.items():
                head = ann.request("HEAD", "/_matrix/client/v1/media/download/" + name)
                assert head.status == 200 and int(head.headers["Content-Length"]) == len(body)
                tag = head.headers["ETag"]
                assert tag == f'"{hashlib.sha256(body).hexdigest()}"'
                assert download(ann, name, headers={"If-None-Match": tag}).status == 304
            name = next(name for name, body in media.items() if body is large)
            # Far behind what has come, near the beginning, and over the seam of two requests.
            for first, last in ((30 << 20, (30 << 20) + 99), (len(large) - 5_000_000, len(large) - 1), (10, 300_000), (4 << 20, (5 << 20))):
                part = download(ann, name, headers={"Range": f"bytes={first}-{last}"})
                assert part.status == 206 and part.body == large[first:last + 1], (is_cached, first, part.status, len(part.body))
                assert part.headers["Content-Range"] == f"bytes {first}-{last}/{len(large)}"
            assert download(ann, name, headers={"Range": f"bytes={len(large)}-"}).status == 416
            for name, body in media.items():
                assert download(ann, name).body == body
        # A file moves to its place after its last byte was given out; nothing is not fetched.
        wait_for(lambda: cached_names(server) == {hashlib.sha256(body).hexdigest() for body in media.values() if body})
        server.stop()
        hold_invariants(server, "round")


@test("several who want the same file at once get it from one fetch")
def together(context):
    with bucket_server("together", metrics_bind="127.0.0.1:0") as (server, _):
        ann = User(server.base)
        body = os.urandom(6 << 20)
        name = upload(ann, body)
        server.stop()
        forget_cache(server)
        server.start()
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(download(ann, name).body)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(answers) == 8 and all(answer == body for answer in answers)
        wait_for(lambda: cached_names(server) == {hashlib.sha256(body).hexdigest()})


@test("a server that is killed between the object and its row leaves no row without its object, and the upload comes right afterwards")
def killed_between(context):
    with bucket_server("killed", has_link=True) as (server, link):
        ann = User(server.base)
        body = os.urandom(100_000)
        hash = hashlib.sha256(body).hexdigest()
        link.hold()

        def send():
            with contextlib.suppress(OSError):
                ann.request("POST", "/_matrix/media/v3/upload", body=body)
        thread = threading.Thread(target=send)
        thread.start()
        assert link.held.wait(PATIENCE)
        assert buckets.service().objects("killed") == {f"media/{hash[:2]}/{hash}": len(body)}
        server.kill()
        thread.join()
        link.release()
        server.start()
        name = upload(ann, body)
        assert download(ann, name).body == body
        link.hold()
        thread = threading.Thread(target=send)
        body = os.urandom(100_000)
        thread.start()
        assert link.held.wait(PATIENCE)
        server.kill()
        thread.join()
        link.release()
        databases.bring(server.folder)
        hold_invariants(server, "killed")
        with sqlite3.connect(os.path.join(server.folder, "martlet.db")) as rows:
            states = dict(rows.execute("SELECT hash, state FROM media_object"))
        assert states == {hash: "alive", hashlib.sha256(body).hexdigest(): "arriving"}, states


@test("one file that several upload and delete at once is there for every upload that was acknowledged and not deleted")
def at_once(context):
    with bucket_server("once") as (server, _):
        admin = User(server.base)
        command(server, "user", "admin", admin.user_id)
        bodies = [os.urandom(2_000), os.urandom(70_000)]
        left, failures = {}, []
        end = time.monotonic() + 3

        def work(number):
            user, turn = User(server.base), 0
            while time.monotonic() < end:
                turn += 1
                body = bodies[turn % 2]
                name = upload(user, body)
                if download(user, name).body != body:
                    failures.append(f"{name} is not what was uploaded")
                if (turn + number) % 3:
                    admin.request("DELETE", "/_synapse/admin/v1/media/" + name).ok()
                else:
                    left[name] = body
        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures and left, failures
        server.stop()
        forget_cache(server)
        server.start()
        for name, body in left.items():
            assert download(admin, name).body == body, name
        server.stop()
        hold_invariants(server, "once")


# Takes as long as the server tries again, and asks for nothing.
@test("while the bucket is away uploads get 503 and Retry-After, what is in the cache is served, and all goes on when it is back")
def away(context):
    with bucket_server("away", has_link=True) as (server, link):
        ann = User(server.base)
        cached, other = os.urandom(5_000), os.urandom(300_000)
        names = [upload(ann, cached), upload(ann, other)]
        hash = hashlib.sha256(other).hexdigest()
        os.remove(os.path.join(server.folder, "media-cache", hash[:2], hash))
        part = ann.request("POST", "/_matrix/media/v1/create").ok()["content_uri"].removeprefix("mxc://")
        link.cut()
        answer = ann.request("POST", "/_matrix/media/v3/upload", body=os.urandom(100))
        assert answer.status == 503 and answer.headers["Retry-After"] == "1", (answer.status, answer.body)
        assert b"storage of its files" in answer.body
        assert download(ann, names[0]).body == cached
        assert download(ann, names[1]).status == 503
        # The last part has come; only the bucket is missing.
        answer = ann.request("PUT", "/_matrix/media/v3/upload/" + part, body=cached * 20,
                             headers={"Content-Range": f"bytes 0-{len(cached) * 20 - 1}/{len(cached) * 20}"})
        assert answer.status == 503, (answer.status, answer.body)
        room = ann.create_room()
        ann.send(room, "all else works")
        link.mend()
        end = time.monotonic() + PATIENCE
        while (answer := download(ann, names[1])).status != 200:
            assert answer.status == 503 and time.monotonic() < end
            time.sleep(0.1)
        assert answer.body == other
        answer = ann.request("PUT", "/_matrix/media/v3/upload/" + part, body=b"",
                             headers={"Content-Range": f"bytes */{len(cached) * 20}"}).ok()
        assert answer["complete"] and download(ann, part).body == cached * 20
        shown = server.output()
        assert "the media bucket did not do its part" in shown and buckets.service().access["secret_key"] not in shown, shown
        link.cut()
        server.stop()
        server.start()
        assert "the media bucket is away" in server.output()
        assert download(ann, names[0]).body == cached


@test("the cache keeps to its limit, and thumbnails come from the bucket when the cache has lost them")
def cache(context):
    with bucket_server("cache", media_cache_bytes=2_000_000) as (server, _):
        from png import png, size
        ann = User(server.base)
        names = {}
        for _ in range(12):
            body = os.urandom(400_000)
            names[upload(ann, body)] = body
        folder = os.path.join(server.folder, "media-cache")
        kept = sum(os.path.getsize(os.path.join(at, name)) for at, _, found in os.walk(folder) for name in found)
        assert kept <= 2_000_000, kept
        for name, body in names.items():
            assert download(ann, name).body == body
        picture = upload(ann, png(800, 400), "image/png")
        query = dict(width=96, height=96, method="crop")
        made = ann.get("/_matrix/client/v1/media/thumbnail/" + picture, **query)
        assert made.status == 200 and size(made.body) == (96, 96)
        assert sum(key.startswith("thumb/") for key in buckets.service().objects("cache")) == 1
        server.stop()
        forget_cache(server)
        server.start()
        again = ann.get("/_matrix/client/v1/media/thumbnail/" + picture, **query)
        assert again.status == 200 and again.body == made.body and again.headers["Content-Type"] == made.headers["Content-Type"]


def is_whole(user, names):
    return all(download(user, name).body == body for name, body in names.items())


@test("media copy moves files to a bucket and back while the server runs, goes on where it was stopped, and copies nothing damaged")
def moving(context):
    service = buckets.service()
    service.make("moved")
    server = Server(max_upload_bytes=LARGE)
    try:
        if buckets.is_bucket:
            buckets.is_bucket = False
        server.start()
        ann = User(server.base)
        names = {}
        for size in (0, 10, 70_000, 18 << 20, *range(1_000, 1_040)):
            body = os.urandom(size)
            names[upload(ann, body)] = body
        damaged = os.urandom(500)
        lost = upload(ann, damaged)
        hash = hashlib.sha256(damaged).hexdigest()
        with open(os.path.join(server.folder, "media", hash[:2], hash), "wb") as file:
            file.write(os.urandom(500))
        server.settings |= settings("moved")
        done = command(server, "media", "copy", "--to", "s3", "--json", code=2)
        assert json.loads(done.stdout) == {"files": len(names) + 1, "copied_files": len(names), "damaged_files": 1,
                                           "copied_bytes": sum(map(len, names.values()))}, done.stdout
        assert hash in done.stderr and "50 %" in done.stderr and service.access["secret_key"] not in done.stderr, done.stderr
        # A second copy finds all but what has come meanwhile.
        late = os.urandom(3_000)
        names[upload(ann, late)] = late
        assert json.loads(command(server, "media", "copy", "--to", "s3", "--json", code=2).stdout)["copied_files"] == 1
        server.stop()
        server.start()
        assert is_whole(ann, names)
        command(server, "user", "admin", ann.user_id)
        missing = command(server, "media", "check", code=1)
        assert hash in missing.stderr and "lacks 1 file" in missing.stderr, missing.stderr
        ann.request("DELETE", "/_synapse/admin/v1/media/" + lost).ok()
        new = os.urandom(4_000)
        names[upload(ann, new)] = new
        service.client.put_object(Bucket="moved", Key="media/ab/ab" + "0" * 62, Body=b"of nothing")
        assert "not named in the database: 1" in command(server, "media", "check", "--repair").stdout
        assert "not named in the database: 0" in command(server, "media", "check").stdout
        if not databases.is_postgresql:
            with tempfile.TemporaryDirectory() as folder:
                done = command(server, "backup", os.path.join(folder, "backup"), "--json")
                assert json.loads(done.stdout)["missing_media"] == 0, done.stdout
            os.chmod(server.log, 0o600)
            assert "sound" in command(server, "check").stdout
        shutil.rmtree(os.path.join(server.folder, "media"))
        done = json.loads(command(server, "media", "copy", "--to", "folder", "--json", code=2).stdout)
        assert (done["copied_files"], done["damaged_files"]) == (len(names), 1), done
        server.stop()
        for key in settings("moved"):
            del server.settings[key]
        server.start()
        assert is_whole(ann, names)
    finally:
        buckets.is_bucket = os.environ.get("MARTLET_TEST_MEDIA") == "s3"
        server.close()
