"""`MartletCall` in pages of app developers: the example in Examples/Call, its files on another origin than the server, in Chromium."""
import asyncio
import contextlib
import json
import os
import tempfile
from urllib.parse import urlencode

from opentok import MediaModes

from browser import MEDIA_FLAGS, people
from harness import NotRun, test
from load_peers import Peers, build
from lossy_link import LossyLink
from server import ROOT, Server
from test_calls import App, MODERATOR, PUBLISHER, SUBSCRIBER
from test_element import Files

NEEDS_BROWSER = True

WEB = os.path.join(ROOT, ".build", "web")
FOLDERS = [WEB, os.path.join(ROOT, "Examples", "Call")]
# Three cameras to swap: of the second, Chromium can show the pictures (16 bits of grey), but not encode them.
FLAGS = [*MEDIA_FLAGS, "--use-fake-device-for-media-stream=device-count=3,fps=10"]
# How many pictures of a video have been decoded; whether they are more than so many.
FRAMES = "(window.pictures = selector => document.querySelector(selector)?.getVideoPlaybackQuality().totalVideoFrames ?? 0)"
SEES = "([selector, count]) => (document.querySelector(selector)?.getVideoPlaybackQuality().totalVideoFrames ?? 0) > count"
# What the call tells from now on, by type, with what matters.
AGAIN = "async () => { globalThis.publisher = await call.publish(document.getElementById('own'), { name: 'alice' }); }"
END = "() => [globalThis.call?.state, document.getElementById('state')?.value, JSON.stringify(globalThis.heard?.slice(-8))].join(' ')"
HEAR = """() => {
  globalThis.heard = [];
  for (const type of ['signal', 'muted', 'reconnecting', 'reconnected', 'closed', 'connectionDestroyed', 'streamDestroyed', 'speaker'])
    call.addEventListener(type, ({ detail }) => heard.push([type, detail.data ?? detail.code ?? detail.connection?.data ?? detail.stream?.name ?? '']));
}"""
# A page of somebody else: an import from another origin, and a few lines.
FEW_LINES = """<!doctype html><title>Few lines</title><div id="own"></div><div id="others"></div><script type="module">
import { MartletCall } from '%s/martlet-call.js';
const { url, session, token } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
globalThis.call = new MartletCall({ url, session, token });
call.addEventListener('streamCreated', async ({ detail }) => {
  const began = performance.now(), subscriber = await call.subscribe(detail.stream, document.getElementById('others'));
  await subscriber.seen;
  globalThis.seenAfter = performance.now() - began;
  globalThis.joinedAfter = performance.now() - globalThis.connecting;
});
globalThis.connecting = performance.now();
call.connect().then(() => { globalThis.isIn = true; }, error => { globalThis.failure = [error.code, error.message]; });
</script>"""


# Before a page's own scripts: it knows its peer connections from then on.
PEERS = """(() => {
  const { RTCPeerConnection } = globalThis, peers = globalThis.peers = [];
  globalThis.RTCPeerConnection = class extends RTCPeerConnection {
    constructor(...all) { super(...all); peers.push(this); }
  };
})();"""
# A page that subscribes to all there are.
EVERYONE = """<!doctype html><title>Everyone</title><div id="others"></div><script type="module">
import { MartletCall } from '%s/martlet-call.js';
const { url, session, token } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
globalThis.call = new MartletCall({ url, session, token });
globalThis.trouble = [];
call.addEventListener('streamCreated', ({ detail }) =>
  call.subscribe(detail.stream, document.getElementById('others')).catch(error => { trouble.push(error.code); }));
call.addEventListener('closed', ({ detail }) => { trouble.push(detail.code); });
await call.connect().catch(error => { trouble.push(error.code); });
</script>"""
# Which sections are agreed upon, of how many packets have come (pictures as far as there is room on the path), and how long the offer is.
ARRIVED = """async () => {
  const arrived = { agreed: { audio: 0, video: 0 }, audio: 0, video: 0, offer: 0 };
  for (const peer of peers) {
    arrived.offer = Math.max(arrived.offer, peer.localDescription?.sdp.length ?? 0);
    for (const { currentDirection, receiver } of peer.getTransceivers())
      if (currentDirection === 'recvonly') arrived.agreed[receiver.track.kind]++;
    for (const [, { type, kind, packetsReceived }] of await peer.getStats())
      if (type === 'inbound-rtp' && packetsReceived > 0) arrived[kind]++;
  }
  return arrived;
}"""


