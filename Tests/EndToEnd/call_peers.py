"""Peers of a session: aiortc and pages of Chromium, whose offers go through the socket of a `CallSocket`."""
import av
from aiortc import RTCSessionDescription, VideoStreamTrack
from aiortc.mediastreams import AudioStreamTrack

import router_peers
from router_peers import PUBLISH, SUBSCRIBE


OFFER_MORE = """async isMore => {
  if (isMore) {
    const video = document.createElement('video'), stream = new MediaStream();
    Object.assign(video, { autoplay: true, muted: true, playsInline: true, srcObject: stream });
    document.body.append(video);
    connection.ontrack = ({ track }) => stream.addTrack(track);
    for (const kind of ['audio', 'video']) connection.addTransceiver(kind, { direction: 'recvonly' });
  } else connection.restartIce();
  await connection.setLocalDescription(await connection.createOffer());
  return { sdp: connection.localDescription.sdp, sections: connection.getTransceivers().map(({ mid, direction }) => [mid, direction]) };
}"""


async def negotiate(call, sdp, use, stream):
    """The answer to an offer all of whose sections are for one stream."""
    mids = [line.removeprefix("a=mid:").strip() for line in sdp.splitlines() if line.startswith("a=mid:")]
    return (await call.ask("offer", sdp=sdp, sections={mid: {use: stream} for mid in mids}))["sdp"]


class Peer(router_peers.Peer):
    """aiortc in a session."""

    async def _through(self, call, use, stream):
        await self.connection.setLocalDescription(await self.connection.createOffer())
        answer = await negotiate(call, self.connection.localDescription.sdp, use, stream)
        await self.connection.setRemoteDescription(RTCSessionDescription(answer, "answer"))

    async def publish(self, call, picture=None, **description):
        stream = (await call.ask("publish", stream=description))["stream"]["id"]
        self.connection.addTrack(AudioStreamTrack())
        self.connection.addTrack(picture or VideoStreamTrack())
        self._prefer("VP8")
        await self._through(call, "publish", stream)
        return stream

    async def subscribe(self, call, stream):
        for kind in ("audio", "video"):
            self.connection.addTransceiver(kind, "recvonly")
        self._prefer("VP8")
        await self._through(call, "subscribe", stream)


class Plain(VideoStreamTrack):
    """A picture of one colour, as YUV."""

    def __init__(self, colour, width=640, height=480):
        super().__init__()
        self.colour, self.width, self.height = colour, width, height

    async def recv(self):
        pts, time_base = await self.next_timestamp()
        frame = av.VideoFrame(self.width, self.height, "yuv420p")
        for plane, value in zip(frame.planes, self.colour):
            plane.update(bytes([value]) * plane.buffer_size)
        frame.pts, frame.time_base = pts, time_base
        return frame


class Page(router_peers.Page):
    """A tab of Chromium in a session."""

    async def publish(self, call, codec="VP8", layers="[{}]", **description):
        stream = (await call.ask("publish", stream=description))["stream"]["id"]
        offer = await self.page.evaluate(f"async codec => ({PUBLISH})([codec, {layers}])", codec)
        await self._accept(await negotiate(call, offer, "publish", stream))
        return stream

    async def subscribe(self, call, stream):
        offer = await self.page.evaluate(SUBSCRIBE)
        await self._accept(await negotiate(call, offer, "subscribe", stream))

    async def offer_again(self, call, published, subscribed, more=False):
        """The same peer connection once more: with `more` to get a stream too, else to restart ICE."""
        offer = await self.page.evaluate(OFFER_MORE, more)
        uses = {mid: {"publish": published} if direction != "recvonly" else {"subscribe": subscribed} for mid, direction in offer["sections"]}
        await self._accept((await call.ask("offer", sdp=offer["sdp"], sections=uses))["sdp"])
