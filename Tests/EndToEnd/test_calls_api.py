"""`MartletCall` in pages: that its declarations are true, recordings, sessions past the router, and five browsers at once."""
from opentok import MediaModes

from declarations import Declarations, Script, read, require_same_methods, same_argument
from harness import test
from test_calls import MODERATOR, PUBLISHER, SUBSCRIBER, in_thread
from test_calls_page import PEERS, ask, button, sees, stage
from test_element import Files
from test_recording import decoded, fetch, until_available

NEEDS_BROWSER = True


# Proves A21
@test("the declarations of the class are those of its script: methods with their arguments, properties, events and what they tell", browser=False)
def _(_):
    declared = Declarations("martlet-call.d.ts")
    for name in ("MartletCall", "CallPublisher", "CallSubscriber", "CallError"):
        script, methods, properties = Script("martlet-call.js", name), declared.methods(name), script_properties(name)
        # Pages make calls, and calls the rest.
        made = {method: arguments for method, arguments in script.methods().items() if method != "constructor" or name == "MartletCall"}
        require_same_methods(declared, methods, made)
        assert declared.properties(name) == properties, (declared.properties(name), properties)
    # What `subscribe` hands on.
    *_, options = Script("martlet-call.js", "CallSubscriber").methods()["constructor"]
    assert same_argument(declared, "options", "SubscribeOptions", options), options
    events = declared.events("CallEventMap")
    details = Script("martlet-call.js", "MartletCall").details()
    assert {event: set(detail) for event, detail in events.items()} == details, (events, details)
    for name, count in (("CallPublisher", 3), ("CallSubscriber", 1)):
        told = Script("martlet-call.js", name).dispatched()
        assert declared.listened(name) == told and len(told) == count, (name, told)
    assert len(declared.methods("MartletCall")) > 12 and len(events) > 15


def script_properties(name):
    """Without what every error has."""
    properties = Script("martlet-call.js", name).properties()
    return {key: value for key, value in properties.items() if (name, key) != ("CallError", "name")}


# Lines of what pages of calls have in JavaScript: the browser's objects, and the class. What a call is about is decided in CallCore.
CEILINGS = {"calls.js": 330, "martlet-call.js": 510}


# Proves M51
@test("the JavaScript of calls stays thin: it has no more lines than it may", browser=False)
def _(_):
    lines = {name: read("Web", name).count("\n") for name in CEILINGS}
    assert all(lines[name] <= ceiling for name, ceiling in CEILINGS.items()), (lines, CEILINGS)


# The words that everybody has before them while it is recorded.
RECORDED = "This call is recorded."


# Proves A26, M48
@test("a moderator's page starts and stops a recording; everybody sees a badge while it goes on, also who comes then")
async def _(test):
    async with stage(test, "alice", "boris", "carol") as (here, alice, boris, carol):
        await here.join(alice, MODERATOR)
        await here.join(boris)
        await sees(alice)
        assert await ask(boris, "call.startRecording()") == "forbidden"
        assert await button(boris, "Record").count() == 0
        await button(alice, "Record").click()
        for person in (alice, boris):
            await person.page.get_by_text(RECORDED).wait_for()
        archive = await alice.page.evaluate("call.recording")
        assert archive and await boris.page.evaluate("call.recording") == archive
        assert await ask(alice, "call.startRecording()") == "invalid"
        await here.join(carol, SUBSCRIBER)
        await carol.page.get_by_text(RECORDED).wait_for()
        await alice.picture("example-call-recorded")
        for person in (alice, boris):
            await sees(person, more=40)
        await button(alice, "Stop recording").click()
        for person in (alice, boris, carol):
            await person.page.get_by_text(RECORDED).wait_for(state="hidden")
            assert await person.page.evaluate("call.recording") is None
        found = await until_available(here.app, archive)
        assert found["status"] == "available" and len(found["files"]) == 2, found
        for file in found["files"]:
            kinds, _ = decoded(await in_thread(fetch, file["url"]))
            assert kinds["video"]["frames"] > 0 and kinds["audio"]["frames"] > 0, (file, kinds)
        await button(alice, "Record").click()
        await boris.page.get_by_text(RECORDED).wait_for()
        await button(boris, "Leave").click()
        await boris.page.get_by_text(RECORDED).wait_for(state="hidden")


# Which ports media goes between, [here, there] of each peer connection.
PORTS = """async () => {
  const ports = [];
  for (const peer of peers.filter(({ connectionState }) => connectionState === 'connected')) {
    const reports = await peer.getStats();
    for (const { type, selectedCandidatePairId } of reports.values()) if (type === 'transport') {
      const { localCandidateId, remoteCandidateId } = reports.get(selectedCandidatePairId);
      ports.push([reports.get(localCandidateId).port, reports.get(remoteCandidateId).port]);
    }
  }
  return ports;
}"""
# Of so many streams more sound has come than by the last look, and it is not silence.
HEARS = """async count => {
  const heard = new Map(), before = globalThis.heardBefore ??= new Map();
  for (const peer of peers) for (const [id, { type, kind, totalAudioEnergy }] of await peer.getStats())
    if (type === 'inbound-rtp' && kind === 'audio') {
      if (!before.has(id)) before.set(id, totalAudioEnergy);
      if (totalAudioEnergy > before.get(id)) heard.set(id, totalAudioEnergy);
    }
  return heard.size === count;
}"""