class Stage:
    """A session, the files on an origin of their own, and pages of the example in it."""

    def __init__(self, test, app, session, files):
        self.test, self.app, self.session, self.files = test, app, session, files

    def address(self, page, role, name, base=None, data=None):
        token = self.session.generate_token(role=role, data=data or name)
        there = {"url": base or self.app.base, "session": self.session.session_id, "token": token, "name": name}
        return f"{self.files.base}/{page}#{urlencode(there)}"

    async def join(self, person, role=PUBLISHER, base=None):
        await person.page.goto(self.address("call.html", role, person.name, base))
        await person.until("() => globalThis.call?.state === 'connected'")
        await person.page.evaluate(HEAR)


@contextlib.asynccontextmanager
async def stage(test, *names, flags=FLAGS, pages=None, mode=MediaModes.routed, server=None, whole=False):
    if not os.path.exists(os.path.join(WEB, "MartletCall.wasm")):
        raise NotRun("not built: Scripts/build-web MartletCall")
    app = App(test, server)
    files = Files(FOLDERS, pages)
    try:
        async with people(test, *names, flags=flags, whole=whole) as found:
            everybody = found if len(names) > 1 else [found]
            try:
                yield Stage(test, app, app.session(mode), files), *everybody
            except Exception as error:
                for person in everybody:
                    error.add_note(await end_of(person))
                raise
    finally:
        files.close()


async def end_of(person):
    """What a page of a failed test has come to."""
    try:
        return f"{person.name}: {await person.page.evaluate(END)}"
    except Exception as error:
        return f"{person.name}: {error}"


async def heard(person, kind=None):
    told = await person.page.evaluate("heard")
    return [what for type, what in told if type == kind] if kind else told


async def sees(person, selector="#other video", more=15):
    """So many more pictures than by now."""
    count = await person.page.evaluate(FRAMES + f"('{selector}')")
    await person.until(SEES, [selector, count + more])


def ask(person, expression):
    """The code with which a promise is rejected, or nothing."""
    return person.page.evaluate(f"async () => {{ try {{ await {expression}; return ''; }} catch (error) {{ return error.code; }} }}")


def button(person, name):
    return person.page.get_by_role("button", name=name, exact=True)


# Proves A6, A22, A23, A27, L4, L5, L8, L13
@test("two pages of the example see each other, mute both ways, swap the camera and write; a signal to one reaches that one alone")
async def _(test):
    async with stage(test, "alice", "boris", "carol") as (here, alice, boris, carol):
        await here.join(alice)
        assert await alice.page.locator("#chat").is_hidden()
        await here.join(boris)
        await here.join(carol, SUBSCRIBER)
        for person, other in ((alice, boris), (boris, alice)):
            await sees(person)
            await person.page.get_by_text(f"You see {other.name}.").wait_for()
            assert await person.page.locator("#chat").is_visible()
            await sees(person, "#own video")
        await alice.page.get_by_label("Message").fill("<b>Hello</b>")
        await button(alice, "Send").click()
        for person in (alice, boris, carol):
            await person.page.get_by_text("alice: <b>Hello</b>").wait_for()
        await alice.page.evaluate("call.signal({ kind: 'x', data: 'for Boris', to: call.connections.find(({ data }) => data === 'boris') })")
        for nobody in ("undefined", "null", "{}", "call.connections.find(({ data }) => data === 'dora')", "'nobody'"):
            assert await ask(alice, f"call.signal({{ data: 'for nobody', to: {nobody} }})") == "not_found", nobody
        await alice.page.evaluate("call.signal({ data: 'for all' })")
        for person in (alice, boris, carol):
            await person.until("() => heard.some(([type, data]) => data === 'for all')")
        assert await heard(boris, "signal") == ["<b>Hello</b>", "for Boris", "for all"]
        assert await heard(alice, "signal") == await heard(carol, "signal") == ["<b>Hello</b>", "for all"]

        await button(alice, "Mute").click()
        await boris.until("() => call.streams.find(({ name }) => name === 'alice').hasAudio === false")
        await button(alice, "Unmute").click()
        await boris.until("() => call.streams.find(({ name }) => name === 'alice').hasAudio")
        await button(boris, "Mute the other").click()
        assert await boris.page.evaluate("document.querySelector('#other video').muted")
        await button(boris, "Hear the other").click()
        camera = "publisher.element.srcObject.getVideoTracks()[0].getSettings().deviceId"
        for _ in range(2):
            before = await alice.page.evaluate(camera)
            await button(alice, "Swap camera").click()
            await alice.until(f"before => {camera} !== before", before)
        await sees(boris)
        await sees(alice, "#own video")
        await button(alice, "Camera off").click()
        await boris.until("() => call.streams.find(({ name }) => name === 'alice').hasVideo === false")
        await button(alice, "Camera on").click()
        await sees(boris)
        await boris.picture("example-call")
        assert await ask(alice, "call.signal({ kind: 'a b' })") == "invalid"
        assert await ask(alice, "call.signal({ data: 'd'.repeat(8193) })") == "too_large"
        assert await ask(alice, "call.forceMute(call.streams[0])") == await ask(carol, "call.publish(null)") == "forbidden"
        assert await ask(alice, "call.forceDisconnect(call.connections[0])") == "forbidden"
        assert await ask(alice, "call.connect()") == "invalid"
        await button(alice, "Leave").click()
        await boris.page.get_by_text("alice is gone.").wait_for()
        assert await alice.page.evaluate("[call.state, publisher.element.srcObject, document.querySelectorAll('video').length]") == ["closed", None, 0]
        assert await ask(alice, "call.signal({})") == "not_connected"


