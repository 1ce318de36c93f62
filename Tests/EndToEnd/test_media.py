"""Files. Spec: Client-Server API, "Content Repository"."""
import os

from client import Api, User
from harness import test
from png import png, size


def upload(user, body, content_type="application/octet-stream", **query):
    answer = user.request("POST", "/_matrix/media/v3/upload", body=body, headers={"Content-Type": content_type}, **query).ok()
    server, media = answer["content_uri"].removeprefix("mxc://").split("/")
    return f"{server}/{media}"


def download(user, media, **arguments):
    return user.request("GET", "/_matrix/client/v1/media/download/" + media, **arguments)


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
