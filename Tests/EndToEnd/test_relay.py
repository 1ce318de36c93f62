"""Our TURN server: Chromium and aiortc where everything goes through it, by UDP and by TCP, and where it does not lead."""
import asyncio
import socket

from aioice import stun, turn

from call_client import CallSocket
from call_peers import Page
from client import User, room_path
from harness import test
from server import Server
from test_router import chromium, is_seen

PORTS = "49160-49359"
# Two peer connections in two pages: what one says to the other is carried by the test.
OFFER = """async servers => {
  const connection = window.connection = new RTCPeerConnection({ iceServers: [servers], iceTransportPolicy: 'relay' });
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true, video: { width: 640, height: 480 } });
  for (const track of stream.getTracks()) connection.addTrack(track, stream);
  await connection.setLocalDescription(await connection.createOffer());
  await window.gathered(connection);
  return connection.localDescription.sdp;
}"""
ANSWER = """async ([servers, sdp]) => {
  const connection = window.connection = new RTCPeerConnection({ iceServers: [servers], iceTransportPolicy: 'relay' });
  const video = document.createElement('video'), stream = new MediaStream();
  Object.assign(video, { autoplay: true, muted: true, playsInline: true, srcObject: stream });
  document.body.append(video);
  connection.ontrack = ({ track }) => stream.addTrack(track);
  await connection.setRemoteDescription({ type: 'offer', sdp });
  await connection.setLocalDescription(await connection.createAnswer());
  await window.gathered(connection);
  return connection.localDescription.sdp;
}"""
GATHERED = """() => {
  window.gathered = connection => new Promise(done => {
    const look = () => { if (connection.iceGatheringState === 'complete') done(); };
    connection.addEventListener('icegatheringstatechange', look);
    look();
  });
}"""
RELAY_ONLY = """servers => {
  window.RTCPeerConnection = class extends RTCPeerConnection {
    constructor() { super({ iceServers: [servers], iceTransportPolicy: 'relay' }); }
  };
}"""
# Of the pair that is in use: [type, how the relay is spoken to, type of the other].
PAIR = """async () => {
  const reports = await connection.getStats();
  for (const report of reports.values()) if (report.type === 'transport' && report.selectedCandidatePairId) {
    const pair = reports.get(report.selectedCandidatePairId), local = reports.get(pair.localCandidateId);
    return [local.candidateType, local.relayProtocol, reports.get(pair.remoteCandidateId).candidateType];
  }
}"""


def serve(**settings):
    return Server(turn_bind="127.0.0.1:0", turn_ports=PORTS, **settings).start()


def credentials(user, transport=None):
    """As `iceServers` wants them."""
    answer = user.get("voip/turnServer").ok()
    uris = [uri for uri in answer["uris"] if transport is None or uri.endswith("transport=" + transport)]
    assert uris and answer["ttl"] > 0, answer
    return {"urls": uris, "username": answer["username"], "credential": answer["password"]}


async def endpoint(servers, port, transport, received):
    """A client of aioice with an allocation."""
    class Protocol(asyncio.DatagramProtocol):
        def datagram_received(self, data, address):
            received.append((data, address))

    connected, _ = await turn.create_turn_endpoint(
        Protocol, server_addr=("127.0.0.1", port), username=servers["username"], password=servers["credential"],
        transport=transport)
    return connected


def relay_port(servers):
    return int(servers["urls"][0].split(":")[2].split("?")[0])


async def until(condition, what, seconds=10):
    for _ in range(20 * seconds):
        if condition():
            return
        await asyncio.sleep(0.05)
    raise AssertionError(what)


@test("two pages of Chromium see each other through our TURN server alone, by UDP and by TCP")
async def chromium_through_relay(_):
    server = serve()
    try:
        user = User(server.base)
        for transport in ("udp", "tcp"):
            servers = credentials(user, transport)
            async with chromium() as browser:
                alice, bob = [await Page.open(browser) for _ in range(2)]
                for each in (alice, bob):
                    await each.page.evaluate(GATHERED)
                offer = await alice.page.evaluate(OFFER, servers)
                assert "typ relay" in offer and "typ host" not in offer, offer
                answer = await bob.page.evaluate(ANSWER, [servers, offer])
                await alice._accept(answer)
                received = await bob.until(is_seen(60), f"60 frames by {transport}")
                assert received["video"]["lost"] == 0, received
                assert await bob.page.evaluate(PAIR) == ["relay", transport, "relay"]
    finally:
        server.close()