# Proves A24
@test("a moderator mutes one or all and ends a stream and a connection; the participant is told")
async def _(test):
    async with stage(test, "alice", "boris") as (here, alice, boris):
        await here.join(alice)
        await here.join(boris, MODERATOR)
        await sees(boris)
        await boris.page.evaluate("call.forceMute(call.streams[0])")
        await alice.page.get_by_text("A moderator has muted you.").wait_for()
        await boris.until("() => call.streams[0].muted && !call.streams[0].hasAudio")
        assert await alice.page.evaluate("[publisher.audio, publisher.isMutedByModerator]") == [False, True]
        await button(alice, "Unmute").click()
        await boris.until("() => !call.streams[0].muted && call.streams[0].hasAudio")
        await boris.page.evaluate("call.muteAll({ except: [globalThis.publisher.stream] })")
        await alice.until("() => !publisher.audio && call.isMuteOfAllActive")
        assert await boris.page.evaluate("publisher.audio")
        await boris.page.evaluate("call.muteAll({ active: false })")
        await alice.until("() => !call.isMuteOfAllActive")
        await boris.page.evaluate("call.forceUnpublish(call.streams[0])")
        await alice.until("() => publisher.stream === null && publisher.element.srcObject === null")
        await boris.until("() => call.streams.length === 0")
        await boris.page.evaluate("call.forceDisconnect(call.connections[0])")
        await alice.page.get_by_text("A moderator or the application has ended this connection.").wait_for()
        assert await heard(alice, "closed") == ["forced"]
        await boris.until("() => heard.some(([type]) => type === 'connectionDestroyed')")
        assert await heard(boris, "connectionDestroyed") == ["alice"]


# Proves A22, L5
@test("what was published first may end: the others go on being seen on the same connection, and it can be published anew")
async def _(test):
    async with stage(test, "alice", "boris") as (here, alice, boris):
        await here.join(alice)
        await here.join(boris)
        for person in (alice, boris):
            await sees(person)
        for _ in range(2):
            await alice.page.evaluate("publisher.unpublish()")
            await boris.until("() => call.streams.length === 0")
            await sees(alice, more=40)
            await alice.page.evaluate(AGAIN)
            await sees(boris, more=40)
        for person in (alice, boris):
            told = {kind for kind, _ in await person.page.evaluate("heard")}
            assert not told & {"reconnecting", "closed", "connectionDestroyed"}, told


