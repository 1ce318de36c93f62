import Addresses
import JSON
import MatrixModel
import MediaRouter
import Testing

@testable import CallServer

/// A session without sockets: what is said on each stands here.
final class SessionFixture {
  /// A participant as it sees itself.
  final class Client {
    let id: ConnectionID
    let key: ByteString
    var socket: SocketID
    var lastRequest: Int64 = 0

    init(id: ConnectionID, key: ByteString, socket: SocketID) {
      self.id = id
      self.key = key
      self.socket = socket
    }
  }

  static let session = SessionID(trusted: "1_test")
  static let fingerprint = Fingerprint("sha-256 " + Array(repeating: "AB", count: 32).joined(separator: ":"))!

  var state: SessionLogic
  var now = CallTime(monotonic: 1_000, wall: 1_700_000_000_000)
  /// Not read yet, by socket.
  private var inboxes: [SocketID: [JSON]] = [:]
  private var closed: Set<SocketID> = []
  private var commands: [(worker: WorkerID, command: RouterCommand)] = []
  /// Not taken yet.
  var recordingCommands: [RecordingCommand] = []
  var recordingRequests: [RecordingRequest] = []
  var happened: [SessionEvent] = []
  var recordingOptions = RecordingOptions()
  private var numbers = RandomSource(seed: 99)
  private var lastSocket: UInt64 = 0

  /// - Parameter homeLimit: transports that fill the home worker, which is the first.
  init(
    isRouted: Bool = true, isAlwaysRecorded: Bool = false, seed: UInt64 = 1, connectionsLimit: Int = CallLimits.connections,
    workers: Int = 1, homeLimit: Int = CallLimits.homeTransports
  ) {
    let media = (0..<workers).map { number in
      SessionWorkers.Media(fingerprint: Self.fingerprint, candidates: [Self.address(of: WorkerID(number))])
    }
    state = SessionLogic(
      Self.session, isRouted: isRouted, isAlwaysRecorded: isAlwaysRecorded, number: 7,
      workers: SessionWorkers(media, homeLimit: homeLimit), now: now,
      connectionsLimit: connectionsLimit, random: RandomSource(seed: seed))
  }

  static func address(of worker: WorkerID) -> TransportAddress {
    TransportAddress(IPAddress(ipv4: 0x7F00_0001), port: 5_000 + UInt16(worker.number))
  }

  func newSocket() -> SocketID {
    lastSocket += 1
    return SocketID(lastSocket)
  }

  func connect(_ role: Role = .publisher, data: ByteString = "") throws -> Client {
    try connect(token: ConnectionToken(session: Self.session, role: role, data: data))
  }

  func connect(token: ConnectionToken) throws -> Client {
    let socket = newSocket()
    let id = try state.connect(token, relays: true, on: socket, now: now)
    collect()
    let greeting = try #require(inboxes.removeValue(forKey: socket)?.first)
    #expect(greeting["type"]?.string == "connected" && ConnectionID(greeting["connection"]?["id"]) == id)
    let key = try #require(greeting["key"]?.text)
    return Client(id: id, key: key, socket: socket)
  }

  /// What a new participant is told.
  func greeting(_ role: Role = .publisher) throws -> JSON {
    let socket = newSocket()
    let token = ConnectionToken(session: Self.session, role: role, data: "")
    let id = try state.connect(token, relays: true, on: socket, now: now)
    collect()
    state.end(id, .left)
    return try #require(inboxes[socket]?.first)
  }

