"""Mails about unread messages, against a real mail server."""
from client import PASSWORD, Api, User
from harness import NotRun, test
from invariants import report

try:
    from mail_and_sign_in import BASE, Mailbox, form_in, path_of, register_with_address, server_with, text_of
except ImportError as error:
    Mailbox = None
    MISSING = str(error)

# Nothing waits to be read first.
AT_ONCE = {"mail_starttls": "false", "push_mail_delay_minutes": "0"}


def needs_packages(context):
    context.own_server()
    if Mailbox is None:
        raise NotRun(MISSING)


def pusher(address, kind="email"):
    return {"kind": kind, "app_id": "m.email", "pushkey": address, "app_display_name": "Mail", "device_display_name": address,
            "lang": "en", "data": {}}


def reader(server, mailbox, address="ann@example.org"):
    """A user who is sent mails."""
    session = register_with_address(Api(server.base), mailbox, "ann", address)
    ann = Api(server.base, session["access_token"])
    ann.user_id = session["user_id"]
    ann.post("pushers/set", pusher(address)).ok()
    return ann


def room_of(ann, bob, name):
    room = ann.post("createRoom", {"preset": "public_chat", "name": name}).ok()["room_id"]
    bob.join(room)
    return room


@test("a mail tells of a message that is not read, and its way out works without signing in")
def unread(context):
    needs_packages(context)
    with Mailbox() as mailbox:
        server = server_with(mailbox, **AT_ONCE)
        try:
            ann, bob = reader(server, mailbox), User(server.base, "bob")
            ann.post("pushers/set", pusher("else@example.org")).fails(400, "M_THREEPID_NOT_FOUND")
            room = room_of(ann, bob, "Tea\r\nBcc: eve@example.org <b>& Käse")
            bob.put(f"profile/{bob.user_id}/displayname", {"displayname": "Böb\nSubject: forged <i>"}).ok()
            bob.send(room, "hello <script>alert(1)</script>\nann: forged")
            sender, recipients, message = mailbox.wait(2)
            assert sender == "martlet@test.example" and recipients == ["ann@example.org"], recipients
            assert not message.defects and message["Bcc"] is None, message.as_string()
            assert message["Subject"] == "A new message in Tea Bcc: eve@example.org <b>& Käse", message["Subject"]
            assert "  Böb Subject: forged <i>: hello <script>alert(1)</script> ann: forged" in text_of(message).splitlines(), text_of(message)
            page = message.get_body(("html",)).get_content()
            assert "<script" not in page and "&lt;script&gt;alert(1)" in page and "<b>Böb Subject: forged &lt;i&gt;</b>" in page, page
            assert f"{BASE}/#room/{room}" in text_of(message) and f'href="{BASE}/#room/{room}"' in page
            assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
            out = path_of(message["List-Unsubscribe"].strip().strip("<>"))
            assert BASE + out in text_of(message)

            look = Api(server.base).request("GET", out)
            assert look.status == 200 and form_in(look.body.decode()) == out, look.body
            assert len(ann.get("pushers").ok()["pushers"]) == 1
            one_click = {"Content-Type": "application/x-www-form-urlencoded"}
            assert Api(server.base).request("POST", out, body=b"List-Unsubscribe=One-Click", headers=one_click).status == 200
            assert ann.get("pushers").ok()["pushers"] == []
            assert Api(server.base).request("POST", out).status == 404
            server.stop()
            assert not report(server.folder), report(server.folder)
        finally:
            server.close()


@test("neither a crash nor a restart loses a mail or doubles it")
def crashes(context):
    needs_packages(context)
    with Mailbox() as mailbox:
        server = server_with(mailbox, **AT_ONCE)
        try:
            ann, bob = reader(server, mailbox), User(server.base, "bob")
            texts = []
            for number in range(6):
                room = room_of(ann, bob, f"Room {number}")
                texts.append(f"message number {number}.")
                bob.send(room, texts[-1])
                if number % 2:
                    mailbox.wait_for(lambda mails: any(texts[-1] in text_of(message) for *_, message in mails))
                server.kill() if number % 3 else server.stop()
                server.start()
                ann.base = bob.base = server.base
            mailbox.wait_for(lambda mails: all(any(text in text_of(message) for *_, message in mails) for text in texts))
            # A mail that was on its way in a crash may come twice, but is one by its ID.
            for text in texts:
                ids = {message["Message-ID"] for *_, message in mailbox.mails if text in text_of(message)}
                assert len(ids) == 1, (text, ids)
            server.stop()
            assert not report(server.folder), report(server.folder)
        finally:
            server.close()


@test("nothing is left of mails to who erases their account")
def erased(context):
    needs_packages(context)
    with Mailbox() as mailbox:
        server = server_with(mailbox, mail_starttls="false", push_mail_delay_minutes="1440")
        try:
            ann, bob = reader(server, mailbox), User(server.base, "bob")
            bob.send(room_of(ann, bob, "Tea"), "hello")
            auth = {"type": "m.login.password", "identifier": {"type": "m.id.user", "user": ann.user_id}, "password": PASSWORD}
            ann.post("account/deactivate", {"auth": auth, "erase": True}).ok()
            server.stop()
            assert not report(server.folder), report(server.folder)
            assert len(mailbox.mails) == 1
        finally:
            server.close()