# Proves A12, Q15
@test("a socket that is cut again and again loses no signal and repeats none, and the picture goes on")
async def _(test):
    link = await LossyLink(test.direct).start()
    try:
        async with stage(test, "alice", "boris") as (here, alice, boris):
            await here.join(alice)
            await here.join(boris, base=link.base)
            await sees(boris)
            sent = {alice: [], boris: []}
            for cut in range(4):
                await boris.page.evaluate("globalThis.before = heard.filter(([type]) => type === 'reconnected').length")
                for person in (alice, boris):
                    for number in range(5):
                        sent[person].append(f"{person.name} {cut}.{number}")
                        await person.page.evaluate("data => { globalThis.asked = call.signal({ data }); }", sent[person][-1])
                        if number == 2 and person is boris:
                            link.lose("cut", None)
                            await boris.until("() => call.state === 'reconnecting'")
                await boris.until("() => heard.filter(([type]) => type === 'reconnected').length > before")
            for person, other in ((alice, boris), (boris, alice)):
                await person.page.evaluate("asked")
                await person.until("last => heard.some(([, data]) => data === last)", sent[other][-1])
                told = await heard(person, "signal")
                for sender in (alice, boris):
                    assert [data for data in told if data.startswith(sender.name)] == sent[sender], told
                await sees(person)
            assert not await heard(alice, "connectionDestroyed") and not await heard(alice, "streamDestroyed")
    finally:
        await link.close()


# Proves L2, L6
@test("what the server ends and what the browser refuses is explained; a bad token lets nobody in")
async def _(test):
    async with stage(test, "alice", "boris") as (here, alice, boris):
        await here.join(alice)
        assert await alice.page.evaluate("""async () => {
          const { instantiate } = WebAssembly;
          WebAssembly.instantiate = async () => { throw new RangeError('no memory'); };
          const error = await new call.constructor({ url: location.origin, session: 's', token: 't' }).connect().catch(error => error);
          WebAssembly.instantiate = instantiate;
          return [error.name, error.code];
        }""") == ["CallError", "not_loaded"]
        await boris.page.goto(here.address("call.html", PUBLISHER, "boris").replace("token=", "token=x"))
        await boris.page.get_by_text("This is not a valid token.").wait_for()
        assert await boris.page.evaluate("call.state") == "closed"
        await boris.page.goto("about:blank")
        await boris.page.goto(here.address("call.html", PUBLISHER, "boris", base="ftp://nowhere.example"))
        await boris.page.get_by_text("The url is no address of a server.").wait_for()
        boris.troubles.clear()
        await asyncio.to_thread(here.app.operate, "remove", here.app.key, "--yes")
        await alice.page.get_by_text("The session has ended.").wait_for()
        assert await heard(alice, "closed") == ["ended"]
        assert await alice.page.evaluate("document.querySelectorAll('video').length") == 0


# Proves A13, L3
@test("a camera that is refused, or is not there, is told by its code; what a page made itself is published all the same")
async def _(test):
    async with stage(test, "alice", "boris", flags=[flag for flag in FLAGS if "fake-ui" not in flag], whole=True) as (here, alice, boris):
        await alice.page.goto(here.address("call.html", PUBLISHER, "alice"))
        await alice.page.get_by_text("Camera or microphone are not allowed for this page.").wait_for()
        await here.join(boris, SUBSCRIBER)
        assert await ask(alice, "call.publish(null)") == "media_refused"
        await alice.page.evaluate("""async () => {
          const canvas = document.createElement('canvas'), paint = canvas.getContext('2d');
          setInterval(() => { paint.fillStyle = `hsl(${performance.now() % 360} 80% 50%)`; paint.fillRect(0, 0, 300, 150); }, 40);
          globalThis.made = canvas.captureStream(25);
          globalThis.publisher = await call.publish(null, { source: made, audio: false, name: 'canvas' });
        }""")
        await sees(boris)
        assert await boris.page.evaluate("[call.streams[0].videoType, call.streams[0].hasAudio]") == ["custom", False]
        await alice.page.evaluate("publisher.unpublish()")
        await boris.until("() => call.streams.length === 0")
        assert await alice.page.evaluate("made.getTracks()[0].readyState") == "live", "the page's stream is the page's"


