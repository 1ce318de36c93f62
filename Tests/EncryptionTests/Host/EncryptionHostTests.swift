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
}
