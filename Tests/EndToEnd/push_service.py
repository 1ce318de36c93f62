"""A push service and a browser's subscription at it, by the RFCs: takes encrypted pushes over HTTP on the loopback, checks who signed
them (RFC 8292, with PyJWT) and decrypts them as a browser would (RFC 8291, with http_ece)."""
import base64
import json
import os
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from harness import PATIENCE, NotRun

try:
    import http_ece
    import jwt
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
except ImportError as error:
    http_ece, missing = None, error

DAY = 24 * 60 * 60


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Push:
    """One request to the service. `payload` is what the subscription decrypts it to."""

    def __init__(self, path, headers, body):
        self.path, self.headers, self.body, self.payload = path, headers, body, None


class PushService:
    """`answer` is a function of a `Push` that gives a status, or a status and headers."""

    def __init__(self, answer=lambda push: 201):
        if http_ece is None:
            raise NotRun(f"{missing} (Scripts/install-dependencies --test)")
        self.answer, self.pushes = answer, []
        self._subscriptions, self._changed = {}, threading.Condition()
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                push = Push(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
                subscription = service._subscriptions.get(self.path)
                if subscription:
                    push.payload = subscription.read(push)
                answer = service.answer(push) if subscription else 404
                status, headers = answer if isinstance(answer, tuple) else (answer, {})
                with service._changed:
                    service.pushes.append(push)
                    service._changed.notify_all()
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.base = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def subscribe(self, vapid):
        """A subscription of a browser that was told this key (`applicationServerKey`)."""
        path = f"/push/{len(self._subscriptions)}"
        self._subscriptions[path] = Subscription(self.base, self.base + path, vapid)
        return self._subscriptions[path]

    def unsubscribe(self, subscription):
        del self._subscriptions[subscription.endpoint.removeprefix(self.base)]

    def wait(self, condition, seconds=PATIENCE):
        """Returns what `condition` of the pushes gives as soon as that is true."""
        end = time.monotonic() + seconds
        with self._changed:
            while True:
                found = condition(self.pushes)
                if found:
                    return found
                assert self._changed.wait(max(0, end - time.monotonic())) or time.monotonic() < end, [push.payload for push in self.pushes]

    def close(self):
        self._server.shutdown()
        self._server.server_close()


class Subscription:
    """What a browser has of a subscription; the first three are what it tells the server."""

    def __init__(self, origin, endpoint, vapid):
        self.endpoint, self._origin, self._vapid = endpoint, origin, vapid
        self._key, self._secret = ec.generate_private_key(ec.SECP256R1()), os.urandom(16)
        self.p256dh = encode(self._key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint))
        self.auth = encode(self._secret)

    def read(self, push):
        """What the browser hands to the page, where the push is right in every respect."""
        headers = push.headers
        assert headers["content-encoding"] == "aes128gcm", headers
        assert headers["ttl"] == "172800" and headers["urgency"] in ("normal", "high"), headers
        # The least that a push service has to take (RFC 8030 §7.2); padded, so that its length says nothing.
        assert len(push.body) == 4096, len(push.body)
        self._check(headers["authorization"])
        return json.loads(http_ece.decrypt(push.body, private_key=self._key, auth_secret=self._secret, version="aes128gcm"))

    def _check(self, authorization):
        scheme, parameters = authorization.split(" ", 1)
        parameters = dict(part.strip().split("=", 1) for part in parameters.split(","))
        assert scheme == "vapid" and parameters["k"] == self._vapid, authorization
        key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decode(parameters["k"]))
        claims = jwt.decode(parameters["t"], key, algorithms=["ES256"], audience=self._origin, options={"require": ["exp", "aud", "sub"]})
        assert claims["exp"] - time.time() <= DAY, claims
        assert claims["sub"].startswith(("mailto:", "https:")), claims
