"""Our TURN server: Chromium and aiortc where everything goes through it, by UDP, TCP and TLS, and where it does not lead."""
import asyncio
import base64
import contextlib
import datetime
import hashlib
import os
import shutil
import socket
import ssl
import tempfile

from aioice import stun, turn
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

import chromium as browsers
from call_client import CallSocket
from call_peers import Page
from client import User, room_path
from harness import PATIENCE, test
from router_peers import FLAGS
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


class Certificate:
    """A root, and a certificate of it for `localhost`, as files that go with the block."""

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="martlet-test-")
        self.settings = {f"turn_tls_{name}": os.path.join(self.folder, name + ".pem") for name in ("certificate", "key")}
        self.make()
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def make(self):
        """Also another one, in the place of the last."""
        root_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
        root = self._signed("Test root", root_key, "Test root", root_key, x509.BasicConstraints(ca=True, path_length=None))
        own = self._signed("Test", key, "Test root", root_key, x509.SubjectAlternativeName([x509.DNSName("localhost")]))
        self.root = root.public_bytes(serialization.Encoding.PEM).decode()
        information = key.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
        self.key_hash = base64.b64encode(hashlib.sha256(information).digest()).decode()
        self._put("certificate", own.public_bytes(serialization.Encoding.PEM) + self.root.encode())
        self._put("key", key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))

    def _put(self, name, content):
        path = self.settings["turn_tls_" + name]
        with open(path + ".new", "wb") as f:
            f.write(content)
        os.replace(path + ".new", path)

    @staticmethod
    def _signed(name, key, issuer, issuer_key, extension):
        def named(text):
            return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])

        now = datetime.datetime.now(datetime.timezone.utc)
        builder = x509.CertificateBuilder(named(issuer), named(name), key.public_key(), x509.random_serial_number())
        builder = builder.not_valid_before(now - datetime.timedelta(hours=1)).not_valid_after(now + datetime.timedelta(days=1))
        is_root = isinstance(extension, x509.BasicConstraints)
        builder = builder.add_extension(extension, critical=is_root)
        builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        builder = builder.add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
        if is_root:
            usage = x509.KeyUsage(False, False, False, False, False, key_cert_sign=True, crl_sign=True, encipher_only=False, decipher_only=False)
            builder = builder.add_extension(usage, critical=True)
        return builder.sign(issuer_key, hashes.SHA256())

    def trust(self):
        """For clients that know this root and no other."""
        return ssl.create_default_context(cadata=self.root)


@contextlib.contextmanager
def serving_by_tls():
    """A certificate for localhost and a server that has it, as long as they are needed."""
    with Certificate() as certificate:
        server = serve(turn_tls_bind="127.0.0.1:0", turn_tls_host="localhost", **certificate.settings)
        try:
            yield certificate, server
        finally:
            server.close()


async def talk(one, other, heard_by_one, heard_by_other):
    """Until both have heard each other. Each permits the other by sending; what comes before that is lost, as RFC 8656 has it."""
    addresses = one.get_extra_info("sockname"), other.get_extra_info("sockname")
    async with asyncio.timeout(PATIENCE):
        while not (heard_by_one and heard_by_other):
            one.sendto(b"to the other" * 50, addresses[1])
            other.sendto(b"and back", addresses[0])
            await asyncio.sleep(0.1)
    assert set(heard_by_other) == {(b"to the other" * 50, addresses[0])}, heard_by_other
    assert set(heard_by_one) == {(b"and back", addresses[1])}, heard_by_one
    return addresses


def credentials(user, transport=None):
    """As `iceServers` wants them; `transport` may be tls, too."""
    answer = user.get("voip/turnServer").ok()
    uris = [uri for uri in answer["uris"] if transport in (None, kind_of(uri))]
    assert uris and answer["ttl"] > 0, answer
    return {"urls": uris, "username": answer["username"], "credential": answer["password"]}


def kind_of(uri):
    return "tls" if uri.startswith("turns:") else uri.rpartition("transport=")[2]


async def endpoint(servers, port, transport, received, trust=None):
    """A client of aioice with an allocation; by TLS if it gets a root certificate."""
    class Protocol(asyncio.DatagramProtocol):
        def datagram_received(self, data, address):
            received.append((data, address))

    connected, _ = await turn.create_turn_endpoint(
        Protocol, server_addr=("localhost" if trust else "127.0.0.1", port), username=servers["username"],
        password=servers["credential"], transport=transport, ssl=trust)
    return connected


def relay_port(servers):
    return int(servers["urls"][0].split(":")[2].split("?")[0])


async def until(condition, what, seconds=PATIENCE):
    for _ in range(20 * seconds):
        if condition():
            return
        await asyncio.sleep(0.05)
    raise AssertionError(what)


# Proves M19, M38
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


# Proves M19, M38
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
            await sockets[1].event("stream_created")
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
        addresses = await talk(ends["udp"], ends["tcp"], heard["udp"], heard["tcp"])
        for end in ends.values():
            end.close()

        def is_free(port):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
                try:
                    probe.bind(("127.0.0.1", port))
                    return True
                except OSError:
                    return False
        await until(lambda: all(is_free(port) for _, port in addresses), "the ports are still bound")
    finally:
        server.close()


