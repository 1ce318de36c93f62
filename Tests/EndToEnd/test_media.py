"""Files. Spec: Client-Server API, "Content Repository"."""
import os
import socket
import threading
import time
from urllib.parse import quote

from client import Api, User
from harness import PATIENCE, test
from png import png, size
from server import ROOT


def upload(user, body, content_type="application/octet-stream", **query):
    answer = user.request("POST", "/_matrix/media/v3/upload", body=body, headers={"Content-Type": content_type}, **query).ok()
    server, media = answer["content_uri"].removeprefix("mxc://").split("/")
    return f"{server}/{media}"


def download(user, media, **arguments):
    return user.request("GET", "/_matrix/client/v1/media/download/" + media, **arguments)


# Proves C72
@test("a file comes back byte for byte, with its type and name, and cannot act as a page")
def round_trip(context):
    a, b = User(context.base), User(context.base)
    body = os.urandom(300_000)
    media = upload(a, body, "image/png", filename="a \u00e4\"b.png")
    for path in (media, media + "/other.png"):
        answer = download(b, path)
        assert answer.status == 200 and answer.body == body
        assert answer.headers["Content-Type"] == "image/png" and int(answer.headers["Content-Length"]) == len(body)
        assert answer.headers["Content-Disposition"].startswith("inline"), answer.headers["Content-Disposition"]
        assert "sandbox" in answer.headers["Content-Security-Policy"]
        assert answer.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert "other.png" in answer.headers["Content-Disposition"]
    page = upload(a, b"<script>alert(1)</script>", "text/html")
    answer = download(a, page)
    assert answer.headers["Content-Disposition"].startswith("attachment"), dict(answer.headers)
    empty = upload(a, b"")
    assert download(a, empty).body == b""


@test("a file sent in pieces of unknown total length arrives whole", differs_on_synapse="wants a Content-Length")
def chunked(context):
    user = User(context.base)
    pieces = [os.urandom(10_000) for _ in range(30)]
    answer = user.request("POST", "/_matrix/media/v3/upload", body=iter(pieces), headers={"Content-Type": "application/octet-stream"}).ok()
    assert download(user, answer["content_uri"].removeprefix("mxc://")).body == b"".join(pieces)


@test("media wants a token and an existing file")
def refusals(context):
    user = User(context.base)
    media = upload(user, b"secret")
    anonymous = Api(context.base)
    download(anonymous, media).fails(401, "M_MISSING_TOKEN")
    anonymous.request("POST", "/_matrix/media/v3/upload", body=b"x").fails(401, "M_MISSING_TOKEN")
    server = media.split("/")[0]
    download(user, server + "/nosuchmedia").fails(404, "M_NOT_FOUND")
    user.get("/_matrix/client/v1/media/thumbnail/" + server + "/nosuchmedia", width=32, height=32, method="crop").fails(404, "M_NOT_FOUND")
    assert download(user, server + "/..%2f..%2fetc%2fpasswd").status in (400, 404)


@test("the server says how large a file may be, and means it")
def upload_limit(context):
    user = User(context.direct)  # a proxy between would lose the answer that comes before the upload's end
    limit = user.get("/_matrix/client/v1/media/config").ok()["m.upload.size"]
    media = upload(user, b"x" * limit)
    assert len(download(user, media).body) == limit
    if context.is_synapse:  # drops the connection without an answer
        return
    user.request("POST", "/_matrix/media/v3/upload", body=b"x", headers={"Content-Length": str(limit + 1)}).fails(413, "M_TOO_LARGE")
    try:
        answer = user.request("POST", "/_matrix/media/v3/upload", body=iter([b"x" * limit, b"x" * 65536]))
    except (BrokenPipeError, ConnectionResetError):
        return  # refused before the last byte
    answer.fails(413, "M_TOO_LARGE")


@test("a part of a file can be asked for", differs_on_synapse="knows no ranges")
def ranges(context):
    user = User(context.base)
    body = os.urandom(5000)
    media = upload(user, body)
    for asked, part in (("bytes=0-0", body[:1]), ("bytes=100-199", body[100:200]), ("bytes=4990-", body[4990:]), ("bytes=-10", body[-10:]), ("bytes=4000-9999", body[4000:])):
        answer = download(user, media, headers={"Range": asked})
        assert answer.status == 206 and answer.body == part, (asked, answer.status, len(answer.body))
        start = body.index(part) if len(part) > 8 else (0 if asked == "bytes=0-0" else None)
        if start is not None:
            assert answer.headers["Content-Range"] == f"bytes {start}-{start + len(part) - 1}/5000", answer.headers["Content-Range"]
    answer = download(user, media, headers={"Range": "bytes=5000-"})
    assert answer.status == 416 and answer.headers["Content-Range"] == "bytes */5000"
    for ignored in ("bytes=x-y", "lines=1-2", "bytes=9-3"):
        assert download(user, media, headers={"Range": ignored}).body == body


