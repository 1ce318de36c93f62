"""E-mail addresses against a real mail server, single sign-on against an OpenID provider."""
import http.cookies
import tempfile
import urllib.parse

from client import PASSWORD, Api
from harness import NotRun, test
from server import Server

try:
    from mail_and_sign_in import BASE, Mailbox, Provider, certificate, confirm, form_in, link_in, path_of, server_with, text_of
except ImportError as error:
    Mailbox = None
    MISSING = str(error)


def needs_packages(context):
    context.own_server()
    if Mailbox is None:
        raise NotRun(MISSING)


@test("an account is made with an e-mail address, logs in by it, and gets a new password by it")
def address(context):
    needs_packages(context)
    with Mailbox() as mailbox:
        server = server_with(mailbox, mail_starttls="false")
        try:
            api = Api(server.base)
            sid = api.post("register/email/requestToken", {"client_secret": "s", "email": "Ann@Example.ORG", "send_attempt": 1}).ok()["sid"]
            sender, recipients, message = mailbox.wait(1)
            assert sender == "martlet@test.example" and recipients == ["ann@example.org"]
            assert message["Subject"] == "Confirm your e-mail address" and message["From"] == "Martlet <martlet@test.example>"
            assert message.is_multipart() and link_in(message) in message.get_body(("html",)).get_content().replace("&amp;", "&")
            assert not message.defects, message.defects
            confirm(api, message)
            auth = {"type": "m.login.email.identity", "threepid_creds": {"sid": sid, "client_secret": "s"}}
            ann = api.post("register", {"username": "ann", "password": PASSWORD, "auth": auth}).ok()
            mine = api.get("account/3pid", token=ann["access_token"]).ok()["threepids"]
            assert [(entry["medium"], entry["address"]) for entry in mine] == [("email", "ann@example.org")]
            who = {"type": "m.id.thirdparty", "medium": "email", "address": "ann@example.org"}
            assert api.post("login", {"type": "m.login.password", "identifier": who, "password": PASSWORD}).ok()["user_id"] == "@ann:test.example"

            sid = api.post("account/password/email/requestToken", {"client_secret": "r", "email": "ann@example.org", "send_attempt": 1}).ok()["sid"]
            confirm(api, mailbox.wait(2)[2])
            auth = {"type": "m.login.email.identity", "threepid_creds": {"sid": sid, "client_secret": "r"}}
            api.post("account/password", {"new_password": "another long one", "auth": auth}).ok()
            api.get("account/whoami", token=ann["access_token"]).fails(401, "M_UNKNOWN_TOKEN")
            api.post("login", {"type": "m.login.password", "identifier": who, "password": "another long one"}).ok()
            # Nobody but the reader learns that it is known.
            api.post("register/email/requestToken", {"client_secret": "x", "email": "ann@example.org", "send_attempt": 1}).ok()
            assert "http" not in text_of(mailbox.wait(3)[2])
        finally:
            server.close()


@test("a mail server whose certificate nobody trusts gets neither password nor mail")
def untrusted(context):
    needs_packages(context)
    with tempfile.TemporaryDirectory() as folder, Mailbox(certificate(folder), ("user", "pass")) as mailbox:
        server = server_with(mailbox, mail_user="user", mail_password="pass")
        try:
            body = {"client_secret": "s", "email": "ann@example.org", "send_attempt": 1}
            Api(server.base).post("register/email/requestToken", body).fails(502, "M_UNKNOWN")
            assert not mailbox.mails
        finally:
            server.close()


@test("Martlet logs in to a mail server that wants it")
def mail_login(context):
    needs_packages(context)
    with Mailbox(login=("user", "pass")) as mailbox:
        for password, status in (("pass", 200), ("wrong", 502)):
            server = server_with(mailbox, mail_starttls="false", mail_user="user", mail_password=password)
            try:
                body = {"client_secret": "s", "email": "ann@example.org", "send_attempt": 1}
                assert Api(server.base).post("register/email/requestToken", body).status == status
            finally:
                server.close()
        assert len(mailbox.mails) == 1


@test("a person of an OpenID provider signs in, and the app that asked gets a token")
def sign_in(context):
    needs_packages(context)
    provider = Provider("martlet", "a s/cret+", BASE + "/_matrix/client/unstable/martlet.sso/callback")
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/martlet.yaml", "w") as file:
            file.write(f'single_sign_on:\n  company:\n    name: "Our company"\n    issuer: "{provider.issuer}"\n'
                       '    client_id: martlet\n    client_secret: "a s/cret+"\n')
        server = Server(public_base_url=BASE, trusted_clients="https://app.example", config=folder + "/martlet.yaml").start()
        try:
            api = Api(server.base)
            flows = api.get("login").ok()["flows"]
            sso = next(flow for flow in flows if flow["type"] == "m.login.sso")
            assert sso["identity_providers"] == [{"id": "company", "name": "Our company"}]
            provider.person = {"sub": "42", "preferred_username": "Ann Lee", "name": "Ann Lee"}
            for redirect, trusted in (("https://app.example/#/in", True), ("https://else.example/?a=1", False)):
                location = browse(api, provider, redirect, trusted)
                token = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(location).query))["loginToken"]
                login = api.post("login", {"type": "m.login.token", "token": token}).ok()
                assert login["user_id"] == "@ann=20lee:test.example"
                api.post("login", {"type": "m.login.token", "token": token}).fails(403, "M_FORBIDDEN")
            assert api.get("profile/@ann=20lee:test.example").ok()["displayname"] == "Ann Lee"
        finally:
            server.close()
            provider.close()


def browse(api, provider, redirect, trusted):
    """What a browser does from the app to the app; gives the last address."""
    start = api.request("GET", "login/sso/redirect", redirectUrl=redirect)
    assert start.status == 302 and start.headers["Location"].startswith(provider.issuer + "/authorize?")
    cookie = http.cookies.SimpleCookie(start.headers["Set-Cookie"])["martlet_sso"]
    assert cookie["httponly"] and cookie["secure"] and cookie["samesite"] == "Lax"
    back = Api(provider.issuer).request("GET", start.headers["Location"][len(provider.issuer):])
    assert back.status == 302, back.body
    headers = {"Cookie": "martlet_sso=" + cookie.value}
    answer = api.request("GET", path_of(back.headers["Location"]), headers=headers)
    if not trusted:
        assert answer.status == 200 and b"loginToken" not in answer.body and b"https://else.example" in answer.body
        answer = api.request("POST", form_in(answer.body.decode()), headers=headers)
        assert answer.status == 303
    else:
        assert answer.status == 302, answer.body
    return answer.headers["Location"]