  /// Sends a request, without a look at what comes of it.
  func send(_ client: Client, _ type: String, _ members: String = "") {
    client.lastRequest += 1
    let comma = members.isEmpty ? "" : ","
    receive(#"{"type":"\#(type)","id":\#(client.lastRequest)\#(comma)\#(members)}"#, on: client.socket)
  }

  func receive(_ text: String, on socket: SocketID) {
    state.receive(Result { () throws(CallRefusal) in try ClientMessage(text) }, on: socket, now: now)
    collect()
  }

  /// The answer to a request; what came before it stays.
  @discardableResult
  func ask(_ client: Client, _ type: String, _ members: String = "") throws -> JSON {
    send(client, type, members)
    var inbox = inboxes[client.socket] ?? []
    let index = try #require(inbox.firstIndex { $0["id"]?.integer == client.lastRequest })
    defer { inboxes[client.socket] = inbox }
    return inbox.remove(at: index)
  }

  /// The code of a refusal; nil where it was done.
  func refusal(_ client: Client, _ type: String, _ members: String = "") throws -> String? {
    let answer = try ask(client, type, members)
    return answer["type"]?.string == "refused" ? answer["code"]?.string : nil
  }

  /// A stream whose media has arrived, of sound and picture or one of them.
  func publish(_ client: Client, _ members: String = "", video: Bool = true) throws -> StreamID {
    let answer = try ask(client, "publish", #""stream":{\#(members)}"#)
    let stream = try #require(StreamID(answer["stream"]?["id"]))
    let kinds = video ? [("audio", "sendonly"), ("video", "sendonly")] : [("audio", "sendonly")]
    let uses = kinds.indices.map { #""\#($0)":{"publish":"\#(stream)"}"# }.joined(separator: ",")
    let answered = try offer(client, OfferText(kinds, ufrag: "u" + client.id.string.prefix(8)).text, uses)
    #expect(answered["type"]?.string == "done", "\(answered)")
    for track in state.streams[stream]!.tracks { state.handle(.trackStarted(track.id)) }
    collect()
    return stream
  }

  func offer(_ client: Client, _ sdp: String, _ uses: String) throws -> JSON {
    var writer = JSONWriter()
    writer.write(sdp)
    return try ask(client, "offer", #""sdp":\#(String(decoding: writer.bytes, as: UTF8.self)),"sections":{\#(uses)}"#)
  }

  func lose(_ client: Client) {
    state.lose(client.socket, now: now)
    collect()
  }

  /// On a new socket; false where it cannot be.
  func resume(_ client: Client, after seq: Int64) -> Bool {
    let socket = newSocket()
    do throws(CallRefusal) {
      try state.resume(client.id, key: client.key, after: seq, on: socket, now: now)
    } catch { return false }
    client.socket = socket
    collect()
    return true
  }

  func pass(_ milliseconds: Int64) {
    now.monotonic += milliseconds
    now.wall += milliseconds
    state.advance(to: now)
    collect()
  }

  func handle(_ event: RouterEvent) {
    state.handle(event)
    collect()
  }

  /// What a client has been told since the last time.
  func told(_ client: Client) -> [JSON] {
    collect()
    return inboxes.removeValue(forKey: client.socket) ?? []
  }

  /// The same, as types.
  func types(_ client: Client) -> [String] { told(client).compactMap { $0["type"]?.string } }

  func isClosed(_ socket: SocketID) -> Bool { closed.contains(socket) }

  func takeCommands() -> [RouterCommand] { takeCommandsOfWorkers().map(\.command) }

  /// Each with its recipient.
  func takeCommandsOfWorkers() -> [(worker: WorkerID, command: RouterCommand)] {
    defer { commands = [] }
    return commands
  }

  /// As the server does, which keeps a row first.
  private func carryOut(_ request: RecordingRequest) {
    let result = Result { () throws(CallRefusal) -> RecordingID in
      guard request.starts else {
        guard let recording = state.recordingID else { throw .invalid("It is not recorded.") }
        state.stopRecording(recording)
        return recording
      }
      let recording = RecordingID(trusted: CallName.random(using: &numbers))
      try state.startRecording(recording, recordingOptions, now: now)
      return recording
    }
    state.answer(request, result)
    collect()
  }

  func collect() {
    var requests: [RecordingRequest] = []
    for effect in state.takeEffects() {
      switch effect {
      case .send(let bytes, let socket):
        #expect(!closed.contains(socket), "said on a closed socket")
        inboxes[socket, default: []].append(try! JSON.parse(bytes))
      case .close(let socket): closed.insert(socket)
      case .router(let new, let worker): commands += new.map { (worker, $0) }
      case .recording(let command): recordingCommands.append(command)
      case .wantsRecording(let request): requests.append(request)
      case .happened(let event): happened.append(event)
      }
    }
    recordingRequests += requests
    for request in requests { carryOut(request) }
  }
}

extension ConnectionToken {
  init(session: SessionID, role: Role, data: ByteString) {
    self.init(session: session, role: role, data: data, layoutClasses: [])
  }
}

/// An offer such as a browser's.
struct OfferText {
  /// Kind and direction of each section.
  var sections: [(kind: String, direction: String)]
  var ufrag: String
  /// Of the peer connection.
  var number = 1
  var codecs = ["VP8", "H264"]
  /// More of each section.
  var lines: [String] = []
  var fingerprint = Array(repeating: "CD", count: 32).joined(separator: ":")

  init(_ sections: [(String, String)], ufrag: String = "abcd") {
    self.sections = sections.map { ($0.0, $0.1) }
    self.ufrag = ufrag
  }

  var text: String {
    var lines = ["v=0", "o=- \(number) 1 IN IP4 127.0.0.1", "s=-", "t=0 0"]
    lines.append("a=group:BUNDLE " + sections.indices.map(String.init).joined(separator: " "))
    for (index, section) in sections.enumerated() {
      let isAudio = section.kind == "audio"
      let types = isAudio ? [111] : codecs.indices.map { 96 + $0 }
      lines.append("m=\(section.kind) 9 UDP/TLS/RTP/SAVPF " + types.map(String.init).joined(separator: " "))
      lines += self.lines + ["c=IN IP4 0.0.0.0", "a=mid:\(index)", "a=\(section.direction)", "a=ice-ufrag:\(ufrag)"]
      lines += ["a=ice-pwd:0123456789012345678901", "a=fingerprint:sha-256 \(fingerprint)", "a=setup:actpass"]
      lines.append("a=rtcp-mux")
      if isAudio { lines.append("a=rtpmap:111 opus/48000/2") }
      for (i, codec) in codecs.enumerated() where !isAudio {
        lines.append("a=rtpmap:\(96 + i) \(codec)/90000")
        if codec == "H264" { lines.append("a=fmtp:\(96 + i) packetization-mode=1;profile-level-id=42e01f") }
      }
    }
    return lines.joined(separator: "\r\n") + "\r\n"
  }
}
