"""What stands beside the homeserver in the tests of identity: a mail server (aiosmtpd) and an OpenID provider."""
import email
import email.policy
import hashlib
import html
import json
import re
import ssl
import subprocess
import threading
import time
import urllib.parse
from base64 import urlsafe_b64encode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from aiosmtpd.controller import Controller
from Crypto.Hash import SHA256
from Crypto.PublicKey import RSA
from Crypto.Signature import pkcs1_15

from client import PASSWORD
from harness import PATIENCE
from server import Server, free_port

BASE = "https://matrix.test.example"


class Mailbox:
    """A real mail server on a free port. `certificate` (certificate file, key file) makes it demand STARTTLS; `login` (user, password)
    makes it demand that."""

    def __init__(self, certificate=None, login=None):
        self.mails = []
        self._arrived = threading.Condition()
        options = {}
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            options |= {"tls_context": context, "require_starttls": True}
        if login:
            options |= {"authenticator": lambda *a: _auth(a[-1], login), "auth_required": True, "auth_require_tls": bool(certificate)}
        self.port = free_port()
        self.controller = Controller(self, hostname="127.0.0.1", port=self.port, **options)

    def __enter__(self):
        self.controller.start()
        return self

    def __exit__(self, *_):
        self.controller.stop()

    async def handle_DATA(self, server, session, envelope):
        message = email.message_from_bytes(envelope.content, policy=email.policy.default)
        with self._arrived:
            self.mails.append((envelope.mail_from, envelope.rcpt_tos, message))
            self._arrived.notify_all()
        return "250 taken"

    def wait(self, count, seconds=PATIENCE):
        self.wait_for(lambda mails: len(mails) >= count, seconds)
        return self.mails[count - 1]

    def wait_for(self, condition, seconds=PATIENCE):
        """Returns when `condition` of the mails is true."""
        with self._arrived:
            assert self._arrived.wait_for(lambda: condition(self.mails), seconds), f"not true of {len(self.mails)} mails"


def _auth(data, login):
    from aiosmtpd.smtp import AuthResult
    right = (data.login.decode(), data.password.decode()) == login
    return AuthResult(success=right, handled=right)


def text_of(message):
    return message.get_body(("plain",)).get_content()


def link_in(message):
    return re.search(r"https?://\S+", text_of(message))[0]


def form_in(page):
    """The path that the button of a page posts to."""
    return html.unescape(re.search(r'<form method="post" action="([^"]+)"', page)[1])


def server_with(mailbox, **settings):
    return Server(public_base_url=BASE, mail_smtp_url=f"smtp://127.0.0.1:{mailbox.port}", mail_from="martlet@test.example", **settings).start()


def path_of(url):
    assert url.startswith(BASE + "/"), url
    return url[len(BASE):]


def confirm(api, message):
    """Follows the link in a mail and presses the button of its page."""
    link = path_of(link_in(message))
    look = api.request("GET", link)
    assert look.status == 200 and "default-src 'none'" in look.headers["Content-Security-Policy"]
    assert api.request("POST", form_in(look.body.decode())).status == 200


def register_with_address(api, mailbox, name, address):
    """The answer of a registration whose address is confirmed by the next mail."""
    count = len(mailbox.mails)
    sid = api.post("register/email/requestToken", {"client_secret": name, "email": address, "send_attempt": 1}).ok()["sid"]
    confirm(api, mailbox.wait(count + 1)[2])
    auth = {"type": "m.login.email.identity", "threepid_creds": {"sid": sid, "client_secret": name}}
    return api.post("register", {"username": name, "password": PASSWORD, "auth": auth}).ok()


def certificate(folder):
    """A certificate for 127.0.0.1 that nobody but who is told trusts."""
    files = folder + "/mail.pem", folder + "/mail.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=mail",
         "-addext", "subjectAltName=IP:127.0.0.1", "-out", files[0], "-keyout", files[1]], check=True, capture_output=True)
    return files


class Provider:
    """OpenID Connect with the authorization code flow, PKCE and RS256, strict about what it is sent."""

    def __init__(self, client_id, client_secret, redirect_uri):
        self.client_id, self.client_secret, self.redirect_uri = client_id, client_secret, redirect_uri
        self.key = RSA.generate(2048)
        self.person = {"sub": "1"}
        self.codes = {}
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                provider.get(self)

            def do_POST(self):
                provider.post(self)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def get(self, request):
        path, _, query = request.path.partition("?")
        if path == "/.well-known/openid-configuration":
            return self.answer(request, {
                "issuer": self.issuer, "authorization_endpoint": self.issuer + "/authorize", "token_endpoint": self.issuer + "/token",
                "jwks_uri": self.issuer + "/keys", "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"]})
        if path == "/keys":
            number = lambda n: _base64(n.to_bytes((n.bit_length() + 7) // 8, "big"))  # noqa: E731
            return self.answer(request, {"keys": [
                {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": "k1", "n": number(self.key.n), "e": number(self.key.e)}]})
        if path == "/authorize":
            asked = dict(urllib.parse.parse_qsl(query, strict_parsing=True))
            assert asked["client_id"] == self.client_id and asked["redirect_uri"] == self.redirect_uri
            assert asked["response_type"] == "code" and asked["code_challenge_method"] == "S256" and "openid" in asked["scope"].split()
            code = hashlib.sha256(asked["state"].encode()).hexdigest()
            self.codes[code] = asked
            request.send_response(302)
            request.send_header("Location", self.redirect_uri + "?" + urllib.parse.urlencode({"code": code, "state": asked["state"], "iss": self.issuer}))
            return request.end_headers()
        request.send_error(404)

    def post(self, request):
        form = dict(urllib.parse.parse_qsl(request.rfile.read(int(request.headers["Content-Length"])).decode(), strict_parsing=True))
        credentials = urllib.parse.quote(self.client_id, safe="") + ":" + urllib.parse.quote(self.client_secret, safe="")
        from base64 import b64encode
        asked = self.codes.pop(form.get("code"), None)
        if (request.headers["Authorization"] != "Basic " + b64encode(credentials.encode()).decode() or not asked
                or form["redirect_uri"] != self.redirect_uri or form["grant_type"] != "authorization_code"
                or _base64(hashlib.sha256(form["code_verifier"].encode()).digest()) != asked["code_challenge"]):
            return self.answer(request, {"error": "invalid_grant"}, 400)
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": self.client_id, "iat": now, "exp": now + 60, "nonce": asked["nonce"], **self.person}
        message = _base64(json.dumps({"alg": "RS256", "kid": "k1", "typ": "JWT"}).encode()) + "." + _base64(json.dumps(claims).encode())
        signature = pkcs1_15.new(self.key).sign(SHA256.new(message.encode()))
        self.answer(request, {"access_token": "a", "token_type": "Bearer", "id_token": message + "." + _base64(signature)})

    @staticmethod
    def answer(request, value, status=200):
        body = json.dumps(value).encode()
        request.send_response(status)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)


def _base64(data):
    return urlsafe_b64encode(data).rstrip(b"=").decode()