@test("Chromium reaches the media router through our TURN server, with the credentials that the session gives")
async def router_through_relay(_):
    server = serve()
    try:
        user = User(server.base)
        room = user.create_room()
        path = "/_matrix/client/unstable/martlet.call/rooms/" + room_path(room, "token").removeprefix("rooms/")
        call = user.post(path).ok()
        sockets = [await CallSocket(server.base).connect(call["session_id"], call["token"]) for _ in range(2)]
        greeting = sockets[0].greeting["ice_servers"][0]
        assert greeting["username"].endswith(":" + user.user_id), greeting
        by_tcp = {**greeting, "urls": [uri for uri in greeting["urls"] if uri.endswith("tcp")]}
        async with chromium() as browser:
            pages = [await Page.open(browser) for _ in range(2)]
            for page in pages:
                await page.page.evaluate(RELAY_ONLY, by_tcp)
            stream = await pages[0].publish(sockets[0], has_audio=True, has_video=True)
            await sockets[1].event("stream_created", 30)
            await pages[1].subscribe(sockets[1], stream)
            await pages[1].until(is_seen(60), "60 frames")
            for page in pages:
                assert (await page.page.evaluate(PAIR))[:2] == ["relay", "tcp"]
        for each in sockets:
            await each.close()
    finally:
        server.close()


@test("clients of aioice talk through our TURN server by UDP and by TCP, and give their ports back")
async def aioice_through_relay(_):
    server = serve()
    try:
        servers = credentials(User(server.base))
        heard = {"udp": [], "tcp": []}
        ends = {kind: await endpoint(servers, relay_port(servers), kind, heard[kind]) for kind in heard}
        addresses = {kind: end.get_extra_info("sockname") for kind, end in ends.items()}
        # Each permits the other by sending; what comes before that is lost, as RFC 8656 has it.
        for _ in range(2):
            ends["udp"].sendto(b"to the other" * 50, addresses["tcp"])
            ends["tcp"].sendto(b"and back", addresses["udp"])
            await asyncio.sleep(0.3)
        await until(lambda: heard["tcp"] and heard["udp"], heard)
        assert set(heard["tcp"]) == {(b"to the other" * 50, addresses["udp"])}, heard
        assert set(heard["udp"]) == {(b"and back", addresses["tcp"])}, heard
        for end in ends.values():
            end.close()

        def is_free(port):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
                try:
                    probe.bind(("127.0.0.1", port))
                    return True
                except OSError:
                    return False
        await until(lambda: all(is_free(port) for _, port in addresses.values()), "the ports are still bound")
    finally:
        server.close()


@test("our TURN server leads neither into the network that it stands in nor to this machine's services, and strangers get nothing")
async def relay_is_no_way_in(_):
    server = serve()
    try:
        servers = credentials(User(server.base))
        port = relay_port(servers)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as service:
            service.bind(("127.0.0.1", 0))
            service.setblocking(False)
            end = await endpoint(servers, port, "udp", [])
            protocol = end._TurnTransport__inner_protocol
            for address in (service.getsockname(), ("127.0.0.1", port), ("10.0.0.1", 80), ("169.254.169.254", 80), ("192.168.1.1", 53), ("0.0.0.0", 80)):
                request = stun.Message(message_method=stun.Method.CHANNEL_BIND, message_class=stun.Class.REQUEST)
                request.attributes["CHANNEL-NUMBER"] = 0x4100
                request.attributes["XOR-PEER-ADDRESS"] = address
                try:
                    await protocol.request_with_retry(request)
                    raise AssertionError(f"{address} was bound")
                except stun.TransactionFailed as failure:
                    assert failure.response.attributes["ERROR-CODE"][0] == 403, failure
            try:
                service.recv(100)
                raise AssertionError("the service got something")
            except BlockingIOError:
                pass
            end.close()
        try:
            await endpoint({**servers, "credential": "guessed"}, port, "udp", [])
            raise AssertionError("a guessed password")
        except stun.TransactionFailed as failure:
            assert failure.response.attributes["ERROR-CODE"][0] == 401, failure
    finally:
        server.close()


@test("where another TURN server is configured, clients are sent there and ours is not started")
def external_relay(_):
    server = serve(turn_uris="turn:turn.example.org:3478?transport=udp", turn_secret="a long secret")
    try:
        answer = User(server.base).get("voip/turnServer").ok()
        assert answer["uris"] == ["turn:turn.example.org:3478?transport=udp"], answer
    finally:
        server.close()
