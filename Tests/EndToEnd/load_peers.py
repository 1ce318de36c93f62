"""Many peers of a media server in one process (load_peers.c): foreign to Martlet, light enough for hundreds."""
import json
import os
import re
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
SOUND, PICTURE = 111, 96
PASSWORD = "the-password-of-a-load-peer"


def found(pattern, text, group=1):
    match = re.search(pattern, text, re.M)
    return match.group(group) if match else None


def build(folder):
    """The program of peers, made by the C compiler."""
    program = os.path.join(folder, "load_peers")
    subprocess.run(["gcc", "-O2", "-Wall", "-o", program, os.path.join(HERE, "load_peers.c"), "-lssl", "-lcrypto", "-lsrtp2"], check=True)
    return program


class Peers:
    """The program of peers, and the descriptions of each in SDP."""

    def __init__(self, program, address, count, kilobits, environment=None):
        self.address = address
        self.process = subprocess.Popen([program, address, str(count), str(kilobits)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, **(environment or {})})
        self.fingerprint, *ports = self.process.stdout.readline().split()
        self.ports = [int(port) for port in ports]

    def say(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()

    @staticmethod
    def ufrag(number):
        return f"load{number}"

    def description(self, number, sections):
        """`sections`: (mid, "audio" or "video", payload type, direction, SSRC or None) each."""
        port = self.ports[number]
        lines = ["v=0", f"o=- 1 1 IN IP4 {self.address}", "s=-", "t=0 0", "a=group:BUNDLE " + " ".join(section[0] for section in sections)]
        for mid, kind, payload, direction, ssrc in sections:
            codec = {"audio": "opus/48000/2", "video": "VP8/90000"}[kind]
            lines += [f"m={kind} {port} UDP/TLS/RTP/SAVPF {payload}", f"c=IN IP4 {self.address}", f"a=mid:{mid}", f"a={direction}", "a=rtcp-mux",
                      f"a=ice-ufrag:{self.ufrag(number)}", f"a=ice-pwd:{PASSWORD}", f"a=fingerprint:sha-256 {self.fingerprint}", "a=setup:active",
                      f"a=rtpmap:{payload} {codec}"]
            if kind == "video":
                lines += [f"a=rtcp-fb:{payload} {feedback}" for feedback in ("nack", "nack pli", "goog-remb")]
            if ssrc:
                lines.append(f"a=ssrc:{ssrc} cname:{self.ufrag(number)}")
            lines += [f"a=candidate:1 1 udp 2130706431 {self.address} {port} typ host", "a=end-of-candidates"]
        return "\r\n".join(lines) + "\r\n"

    def connect(self, number, theirs, is_controlling):
        """With the server's description."""
        ip, port = re.search(r"^a=candidate:\S+ 1 udp \d+ (\d+\.\S+) (\d+) typ host", theirs, re.M | re.I).groups()
        self.say("peer", number, "controlling" if is_controlling else "controlled", self.ufrag(number), PASSWORD,
                 found(r"^a=ice-ufrag:(\S+)", theirs), found(r"^a=ice-pwd:(\S+)", theirs), ip, port)

    async def publish(self, call, number, name=""):
        """A camera of this peer in the session of `call`; the pictures that it sends cannot be decoded."""
        ssrcs = (1000 + 2 * number, 1001 + 2 * number)
        stream = (await call.ask("publish", stream={"name": name, "has_audio": True, "has_video": True}))["stream"]["id"]
        sdp = self.description(number, sections("01", "sendonly", ssrcs))
        answer = await call.ask("offer", sdp=sdp, sections={mid: {"publish": stream} for mid in "01"})
        self.connect(number, answer["sdp"], is_controlling=True)
        self.send(number, *ssrcs)

    def send(self, number, sound, picture):
        """From now on, with these SSRCs."""
        self.say("send", number, SOUND, PICTURE, sound, picture)

    def measure(self, pid, warm, seconds):
        self.say("go", pid, warm, seconds)
        text, _ = self.process.communicate(timeout=180)
        if self.process.returncode != 0:
            raise SystemExit("the peers did not come up")
        return json.loads(text)

    def end(self):
        self.process.kill()
        self.process.wait()


def sections(mids, direction, ssrcs=(None, None), kinds=("audio", "video")):
    return [(mid, kind, {"audio": SOUND, "video": PICTURE}[kind], direction, ssrc) for mid, kind, ssrc in zip(mids, kinds, ssrcs)]