@test("clients of aioice talk through our TURN server by TLS with those by UDP, and an answer of it names the host")
async def aioice_by_tls(_):
    with serving_by_tls() as (certificate, server):
        user = User(server.base)
        uris = credentials(user)["urls"]
        assert [kind_of(uri) for uri in uris] == ["udp", "tcp", "tls"] and uris[2].startswith("turns:localhost:"), uris
        servers = {kind: credentials(user, kind) for kind in ("udp", "tls")}
        heard = {"udp": [], "tls": []}
        ends = {
            "udp": await endpoint(servers["udp"], relay_port(servers["udp"]), "udp", heard["udp"]),
            "tls": await endpoint(servers["tls"], relay_port(servers["tls"]), "tcp", heard["tls"], certificate.trust()),
        }
        await talk(ends["udp"], ends["tls"], heard["udp"], heard["tls"])
        for end in ends.values():
            end.close()


# Proves M19
@test("two pages of Chromium see each other through our TURN server by TLS alone")
async def chromium_by_tls(_):
    with serving_by_tls() as (certificate, server):
        servers = credentials(User(server.base), "tls")
        # Chromium takes no root from its command line, but a key whose certificates are good.
        flags = [*FLAGS, "--ignore-certificate-errors-spki-list=" + certificate.key_hash]
        async with browsers.chromium(*flags) as browser:
            alice, bob = [await Page.open(browser) for _ in range(2)]
            for each in (alice, bob):
                await each.page.evaluate(GATHERED)
            offer = await alice.page.evaluate(OFFER, servers)
            assert "typ relay" in offer and "typ host" not in offer, offer
            answer = await bob.page.evaluate(ANSWER, [servers, offer])
            await alice._accept(answer)
            received = await bob.until(is_seen(60), "60 frames by TLS")
            assert received["video"]["lost"] == 0, received
            assert await bob.page.evaluate(PAIR) == ["relay", "tls", "relay"]


async def opened(port, trust):
    return await asyncio.open_connection("localhost", port, ssl=trust)


@test("who speaks no TLS at the port for it, half of it, old TLS or nothing, is closed, and others go on")
async def strangers_by_tls(_):
    with serving_by_tls() as (certificate, server):
        servers = credentials(User(server.base), "tls")
        port, trust = relay_port(servers), certificate.trust()
        talker = await endpoint(servers, port, "tcp", [], trust)
        sockets = [socket.create_connection(("127.0.0.1", port)) for _ in range(12)]
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        with contextlib.suppress(ssl.SSLWantReadError):
            trust.wrap_bio(incoming, outgoing, server_hostname="localhost").do_handshake()
        hello = outgoing.read()
        garbage = [b"GET / HTTP/1.1\r\n\r\n", bytes(200), b"\x16\x03\x01\xff\xff" + bytes(70000), os.urandom(500)]
        for each, said in zip(sockets, garbage):
            each.sendall(said)
        # Cut anywhere, and then silence; the last ones say nothing.
        for each, count in zip(sockets[4:10], (1, 5, 9, 60, len(hello) - 1, len(hello))):
            each.sendall(hello[:count])
        started = asyncio.get_running_loop().time()
        for each in sockets:
            each.setblocking(False)

        def is_over(each):
            try:
                while each.recv(4096):
                    pass
                return True
            except BlockingIOError:
                return False
            except ConnectionResetError:
                return True
        await until(lambda: all(is_over(each) for each in sockets[:4]), "garbage is listened to")
        await until(lambda: all(is_over(each) for each in sockets[4:]), "somebody silent is still there", 30)
        # Not cut off at once: a slow network has its time.
        assert asyncio.get_running_loop().time() - started > 5
        old = ssl.create_default_context(cadata=certificate.root)
        old.set_ciphers("DEFAULT:@SECLEVEL=0")
        old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
        try:
            await opened(port, old)
            raise AssertionError("TLS 1.1")
        except (ssl.SSLError, ConnectionResetError):
            pass
        # Who was there before is there still, and others come.
        refreshed = stun.Message(message_method=stun.Method.REFRESH, message_class=stun.Class.REQUEST)
        refreshed.attributes["LIFETIME"] = 600
        await talker._TurnTransport__inner_protocol.request_with_retry(refreshed)
        (await endpoint(servers, port, "tcp", [], trust)).close()
        talker.close()
        for each in sockets:
            each.close()


@test("without a certificate that is good for the host the server does not start, and says why")
def bad_certificates(_):
    with Certificate() as certificate, Certificate() as other:
        tls = {"turn_tls_bind": "127.0.0.1:0", **certificate.settings}
        for settings, words in [
            ({"turn_tls_bind": "127.0.0.1:0"}, "turn.tls_bind is set, but turn.tls_certificate and turn.tls_key are not"),
            ({**tls, "turn_tls_host": "turn.example.org"}, "the certificate is not for the host turn.example.org"),
            (tls, "the certificate is not for the host test.example"),
            ({**tls, "turn_tls_host": "localhost", "turn_tls_key": other.settings["turn_tls_key"]}, "not the key of the certificate"),
            ({**tls, "turn_tls_host": "localhost", "turn_tls_key": "/no/such.pem"}, "cannot read turn.tls_key /no/such.pem: No such file"),
        ]:
            try:
                serve(**settings).close()
                raise AssertionError(f"it started: {settings}")
            except SystemExit as end:
                assert words in str(end), (words, str(end))


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


# Proves M38
@test("where another TURN server is configured, clients are sent there and ours is not started")
def external_relay(_):
    server = serve(turn_uris="turn:turn.example.org:3478?transport=udp", turn_secret="a long secret")
    try:
        answer = User(server.base).get("voip/turnServer").ok()
        assert answer["uris"] == ["turn:turn.example.org:3478?transport=udp"], answer
    finally:
        server.close()
