import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

@Suite struct EncryptionHostTests {
  private static let event =
    #"{"type":"m.room.encrypted","event_id":"$1","sender":"@bob:two.example","origin_server_ts":1,"content":{"#
    + #""algorithm":"m.megolm.v1.aes-sha2","session_id":"s","sender_key":"k","ciphertext":"AAAA"}}"#
  private static let sync = Array(
    (#"{"next_batch":"s1","rooms":{"join":{"!tea:one.example":{"timeline":{"events":["# + event + "]}}}}}").utf8)
  private static let page = Array((#"{"chunk":["# + event + "]}").utf8)

  private func host() -> EncryptionHost {
    EncryptionHost(user: ann, device: DeviceID(trusted: "DESK"), random: .repeating(seed: Array("ann".utf8)))
  }

  private func members() -> RoomMembers { RoomMembers(ModelServer.room, users: [ann], sharesHistory: false) }

  private func answered(_ step: EncryptionStep) -> [UInt32] {
    step.deliveries.compactMap { if case .answer(let request, _) = $0 { request } else { nil } }
  }

  @Test func `answers are delivered in the order in which they came, also those that wait for records`() throws {
    var host = host()
    #expect(host.start(at: 0).loads == RecordNames.inMemory)
    let sync = try #require(host.take(Self.sync, to: "/_matrix/client/v3/sync", for: 1, at: 0) as EncryptionStep?)
    let page = try #require(
      host.take(Self.page, to: "/_matrix/client/v3/rooms/!tea:one.example/messages", for: 2, at: 0) as EncryptionStep?)
    #expect(sync.deliveries.isEmpty && page.deliveries.isEmpty)
    let started = host.handle(.loaded([]), at: 0)
    #expect(answered(started).isEmpty && started.loads.count == 1)
    let read = host.handle(.loaded([]), at: 0)
    #expect(answered(read) == [1, 2])
    let plain = host.take(Array(#"{"chunk":[]}"#.utf8), to: "/_matrix/client/v3/rooms/!tea:one.example/messages", for: 3, at: 0)
    #expect(plain == nil, "it has nothing to do with encryption")
  }

  /// What the client reads, the machine has to read: keys of rooms come once.
  @Test func `no sync passes the machine by, whatever stands before it and however deep its events are`() throws {
    var host = host()
    _ = host.start(at: 0)
    _ = host.handle(.loaded([]), at: 0)
    let deep = String(repeating: #"{"a":"#, count: 400) + "1" + String(repeating: "}", count: 400)
    let sync =
      #"{"next_batch":"s1","to_device":{"events":[]},"rooms":{"join":{"!tea:one.example":{"timeline":{"events":["#
      + #"{"type":"m.room.message","event_id":"$2","sender":"@eve:two.example","content":\#(deep)}]}}}}}"#
    for (request, body) in [sync, "\n \t" + sync].enumerated() {
      let step = host.take(Array(body.utf8), to: "/_matrix/client/v3/sync", for: UInt32(request), at: 0) as EncryptionStep?
      #expect(try answered(#require(step)) == [UInt32(request)])
    }
  }

  @Test func `what waits is delivered as it is when the client goes on without`() throws {
    var host = host()
    _ = host.start(at: 0)
    _ = host.take(Self.sync, to: "/_matrix/client/v3/sync", for: 1, at: 0)
    _ = host.encrypt(7, .message, Array("{}".utf8), for: members(), at: 0)
    let rest = host.abandon()
    guard case .answer(1, let body)? = rest.deliveries.first, case .blocked(7, .broken)? = rest.deliveries.last else {
      Issue.record("\(rest.deliveries)")
      return
    }
    #expect(rest.deliveries.count == 2 && rest.changes.isEmpty)
    let room = try JSON.parse(body)["rooms"]?["join"]?["!tea:one.example"]
    #expect(room?["timeline"]?["events"]?.elements.map { $0.text("type") } == ["m.room.encrypted"])
  }

  @Test func `a device whose keys are lost is over, and holds nothing up`() throws {
    var host = host()
    _ = host.start(at: 0)
    let started = host.handle(.loaded([]), at: 0)
    let query = try #require(started.requests.first { "\($0.endpoint.pattern)" == "\(Endpoint.queryKeys.pattern)" })
    _ = host.handle(.encryption(ModelServer.room, try parsed(#"{"algorithm":"m.megolm.v1.aes-sha2"}"#)), at: 0)
    _ = host.encrypt(7, .message, Array("{}".utf8), for: members(), at: 0)
    let other = TestDevice(of: ann, DeviceID(trusted: "DESK"), seed: "before")
    let end = host.handle(
      .answered(query.id, try answer([(ann, DeviceID(trusted: "DESK"), try other.published())])), at: 0)
    #expect(host.isOver && host.broken == .lostKeys && !host.isPublished)
    guard case .blocked(7, .broken)? = end.deliveries.first else {
      Issue.record("\(end.deliveries)")
      return
    }
    let sync = try #require(host.take(Self.sync, to: "/_matrix/client/v3/sync", for: 1, at: 0) as EncryptionStep?)
    #expect(answered(sync) == [1])
  }

  @Test func `content that is no object is refused at once`() {
    var host = host()
    _ = host.start(at: 0)
    for content in ["[]", "x"] {
      guard
        case .blocked(7, .malformed)? = host.encrypt(7, .message, Array(content.utf8), for: members(), at: 0).deliveries.first
      else {
        Issue.record("\(content)")
        return
      }
    }
  }

  // MARK: News of keys

  /// Lets the server name users as changed, and answers what is asked with what it has of them.
  private func learn(_ users: [TestUser], _ host: inout EncryptionHost, _ first: EncryptionStep? = nil) throws -> [TrustNews] {
    var keys = SyncedKeys()
    keys.changed = users.map { $0.user }
    var steps = [first ?? host.handle(.sync(keys), at: 0)]
    var news: [TrustNews] = []
    while let step = steps.popLast() {
      for case .news(let one) in step.later { news.append(one) }
      for request in step.requests where "\(request.endpoint.pattern)" == "\(Endpoint.queryKeys.pattern)" {
        steps.append(host.handle(.answered(request.id, try answer(of: users)), at: 0))
      }
    }
    return news
  }

  private func begun(knowing user: TestUser) throws -> EncryptionHost {
    var host = host()
    _ = host.start(at: 0)
    #expect(try learn([], &host, host.handle(.loaded([]), at: 0)).isEmpty)
    #expect(try learn([user], &host, host.handle(.track([user.user]), at: 0)).isEmpty, "a first list is no news")
    return host
  }

  @Test func `a new device is told with its name and whether it is signed, and so is one that goes`() throws {
    var bob = TestUser()
    try bob.add(TestDevice())
    var host = try begun(knowing: bob)
    let (laptop, desk) = (DeviceID(trusted: "LAPTOP"), DeviceID(trusted: "DESK"))
    try bob.add(TestDevice(of: bob.user, laptop, seed: "laptop"))
    try bob.addUnsigned(TestDevice(of: bob.user, desk, seed: "desk"))
    #expect(
      try learn([bob], &host) == [
        .deviceAppeared(bob.user, desk, name: nil, isSigned: false),
        .deviceAppeared(bob.user, laptop, name: nil, isSigned: true)
      ])
    #expect(host.doubtfulDevices == (unsigned: 1, refused: 0))
    #expect(try learn([bob], &host).isEmpty)
    bob.devices.removeLast()
    #expect(try learn([bob], &host) == [.deviceGone(bob.user, desk)])
  }

  @Test func `a refused device and a hidden signature are told once, as long as the server goes on with it`() throws {
    var bob = TestUser()
    try bob.add(TestDevice())
    var host = try begun(knowing: bob)
    let phone = DeviceID(trusted: "PHONE")
    bob.devices = []
    try bob.add(TestDevice(of: bob.user, phone, seed: "a thief"))
    #expect(try learn([bob], &host) == [.deviceRefused(bob.user, phone, .changedKeys)])
    #expect(try learn([bob], &host).isEmpty && host.doubtfulDevices == (unsigned: 0, refused: 1))
    bob.devices = []
    try bob.addUnsigned(TestDevice())
    #expect(try learn([bob], &host) == [.signatureHidden(bob.user, phone)])
    #expect(try learn([bob], &host).isEmpty)
  }

  @Test func `a changed identity and one that is hidden are told, and the change stays until it is accepted`() throws {
    var bob = TestUser()
    try bob.add(TestDevice())
    var host = try begun(knowing: bob)
    var other = TestUser(seed: "another identity")
    try other.add(TestDevice())
    #expect(try learn([other], &host) == [.identityChanged(bob.user, wasVerified: false)])
    #expect(try learn([other], &host).isEmpty && host.changedIdentities.map(\.keys) == [other.keys])
    _ = host.handle(.acknowledge(bob.user, other.keys.master), at: 0)
    #expect(host.changedIdentities.isEmpty)
    other.leftOut = [.master, .selfSigning, .userSigning]
    #expect(try learn([other], &host).contains(.identityHidden(bob.user)))
    #expect(try learn([other], &host).isEmpty)
  }
}
