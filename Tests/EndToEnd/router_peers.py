"""The media router alone (Tests/RouterPeer), and peers at it: pages of Chromium and aiortc. Signalling is one line of SDP there and back."""
import asyncio
import os
import subprocess

from aiortc import RTCConfiguration, RTCPeerConnection, RTCRtpSender, RTCSessionDescription, VideoStreamTrack
from aiortc.mediastreams import AudioStreamTrack, MediaStreamError

from harness import PATIENCE
from server import newest_build

FLAGS = ["--no-sandbox", "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream",
         "--disable-features=WebRtcHideLocalIpsWithMdns", "--allow-loopback-in-peer-connection",
         "--autoplay-policy=no-user-gesture-required"]
LAYERS = """[{ rid: 'l', scaleResolutionDownBy: 4, maxBitrate: 150000 }, { rid: 'm', scaleResolutionDownBy: 2, maxBitrate: 500000 },
  { rid: 'h', maxBitrate: 1500000 }]"""
PUBLISH = """async ([codec, layers]) => {
  const connection = window.connection = new RTCPeerConnection();
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true, video: { width: 1280, height: 720 } });
  connection.addTrack(stream.getAudioTracks()[0], stream);
  const video = connection.addTransceiver(stream.getVideoTracks()[0], { direction: 'sendonly', streams: [stream],
    sendEncodings: layers });
  const wanted = ['video/' + codec, 'video/rtx'];
  video.setCodecPreferences(RTCRtpSender.getCapabilities('video').codecs.filter(({ mimeType }) => wanted.includes(mimeType)));
  await connection.setLocalDescription(await connection.createOffer());
  return connection.localDescription.sdp;
}"""
SUBSCRIBE = """async () => {
  const connection = window.connection = new RTCPeerConnection();
  connection.addTransceiver('audio', { direction: 'recvonly' });
  const receiving = connection.addTransceiver('video', { direction: 'recvonly' });
  // Which layer a frame of AV1 belongs to is said there alone.
  const extensions = receiving.getHeaderExtensionsToNegotiate();
  for (const extension of extensions) if (extension.uri.includes('dependency-descriptor')) extension.direction = 'recvonly';
  receiving.setHeaderExtensionsToNegotiate(extensions);
  const video = document.createElement('video'), stream = new MediaStream();
  Object.assign(video, { autoplay: true, muted: true, playsInline: true, srcObject: stream });
  document.body.append(video);
  connection.ontrack = ({ track }) => stream.addTrack(track);
  await connection.setLocalDescription(await connection.createOffer());
  return connection.localDescription.sdp;
}"""
RECEIVED = """async () => {
  const found = {};
  for (const report of (await connection.getStats()).values()) if (report.type === 'inbound-rtp') found[report.kind] = {
    frames: report.framesDecoded ?? 0, packets: report.packetsReceived, lost: report.packetsLost,
    freezes: report.freezeCount ?? 0, frozen: report.totalFreezesDuration ?? 0, width: report.frameWidth ?? 0,
    samples: report.totalSamplesReceived ?? 0, concealed: report.concealedSamples ?? 0 };
  return found;
}"""
# Pictures that were sent, of the layer with most of them.
SENT = """async () => {
  const reports = [...(await connection.getStats()).values()];
  return Math.max(0, ...reports.filter(({ type, kind }) => type === 'outbound-rtp' && kind === 'video').map(({ framesSent }) => framesSent ?? 0));
}"""


class Router:
    def __init__(self, environment=None):
        self.process = subprocess.Popen([newest_build("router-peer")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, **(environment or {})})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(10)

    def ask(self, *words):
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline().rstrip("\n")
        assert line and not line.startswith("error"), line
        return line

    def answer(self, *words):
        """To an offer, the last of the words."""
        *request, offer = words
        return self.ask(*request, offer.replace("\r\n", "|")).replace("|", "\r\n") + "\r\n"


class Page:
    """A tab of Chromium with a connection to the router."""

    def __init__(self, page):
        self.page = page

    @classmethod
    async def open(cls, browser):
        context = await browser.new_context(permissions=["camera", "microphone"])
        page = await context.new_page()
        # Devices are there for secure origins only; nothing is fetched from it.
        await page.route("**/*", lambda route: route.fulfill(status=200, content_type="text/html", body="<body></body>"))
        await page.goto("https://localhost/")
        return cls(page)

    async def _accept(self, answer):
        await self.page.evaluate("sdp => connection.setRemoteDescription({ type: 'answer', sdp })", answer)

    async def publish(self, router, name, codec, layers="[{}]"):
        offer = await self.page.evaluate(f"async codec => ({PUBLISH})([codec, {layers}])", codec)
        await self._accept(router.answer("publish", name, offer))

    async def subscribe(self, router, name, publisher):
        offer = await self.page.evaluate(SUBSCRIBE)
        await self._accept(router.answer("subscribe", name, publisher, offer))

    async def received(self):
        return await self.page.evaluate(RECEIVED)

    async def sent(self):
        return await self.page.evaluate(SENT)

    async def until(self, condition, what, seconds=PATIENCE):
        for _ in range(10 * seconds):
            received = await self.received()
            if condition(received):
                return received
            await asyncio.sleep(0.1)
        raise AssertionError(f"{what}: {received}")


class Peer:
    """aiortc with a connection to the router."""

    def __init__(self):
        self.connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self.frames = {"audio": 0, "video": 0}
        self.pumps = []
        self.connection.on("track", lambda track: self.pumps.append(asyncio.ensure_future(self._count(track))))

    async def _count(self, track):
        try:
            while True:
                await track.recv()
                self.frames[track.kind] += 1
        except MediaStreamError:
            pass

    def _prefer(self, codec):
        wanted = [c for c in RTCRtpSender.getCapabilities("video").codecs if c.mimeType in ("video/" + codec, "video/rtx")]
        for transceiver in self.connection.getTransceivers():
            if transceiver.kind == "video":
                transceiver.setCodecPreferences(wanted)

    async def _negotiate(self, router, *words):
        await self.connection.setLocalDescription(await self.connection.createOffer())
        answer = router.answer(*words, self.connection.localDescription.sdp)
        await self.connection.setRemoteDescription(RTCSessionDescription(answer, "answer"))

    async def publish(self, router, name, codec):
        self.connection.addTrack(AudioStreamTrack())
        self.connection.addTrack(VideoStreamTrack())
        self._prefer(codec)
        await self._negotiate(router, "publish", name)

    async def subscribe(self, router, name, publisher, codec):
        for kind in ("audio", "video"):
            self.connection.addTransceiver(kind, "recvonly")
        self._prefer(codec)
        await self._negotiate(router, "subscribe", name, publisher)

    async def until(self, video, audio, seconds=PATIENCE):
        for _ in range(10 * seconds):
            if self.frames["video"] >= video and self.frames["audio"] >= audio:
                return
            await asyncio.sleep(0.1)
        raise AssertionError(f"decoded only {self.frames}, {self.connection.connectionState}")

    async def close(self):
        await self.connection.close()
        await asyncio.gather(*self.pumps)
