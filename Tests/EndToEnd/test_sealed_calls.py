"""Calls of encrypted rooms in the web client: every frame is encrypted from device to device."""
from browser import in_room
from call_client import Refused
from client import User
from harness import test
from test_calling import HEARS
from test_calls_page import PEERS
from test_group_calls import CALLS, button, come, garden, sees, until_members
from test_nio import ENCRYPTION

NEEDS_BROWSER = True

# Notes with which indices of keys a page encrypts, and with which it decrypts.
KEYS = """(() => {
  const post = Worker.prototype.postMessage, keys = globalThis.keys = { use: [], take: [] };
  Worker.prototype.postMessage = function (message, ...more) {
    if (message?.secret) keys[message.do].push(message.index);
    return post.call(this, message, ...more);
  };
})();"""
# Takes no keys of others.
DEAF = """(() => {
  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (message, ...more) { if (message?.do !== 'take') return post.call(this, message, ...more); };
})();"""
# How many packets of pictures have come, and how many pictures were decoded.
CAME = """async () => {
  const came = { packets: 0, pictures: 0 };
  for (const peer of peers)
    for (const [, { type, kind, packetsReceived, framesDecoded }] of await peer.getStats())
      if (type === 'inbound-rtp' && kind === 'video') { came.packets += packetsReceived; came.pictures += framesDecoded ?? 0; }
  return came;
}"""
NO_TRANSFORM = "delete globalThis.RTCRtpScriptTransform;"
CIPHER = """async () => {
  const { Opener, Sealer } = await import(new URL('frame-cipher.js', document.baseURI));
  const secret = crypto.getRandomValues(new Uint8Array(32)), other = crypto.getRandomValues(new Uint8Array(32));
  const frame = crypto.getRandomValues(new Uint8Array(1000)), hexOf = bytes => [...new Uint8Array(bytes)].join();
  const sealer = new Sealer(), opener = new Opener();
  const withoutKey = await sealer.seal(frame.buffer, 'key');
  await sealer.use(3, secret);
  await opener.take('ann', 3, secret);
  await opener.take('bob', 3, other);
  // Three tracks at once.
  const types = Array.from({ length: 3000 }, (_, k) => ['key', 'delta', undefined][k % 3]);
  const sealed = await Promise.all(types.map(type => sealer.seal(frame.buffer, type)));
  const numbers = new Set(sealed.map(bytes => hexOf(bytes.slice(-8, -2))));
  const first = new Uint8Array(sealed[0]), open = (owner, bytes, isVideo = true) => opener.open(owner, bytes.slice().buffer, isVideo);
  const changed = [0, 9, 10, 500, first.length - 1, first.length - 2, first.length - 8].map(place => {
    const bytes = first.slice();
    bytes[place] ^= 1;
    return bytes;
  });
  const refused = { other: await open('bob', first), nobody: await open('eve', first), sound: await open('ann', first, false), short: await open('ann', first.slice(-7)) };
  for (const [k, bytes] of changed.entries()) refused['changed ' + k] = await open('ann', bytes);
  const opened = await open('ann', first);
  refused.again = await open('ann', first);
  await opener.take('ann', 3, secret);
  refused.afterTheSameKey = await open('ann', first);
  opener.forget('ann');
  refused.forgotten = await open('ann', new Uint8Array(sealed[3]));
  const heads = sealed.slice(0, 3).map(bytes => [10, 3, 0].find(count => hexOf(bytes.slice(0, count)) === hexOf(frame.slice(0, count))));
  return {
    withoutKey, numbers: numbers.size, heads, isOpened: hexOf(opened) === hexOf(frame), refused,
    isHidden: !hexOf(first).includes(hexOf(frame.slice(10, 20))), more: first.length - frame.length,
  };
}"""


def vault(test, *names, **options):
    return garden(test, *names, is_encrypted=True, **options)


def mark(person):
    return person.page.get_by_role("region", name="Call in Garden").get_by_text("End-to-end encrypted", exact=True)


async def open_anew(person, room, *scripts):
    for script in scripts:
        await person.page.add_init_script(script)
    await person.page.reload()
    await person.open_room(room)


async def join(person):
    await person.page.get_by_text(CALLS).wait_for()
    await person.begin_call("Join")