# Proves A21, Q19
@test("a page of any origin imports the class and is in with a few lines; what is said of how soon it sees is true")
async def _(test):
    async with stage(test, "alice", "boris") as (here, alice, boris):
        await here.join(alice)
        await sees(alice, "#own video")
        stranger = Files([], {"there.html": FEW_LINES % here.files.base})
        try:
            times = []
            for _ in range(3):
                await boris.page.goto(here.address("there.html", SUBSCRIBER, "boris").replace(here.files.base, stranger.base))
                await boris.until("() => globalThis.joinedAfter !== undefined")
                times.append(await boris.page.evaluate("[joinedAfter, seenAfter]"))
                await boris.page.goto("about:blank")
            print(f"          from connect() to the first picture: {', '.join(f'{whole:.0f} ms (of which {part:.0f} after the stream was known)' for whole, part in times)}")
            assert min(whole for whole, _ in times) < 5000
        finally:
            stranger.close()


# The page knows none of the server's addresses but those of IPv6; of the path that is taken, the other end's address.
ONLY_IPV6 = """(() => {
  const set = RTCPeerConnection.prototype.setRemoteDescription, isOld = line => line.startsWith('a=candidate:') && !line.split(' ')[4].includes(':');
  RTCPeerConnection.prototype.setRemoteDescription = function ({ type, sdp }) {
    return set.call(this, { type, sdp: sdp.split('\\r\\n').filter(line => !isOld(line)).join('\\r\\n') });
  };
})();"""
TAKEN = """async () => {
  const found = [];
  for (const peer of peers) {
    const stats = await peer.getStats();
    for (const [, { type, selectedCandidatePairId }] of stats)
      if (type === 'transport' && selectedCandidatePairId) found.push(stats.get(stats.get(selectedCandidatePairId).remoteCandidateId).address);
  }
  return found;
}"""


def has_ipv6():
    """Whether there is one that others could reach, too."""
    with open("/proc/net/if_inet6") as addresses:
        return any(line.split()[3] == "00" and line.split()[5] != "lo" for line in addresses)


# Proves M22
@test("two pages that reach the server by IPv6 alone see and hear each other")
async def _(test):
    if not has_ipv6():
        raise NotRun("this machine has no address of IPv6 but that of itself")
    server = Server(calls_bind="[::]:0").start()
    try:
        async with stage(test, "alice", "boris", server=server) as (here, alice, boris):
            for person in (alice, boris):
                await person.page.add_init_script(PEERS)
                await person.page.add_init_script(ONLY_IPV6)
                await here.join(person)
            for person in (alice, boris):
                await sees(person)
                addresses = await person.page.evaluate(TAKEN)
                assert addresses and all(":" in address for address in addresses), addresses
    finally:
        server.stop()


# Proves A15, L7, Q1
@test("a page takes part with fifty people at once: all are heard, and each camera has its place", alone=True)
async def _(test):
    count = 50
    async with stage(test, "alice") as (here, alice):
        with tempfile.TemporaryDirectory(prefix="martlet-fifty-") as folder:
            peers, calls = Peers(build(folder), "127.0.0.1", count, 300), []
            mine = Files([], {"everyone.html": EVERYONE % here.files.base})
            try:
                for slot in range(count):
                    call = await here.app.join(here.session, PUBLISHER)
                    calls.append(call)
                    await peers.publish(call, slot, f"camera {slot}")
                await alice.page.add_init_script(PEERS)
                await alice.page.goto(here.address("everyone.html", SUBSCRIBER, "alice").replace(here.files.base, mine.base))
                await alice.until("() => globalThis.peers?.length > 0")
                arrived, end = {}, asyncio.get_running_loop().time() + 60
                while not arrived or arrived["agreed"] != {"audio": count, "video": count} or arrived["audio"] < count or not arrived["video"]:
                    arrived = await alice.page.evaluate(ARRIVED)
                    trouble = await alice.page.evaluate("trouble")
                    assert not trouble and asyncio.get_running_loop().time() < end, (trouble, arrived)
                    await asyncio.sleep(0.2)
                print(f"          an offer of {arrived['offer']} bytes, pictures of {arrived['video']} by then")
            finally:
                peers.end()
                mine.close()
                for call in calls:
                    await call.close()