async def hears(person, count=1):
    await person.page.evaluate("globalThis.heardBefore = undefined")
    await person.until(HEARS, count)


# Proves M24
@test("two pages of a relayed session see and hear each other past the router, mute, and find each other again after one was away")
async def _(test):
    async with stage(test, "alice", "boris", mode=MediaModes.relayed) as (here, alice, boris):
        for person in (alice, boris):
            await person.page.add_init_script(PEERS)
            await here.join(person)
        await see_and_hear(alice, boris)
        await button(alice, "Camera off").click()
        await boris.until("() => call.streams.find(({ name }) => name === 'alice').hasVideo === false")
        await button(alice, "Camera on").click()
        await sees(boris)
        await button(alice, "Mute").click()
        await boris.until("() => call.streams.find(({ name }) => name === 'alice').hasAudio === false")
        await button(alice, "Unmute").click()
        await hears(boris)
        await button(boris, "Leave").click()
        await alice.page.get_by_text("boris is gone.").wait_for()
        await alice.until(f"async () => (await ({PORTS})()).length === 0")
        await boris.page.goto("about:blank")
        await here.join(boris)
        await see_and_hear(alice, boris)


# Before a page's own scripts: its offers wait until the page is released, and the relayed messages that come are counted.
HELD = PEERS + """(() => {
  const { RTCPeerConnection, WebSocket } = globalThis, released = Promise.withResolvers();
  globalThis.heldOffers = globalThis.relays = 0;
  globalThis.release = released.resolve;
  globalThis.RTCPeerConnection = class extends RTCPeerConnection {
    async createOffer(...all) {
      heldOffers++;
      await released.promise;
      return super.createOffer(...all);
    }
  };
  globalThis.WebSocket = class extends WebSocket {
    constructor(...all) {
      super(...all);
      this.addEventListener('message', ({ data }) => { if (JSON.parse(data).type === 'relay') relays++; });
    }
  };
})();"""


# Proves M24
@test("two pages of a relayed session see and hear each other when their first offers cross")
async def _(test):
    async with stage(test, "alice", "boris", mode=MediaModes.relayed) as (here, alice, boris):
        for person in (alice, boris):
            await person.page.add_init_script(HELD)
            await here.join(person)
        for person in (alice, boris):
            await person.until("() => heldOffers === 1")
        # The offer of alice arrives while boris makes one, and the one of boris when alice waits for an answer, or not at all.
        await alice.page.evaluate("release()")
        await boris.until("() => relays > 0")
        await boris.page.evaluate("release()")
        await see_and_hear(alice, boris)


async def see_and_hear(*two):
    """Each the other, past the router."""
    for person, other in (two, two[::-1]):
        assert await person.page.evaluate("call.isRelayed")
        await person.page.get_by_text(f"You see {other.name}.").wait_for()
        await sees(person)
        await hears(person)
    (one,), (other,) = [await person.page.evaluate(PORTS) for person in two]
    assert one == other[::-1], (one, other)


# A page with a small picture, and everybody who comes.
SMALL = """<!doctype html><title>Small</title><div id="others"></div><script type="module">
import { MartletCall } from '%s/martlet-call.js';
const { url, session, token, name } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
globalThis.call = new MartletCall({ url, session, token });
globalThis.trouble = [];
for (const type of ['reconnecting', 'closed']) call.addEventListener(type, () => trouble.push(type));
call.addEventListener('streamCreated', ({ detail }) =>
  call.subscribe(detail.stream, document.getElementById('others')).catch(error => { trouble.push(error.code); }));
const source = await navigator.mediaDevices.getUserMedia({ audio: true, video: { width: 160, height: 120, frameRate: 10 } });
await call.connect();
await call.publish(null, { source, name });
globalThis.isIn = true;
</script>"""
# All of so many pictures go on moving.
MOVE = """count => {
  const videos = [...document.querySelectorAll('#others video')], before = globalThis.shown ??= new Map();
  for (const video of videos) if (!before.has(video)) before.set(video, video.getVideoPlaybackQuality().totalVideoFrames);
  return videos.length === count && videos.every(video => video.getVideoPlaybackQuality().totalVideoFrames > before.get(video) + 10);
}"""


# Proves Q1
@test("five browsers in one session all see and hear each other; one goes, and the four go on")
async def _(test):
    names = ["alice", "boris", "carol", "dora", "emil"]
    async with stage(test, *names) as (here, *everybody):
        mine = Files([], {"small.html": SMALL % here.files.base})
        try:
            for person in everybody:
                await person.page.add_init_script(PEERS)
                await person.page.goto(here.address("small.html", PUBLISHER, person.name).replace(here.files.base, mine.base))
            for left in (everybody, everybody[:-1]):
                for person in left:
                    await person.until("() => globalThis.isIn")
                    await person.page.evaluate("globalThis.shown = undefined")
                    await person.until(MOVE, len(left) - 1)
                    await hears(person, len(left) - 1)
                    others = sorted(other.name for other in left if other is not person)
                    assert await person.page.evaluate("call.streams.map(({ name }) => name).sort()") == others
                if left is everybody:
                    await everybody[-1].page.evaluate("call.disconnect()")
            assert not sum([await person.page.evaluate("trouble") for person in everybody[:-1]], [])
        finally:
            mine.close()
