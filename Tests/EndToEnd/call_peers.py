"""Peers of a session: aiortc and pages of Chromium, whose offers go through the socket of a `CallSocket`."""
from aiortc import RTCSessionDescription, VideoStreamTrack
from aiortc.mediastreams import AudioStreamTrack

import router_peers
from router_peers import PUBLISH, SUBSCRIBE


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

    async def publish(self, call, **description):
        stream = (await call.ask("publish", stream=description))["stream"]["id"]
        self.connection.addTrack(AudioStreamTrack())
        self.connection.addTrack(VideoStreamTrack())
        self._prefer("VP8")
        await self._through(call, "publish", stream)
        return stream

    async def subscribe(self, call, stream):
        for kind in ("audio", "video"):
            self.connection.addTransceiver(kind, "recvonly")
        self._prefer("VP8")
        await self._through(call, "subscribe", stream)


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
