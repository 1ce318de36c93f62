"""The media servers the comparison puts side by side. Each has `start`, `pid`, `stop`, and `join`, which connects load peers."""
import asyncio
import http.client
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "Tests", "EndToEnd"))

from call_client import CallSocket  # noqa: E402
from load_peers import PICTURE, SOUND, found, sections  # noqa: E402
from server import Server, program  # noqa: E402

import opentok  # noqa: E402

def local_address():
    """One that is not the loopback's, which Janus leaves out. Packets to it go through the loopback all the same."""
    addresses = subprocess.check_output(["hostname", "-I"], text=True).split()
    found = next((address for address in addresses if "." in address), None)
    if not found:
        raise SystemExit("This machine has no IPv4 address besides 127.0.0.1; Janus needs one.")
    return found


class Martlet:
    name = "Martlet"

    def __init__(self, address):
        self.folder = tempfile.mkdtemp(prefix="martlet-calls-")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
            free.bind((address, 0))
            bind = f"{address}:{free.getsockname()[1]}"
        self.server = Server(folder=self.folder, calls_bind=bind, calls_public_addresses=address)

    @property
    def pid(self):
        return self.server.process.pid

    def start(self):
        self.server.start()
        made = json.loads(subprocess.check_output(
            [program(), "call", "key", "add", "load", "--json", "--data-dir", self.folder, "--server-name", "test.example"]))
        self.sdk = opentok.Client(made["key"], made["secret"], api_url=self.server.base + "/_martlet/call")
        return self

    async def _enter(self, session):
        token = session.generate_token(role=opentok.Roles.publisher)
        call = await CallSocket(self.server.base).connect(session.session_id, token)
        self.sockets.append(call)
        return call

    async def _publish(self, call, peers, number, kinds):
        stream = (await call.ask("publish", stream={"name": "", "has_audio": True, "has_video": "video" in kinds}))["stream"]["id"]
        return stream, [(f"s{kind}", kind, {"audio": SOUND, "video": PICTURE}[kind], "sendonly", 1000 + 10 * number + i) for i, kind in enumerate(kinds)]

    def _send(self, peers, number, kinds):
        peers.say("send", number, SOUND, PICTURE if "video" in kinds else 0, 1000 + 10 * number, 1001 + 10 * number)

    async def _offer(self, call, peers, number, described, uses):
        answer = await call.ask("offer", sdp=peers.description(number, described), sections=uses)
        peers.connect(number, answer["sdp"], is_controlling=True)

    def join(self, peers, publishers, subscribers):
        """So many publish, and the others get one of them each."""
        self.loop = asyncio.new_event_loop()
        self.sockets = []
        self.loop.run_until_complete(self._join(peers, publishers, subscribers))

    async def _join(self, peers, publishers, subscribers):
        session, kinds = self.sdk.create_session(media_mode=opentok.MediaModes.routed), ("audio", "video")
        streams = []
        for number in range(publishers):
            call = await self._enter(session)
            stream, described = await self._publish(call, peers, number, kinds)
            await self._offer(call, peers, number, described, {section[0]: {"publish": stream} for section in described})
            self._send(peers, number, kinds)
            streams.append(stream)
        for number in range(publishers, publishers + subscribers):
            call = await self._enter(session)
            stream = streams[number % publishers]
            known = {one["id"] for one in call.greeting["streams"]}
            while stream not in known:
                known.add((await call.event("stream_created"))["stream"]["id"])
            await self._offer(call, peers, number, sections("01", "recvonly"), {mid: {"subscribe": stream} for mid in "01"})

    def meet(self, peers, pairs):
        """Sessions of two who talk to each other, with sound alone."""
        self.loop = asyncio.new_event_loop()
        self.sockets = []
        self.loop.run_until_complete(self._meet(peers, pairs))

    async def _meet(self, peers, pairs):
        for pair in range(pairs):
            session = self.sdk.create_session(media_mode=opentok.MediaModes.routed)
            two = []
            for number in (2 * pair, 2 * pair + 1):
                call = await self._enter(session)
                stream, described = await self._publish(call, peers, number, ("audio",))
                await self._offer(call, peers, number, described, {"saudio": {"publish": stream}})
                self._send(peers, number, ("audio",))
                two.append((number, call, stream, described))
            for (number, call, stream, described), (_, _, other, _) in (two, two[::-1]):
                while other not in {(await call.event("stream_created"))["stream"]["id"]}:
                    pass
                whole = described + sections("r", "recvonly", kinds=("audio",))
                await call.ask("offer", sdp=peers.description(number, whole), sections={"saudio": {"publish": stream}, "r": {"subscribe": other}})

    def stop(self):
        if hasattr(self, "loop"):
            for call in self.sockets:
                self.loop.run_until_complete(call.close())
            self.loop.close()
        self.server.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class Janus:
    """Debian's package, the VideoRoom alone, driven by its REST interface."""
    name = "Janus"

    def __init__(self, address):
        if not shutil.which("janus"):
            raise SystemExit("Janus is not installed: apt-get install --no-install-recommends janus")
        self.folder = tempfile.mkdtemp(prefix="janus-calls-")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        libraries = next(path for path in subprocess.check_output(["dpkg", "-L", "janus"], text=True).splitlines() if path.endswith("/janus/plugins"))
        folders = {kind: os.path.join(os.path.dirname(libraries), kind) for kind in ("plugins", "transports", "events", "loggers")}

        def others(kind, keep=""):
            return ",".join(name for name in sorted(os.listdir(folders[kind])) if name.endswith(".so") and (not keep or keep not in name)) if os.path.isdir(folders[kind]) else ""

        paths = "; ".join(f'{kind}_folder="{path}"' for kind, path in folders.items())
        self._write("janus.jcfg", f"""
general: {{ configs_folder="{self.folder}"; {paths}; debug_level=3; interface="{address}"; session_timeout=0; server_name="load"; }}
certificates: {{ }}
media: {{ ipv6=false; rtp_port_range="20000-29999"; no_media_timer=30; }}
nat: {{ nice_debug=false; ice_lite=false; ice_enforce_list="{address}"; full_trickle=false; }}
plugins: {{ disable="{others('plugins', 'videoroom')}" }}
transports: {{ disable="{others('transports', 'http')}" }}
events: {{ broadcast=false; disable="{others('events')}" }}
loggers: {{ disable="{others('loggers')}" }}
""")
        self._write("janus.transport.http.jcfg", f"""
general: {{ json="compact"; base_path="/janus"; http=true; port={self.port}; ip="127.0.0.1"; https=false; }}
admin: {{ admin_http=false; }}
""")
        self._write("janus.plugin.videoroom.jcfg", "general: { }\n")

    def _write(self, name, text):
        with open(os.path.join(self.folder, name), "w") as file:
            file.write(text)

    @property
    def pid(self):
        return self.process.pid

    def start(self):
        self.log = os.path.join(self.folder, "output.log")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(["janus", "-F", self.folder, "-C", os.path.join(self.folder, "janus.jcfg")], stdout=log, stderr=log)
        end = time.monotonic() + 20
        while True:
            try:
                self.http = http.client.HTTPConnection("127.0.0.1", self.port)
                self.http.request("GET", "/janus/info")
                self.http.getresponse().read()
                return self
            except OSError:
                if time.monotonic() > end or self.process.poll() is not None:
                    raise SystemExit(f"Janus did not start: {open(self.log).read()[-500:]}") from None
                time.sleep(0.1)

    def _post(self, path, **body):
        body["transaction"] = f"{random.getrandbits(32):08x}"
        self.http.request("POST", "/janus" + path, json.dumps(body), {"Content-Type": "application/json"})
        return json.loads(self.http.getresponse().read())

    def _attach(self):
        return self._post(f"/{self.session}", janus="attach", plugin="janus.plugin.videoroom")["data"]["id"]

    def _event(self, handle, is_it):
        """The next event of a handle that is so; others wait."""
        end = time.monotonic() + 20
        while time.monotonic() < end:
            for i, event in enumerate(self.events):
                if event.get("sender") == handle and is_it(event):
                    return self.events.pop(i)
            self.http.request("GET", f"/janus/{self.session}?maxev=20")
            answer = json.loads(self.http.getresponse().read())
            self.events += answer if isinstance(answer, list) else [answer]
        raise SystemExit(f"Janus is silent: {self.events[-3:]}")

    def join(self, peers, publishers, subscribers):
        self.events = []
        self.session = self._post("", janus="create")["data"]["id"]
        room = dict(request="create", room=1, publishers=20, bitrate=0, audiocodec="opus", videocodec="vp8", notify_joining=False,
                    transport_wide_cc_ext=False, audiolevel_ext=False, videoorient_ext=False, playoutdelay_ext=False)
        self._post(f"/{self.session}/{self._attach()}", janus="message", body=room)
        for number in range(publishers):
            handle = self._attach()
            offer = peers.description(number, sections("01", "sendonly", (1000 + 10 * number, 1001 + 10 * number)))
            self._post(f"/{self.session}/{handle}", janus="message", body=dict(request="joinandconfigure", room=1, ptype="publisher", id=1000 + number),
                       jsep=dict(type="offer", sdp=offer))
            peers.connect(number, self._event(handle, lambda event: "jsep" in event)["jsep"]["sdp"], is_controlling=True)
            peers.say("send", number, SOUND, PICTURE, 1000 + 10 * number, 1001 + 10 * number)
        time.sleep(2)  # Until Janus has the publishers' media there is nothing to subscribe to, and no event says so here.
        for number in range(publishers, publishers + subscribers):
            handle = self._attach()
            self._post(f"/{self.session}/{handle}", janus="message", body=dict(request="join", room=1, ptype="subscriber", streams=[dict(feed=1000 + number % publishers)]))
            offer = self._event(handle, lambda event: "jsep" in event)["jsep"]["sdp"]
            described = []
            for section in re.split(r"(?m)^(?=m=)", offer.replace("\r\n", "\n"))[1:]:
                kind = section[2:7]
                payload = int(found(r"^a=rtpmap:(\d+) (?:opus|VP8)/", section))
                described.append((found(r"^a=mid:(\S+)", section), kind, payload, "recvonly", None))
            self._post(f"/{self.session}/{handle}", janus="message", body=dict(request="start", room=1),
                       jsep=dict(type="answer", sdp=peers.description(number, described)))
            peers.connect(number, offer, is_controlling=False)
            self._event(handle, lambda event: event.get("janus") == "webrtcup" or event.get("plugindata", {}).get("data", {}).get("started") == "ok")

    def stop(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