@test("HEAD is GET without the body")
def head(context):
    user = User(context.base)
    media = upload(user, b"12345", "text/plain")
    answer = user.request("HEAD", "/_matrix/client/v1/media/download/" + media)
    assert answer.status == 200 and answer.body == b"" and answer.headers["Content-Length"] == "5" and answer.headers["Content-Type"].startswith("text/plain")


@test("thumbnails have the asked size, scaled or cropped, and are never larger than the image")
def thumbnails(context):
    user = User(context.base)
    media = upload(user, png(800, 400), "image/png")

    def thumbnail(of=media, **query):
        return user.get("/_matrix/client/v1/media/thumbnail/" + of, **query)
    for width, height, method, wanted in ((320, 240, "scale", (320, 160)), (96, 96, "crop", (96, 96)), (32, 32, "crop", (32, 32))):
        answer = thumbnail(width=width, height=height, method=method)
        assert answer.status == 200 and answer.headers["Content-Type"].startswith("image/"), (answer.status, answer.body[:200])
        assert size(answer.body) == wanted, (width, height, method, size(answer.body))
    small = upload(user, png(20, 10), "image/png")
    answer = thumbnail(small, width=320, height=240, method="scale")
    assert answer.status == 200 and size(answer.body) == (20, 10)
    if not context.is_synapse:  # takes both for good
        thumbnail(width=0, height=10, method="scale").fails(400, ("M_INVALID_PARAM", "M_UNKNOWN"))
        broken = upload(user, png(64, 64)[:60], "image/png")
        thumbnail(broken, width=32, height=32, method="crop").fails(400, ("M_UNKNOWN", "M_INVALID_PARAM", "M_BAD_JSON"))
    text = upload(user, b"no image", "text/plain")
    assert thumbnail(text, width=32, height=32, method="crop").status in (400, 404)


@test("a picture that browsers cannot show has a thumbnail they can, also if it is small", differs_on_synapse="makes none of these")
def pictures_of_phones(context):
    user = User(context.base)
    for name in ("blue-left-red-right.avif", "blue-left-red-right.heic", "exif-6-in-container-ignored.heic", "blue-left-red-right.bmp",
                 "blue-left-red-right.tiff"):
        with open(os.path.join(ROOT, "Tests", "ThumbnailTests", "Pictures", name), "rb") as file:
            media = upload(user, file.read(), "image/" + name.rsplit(".")[1])
        for width, height, method in ((32, 32, "crop"), (800, 600, "scale")):
            answer = user.get("/_matrix/client/v1/media/thumbnail/" + media, width=width, height=height, method=method)
            assert answer.status == 200 and answer.headers["Content-Type"] == "image/jpeg", (name, answer.status, answer.body[:200])
            assert answer.body[:3] == b"\xff\xd8\xff", name


@test("who asks for a file before it is there waits for it, and is told when it does not come")
def waiting_download(context):
    a, b = User(context.base), User(context.base)
    created = a.request("POST", "/_matrix/media/v1/create").ok()
    assert created["unused_expires_at"] > time.time() * 1000
    media = created["content_uri"].removeprefix("mxc://")
    download(b, media, timeout_ms=0).fails(504, "M_NOT_YET_UPLOADED")
    began = time.monotonic()
    download(b, media, timeout_ms=700).fails(504, "M_NOT_YET_UPLOADED")
    assert time.monotonic() - began >= 0.6
    body = os.urandom(200_000)
    answers = []
    waiting = [threading.Thread(target=lambda: answers.append(download(b, media, timeout_ms=50_000))) for _ in range(5)]
    for thread in waiting:
        thread.start()
    # The upload comes in pieces: nobody is told before the last one.
    pieces = (body[at:at + 20_000] for at in range(0, len(body), 20_000))
    a.request("PUT", "/_matrix/media/v3/upload/" + media, body=pieces, headers={"Content-Type": "text/plain"}).ok()
    for thread in waiting:
        thread.join()
    assert len(answers) == 5 and all(answer.status == 200 and answer.body == body for answer in answers)
    a.request("PUT", "/_matrix/media/v3/upload/" + media, body=b"other").fails(409, "M_CANNOT_OVERWRITE_MEDIA")