# Three browsers with cameras, a departure that others wait five seconds for, and a return.
# Proves M42
@test("three people in the call of an encrypted room see and hear each other, and the call says that it is encrypted")
async def _(test):
    async with vault(test, "alice", "boris", "carol") as (room, users, alice, boris, carol):
        for person in (alice, boris, carol):
            await open_anew(person, room, KEYS)
        await alice.begin_call()
        await join(boris)
        await join(carol)
        for person in (alice, boris, carol):
            await sees(person, 2)
            await mark(person).wait_for()
            assert await person.page.evaluate("() => keys.use.join() + '|' + keys.take.join()") == "0|0,0"
        for person, other in ((alice, boris), (boris, carol), (carol, alice)):
            assert await person.page.evaluate(HEARS, f'[role=group][aria-label="{other.name}"]'), f"{person.name} does not hear {other.name}"
        await alice.picture("sealed-call")
        # What carol had is of no use to her any more.
        await button(carol, "Hang up").click()
        for person in (alice, boris):
            await person.until("() => keys.use.at(-1) === 1 && keys.take.at(-1) === 1")
            await sees(person, 1)
        # Who comes back gets the present key.
        await join(carol)
        await sees(carol, 2)
        assert await carol.page.evaluate("() => keys.take.slice(2).join()") == "1,1"
        for person in (alice, boris):
            await sees(person, 2)


@test("who gets no key of an encrypted call sees nothing of it, however much the server sends")
async def _(test):
    async with vault(test, "alice", "boris") as (room, users, alice, boris):
        await open_anew(boris, room, DEAF, PEERS)
        await alice.begin_call()
        await join(boris)
        await sees(alice, 1)
        await boris.page.get_by_text("(no key yet)").wait_for(state="detached")
        await boris.until(f"async () => (await ({CAME})()).packets > 100")
        came = await boris.page.evaluate(CAME)
        assert came["pictures"] == 0, came


@test("a browser that cannot encrypt calls is told so in an encrypted room, and opens no camera")
async def _(test):
    async with vault(test, "alice", "boris") as (room, users, alice, boris):
        await open_anew(boris, room, NO_TRANSFORM)
        await boris.page.evaluate("() => { navigator.mediaDevices.getUserMedia = async () => { globalThis.captured = true; throw new DOMException('', 'NotAllowedError'); }; }")
        await button(boris, "Call").click()
        told = boris.page.get_by_text("Calls in this room are end-to-end encrypted, and this browser cannot do that.")
        await told.wait_for()
        await alice.begin_call()
        await alice.page.get_by_text("1 person ·").wait_for()
        await boris.page.get_by_text(CALLS).wait_for()
        await button(boris, "Join").click()
        await told.wait_for()
        await until_members(alice, users["alice"], room, [users["alice"].user_id])
        assert not await boris.page.evaluate("() => globalThis.captured")


@test("frames of an encrypted call are opened once, by their key only, and not if a byte was changed; no nonce comes twice")
async def _(test):
    user = User(test.base, "alice")
    room = user.create_room(name="Garden")
    async with in_room(test, room, {"alice": user}) as alice:
        found = await alice.page.evaluate(CIPHER)
    refused = found.pop("refused")
    assert found == {"withoutKey": None, "numbers": 3000, "heads": [10, 3, 0], "isOpened": True, "isHidden": True, "more": 24}, found
    assert set(refused.values()) == {None} and len(refused) == 14, refused


@test("a call of an encrypted room is not recorded, and the refusal says why", browser=False)
async def _(test):
    # The check of answers lets no sockets through.
    alice = User(test.direct, "alice")
    transports = alice.get("/_matrix/client/v1/rtc/transports").ok()["rtc_transports"]
    for state, reason in (([ENCRYPTION], "end-to-end encrypted"), ([], "rooms are not recorded")):
        room = alice.create_room(name="Garden", initial_state=state)
        call = await come(alice, room, transports)
        try:
            await call.ask("record", action="start")
            raise AssertionError("was done")
        except Refused as refused:
            assert refused.code == "invalid" and reason in refused.args[0]["message"], refused.args
        finally:
            await call.close()
