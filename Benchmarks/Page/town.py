"""A homeserver with what the page is measured on: a reader in 1,000 rooms, one of them with 10,000 members."""
import http.client
import json
import os
import sys
import tempfile
import time
from urllib.parse import quote

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "Tests", "EndToEnd"))
from server import Server  # noqa: E402

PASSWORD = "correct horse battery"
TOKEN = "token-of-the-benchmark"
NAME = "test.example"
READER = f"@_town_reader:{NAME}"
REGISTRATION = f"""
id: town
url: null
as_token: {TOKEN}
hs_token: of-the-server-{TOKEN}
sender_localpart: _town
rate_limited: false
namespaces:
  users:
    - {{exclusive: false, regex: '@_town_.*'}}
  aliases: []
  rooms: []
"""


class Town:
    """Everybody but the reader is a user of an application service: made without a password, on one connection."""

    def __init__(self, rooms, members):
        self.folder = tempfile.TemporaryDirectory(prefix="martlet-town-")
        registration = os.path.join(self.folder.name, "town.yaml")
        with open(registration, "w", encoding="utf-8") as file:
            file.write(REGISTRATION)
        self.server = Server(os.path.join(self.folder.name, "data"), app_services=registration,
                             web_dir=os.environ.get("MARTLET_WEB_DIR", os.path.join(ROOT, ".build", "web")))
        os.makedirs(self.server.folder)
        self.server.start()
        self.connection = http.client.HTTPConnection("127.0.0.1", self.server.port)
        self.number = 0
        self._fill(rooms, members)

    def close(self):
        self.server.stop()
        self.folder.cleanup()

    def ask(self, method, path, body=None, user=None, token=TOKEN):
        target = "/_matrix/client/v3/" + path + (f"?user_id={quote(user)}" if user else "")
        headers = {"Content-Type": "application/json", **({"Authorization": "Bearer " + token} if token else {})}
        self.connection.request(method, target, json.dumps(body or {}), headers)
        answer = self.connection.getresponse()
        content = json.loads(answer.read())
        if answer.status != 200:
            raise RuntimeError(f"{method} {path}: {answer.status} {content}")
        return content

    def say(self, room, text, user):
        """When the server had it, in milliseconds since 1970."""
        self.number += 1
        self.ask("PUT", f"rooms/{quote(room)}/send/m.room.message/{self.number}", {"msgtype": "m.text", "body": text}, user)
        return time.time() * 1000

    def _register(self, name):
        self.ask("POST", "register", {"type": "m.login.application_service", "username": name, "inhibit_login": True})
        return f"@{name}:{NAME}"

    def _fill(self, rooms, members):
        # An account with a password, that the service may speak for.
        account = {"username": "_town_reader", "password": PASSWORD, "auth": {"type": "m.login.dummy"}}
        self.ask("POST", "register", account, token=None)
        self.friend = self._register("_town_friend")
        self.rooms = []
        for number in range(rooms):
            room = self.ask("POST", "createRoom", {"preset": "public_chat", "name": f"Room {number}"}, self.friend)["room_id"]
            self.ask("POST", f"rooms/{quote(room)}/join", {}, READER)
            for line in range(30 if number >= rooms - 4 else 2):
                self.say(room, f"line {line} of room {number}", self.friend)
            self.rooms.append(room)
        self.crowd = self.rooms[-2]
        for number in range(members):
            user = self._register(f"_town_member{number}")
            self.ask("POST", f"rooms/{quote(self.crowd)}/join", {}, user)
        # The rooms that are looked at stand on top.
        for room in self.rooms[-4:]:
            self.say(room, "the last word", self.friend)