@test("an upload that is broken off leaves its address free for another try", differs_on_synapse="closes the connection")
def broken_upload(context):
    user = User(context.direct)
    media = user.request("POST", "/_matrix/media/v1/create").ok()["content_uri"].removeprefix("mxc://")
    with socket.create_connection(user.host.split(":"), timeout=20) as connection:
        head = f"PUT /_matrix/media/v3/upload/{media} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {user.token}\r\nContent-Length: 100000\r\n\r\n"
        connection.sendall(head.encode() + b"x" * 50_000)
    end = time.monotonic() + PATIENCE
    while True:
        answer = user.request("PUT", "/_matrix/media/v3/upload/" + media, body=b"whole")
        if answer.status == 200:
            break
        answer.fails(409, "M_CANNOT_OVERWRITE_MEDIA")  # the server has not noticed yet
        assert time.monotonic() < end
        time.sleep(0.05)
    assert download(user, media).body == b"whole"


@test("a file uploaded behind a token is not served without one, whatever the old address says")
def frozen_downloads(context):
    user = User(context.base)
    media = upload(user, b"secret", "text/plain")
    if context.is_synapse:
        return
    anonymous = Api(context.base)
    for path in ("/_matrix/media/v3/download/" + media, f"/_matrix/media/v3/download/{media}/name.txt"):
        anonymous.get(path).fails(404, "M_NOT_FOUND")
    anonymous.get("/_matrix/media/v3/thumbnail/" + media, width=32, height=32).fails(404, "M_NOT_FOUND")


@test("a thumbnail of an animation moves only where it may", differs_on_synapse="its thumbnails stay still")
def animated_thumbnails(context):
    user = User(context.base)
    media = upload(user, animation(64, 32), "image/gif")

    def thumbnail(**query):
        answer = user.get("/_matrix/client/v1/media/thumbnail/" + media, **query)
        assert answer.status == 200, answer.body[:200]
        return answer
    for query in ({}, {"animated": "false"}):
        answer = thumbnail(width=32, height=32, method="crop", **query)
        assert answer.headers["Content-Type"] in ("image/jpeg", "image/png")
        # Larger than the image: it is the image, but still.
        assert thumbnail(width=320, height=240, method="scale", **query).headers["Content-Type"] in ("image/jpeg", "image/png")
    moving = thumbnail(width=32, height=32, method="crop", animated="true")
    assert moving.headers["Content-Type"] == "image/webp" and b"ANIM" in moving.body[:64]
    original = thumbnail(width=320, height=240, method="scale", animated="true")
    assert original.headers["Content-Type"] == "image/gif" and original.body == animation(64, 32)


def animation(width, height):
    """A GIF of two frames, one colour each: codes of 3 bits, a clear code before every two pixels so that they never grow."""
    def frame(colour):
        codes = [code for pixel in range(width * height) for code in ((4, colour) if pixel % 2 == 0 else (colour,))] + [5]
        bits = sum(code << (3 * index) for index, code in enumerate(codes))
        data = bits.to_bytes((3 * len(codes) + 7) // 8, "little")
        blocks = b"".join(bytes([len(data[at:at + 255])]) + data[at:at + 255] for at in range(0, len(data), 255))
        size = width.to_bytes(2, "little") + height.to_bytes(2, "little")
        return b"\x21\xf9\x04\x04\x0a\x00\x00\x00\x2c\x00\x00\x00\x00" + size + b"\x00\x02" + blocks + b"\x00"
    head = b"GIF89a" + width.to_bytes(2, "little") + height.to_bytes(2, "little") + b"\x80\x00\x00\xff\x00\x00\x00\x00\xff"
    return head + b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00" + frame(0) + frame(1) + b"\x3b"


@test("a backup of thousands of keys is stored at once and comes back in one answer")
def large_backup(context):
    user = User(context.base)
    authentication = {"algorithm": "m.megolm_backup.v1.curve25519-aes-sha2", "auth_data": {"public_key": "abc", "signatures": {}}}
    version = user.post("room_keys/version", authentication).ok()["version"]
    key = {"first_message_index": 1, "forwarded_count": 0, "is_verified": True, "session_data": {"ciphertext": "x" * 600, "ephemeral": "e", "mac": "m"}}
    rooms = {f"!room{room}:test.example": {"sessions": {f"session{number}": key for number in range(700)}} for room in range(6)}
    stored = user.request("PUT", "room_keys/keys", {"rooms": rooms}, version=version).ok()
    assert stored["count"] == 4200
    assert user.get("room_keys/keys", version=version).ok()["rooms"] == rooms
    one = user.get("room_keys/keys/" + quote("!room3:test.example", safe=""), version=version).ok()
    assert one["sessions"] == rooms["!room3:test.example"]["sessions"]
    deleted = user.request("DELETE", "room_keys/keys", version=version).ok()
    assert deleted["count"] == 0 and deleted["etag"] != stored["etag"]
