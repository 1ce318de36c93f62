import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

@Suite struct DeviceTrackerTests {
  let phone = DeviceID(trusted: "PHONE"), laptop = DeviceID(trusted: "LAPTOP")

  /// Asks for all who are outdated, and answers with these devices.
  private func ask(_ tracker: inout DeviceTracker, _ devices: [(user: UserID, device: DeviceID, keys: JSON)]) throws
    -> [DeviceNews]
  {
    let query = try tracker.query(at: 0)
    return tracker.answered(query, try answer(devices), at: 0)
  }

  // Proves E2
  @Test func `devices appear and go`() throws {
    var tracker = DeviceTracker()
    tracker.track([bob])
    let (one, other) = (TestDevice(), TestDevice(of: bob, laptop, seed: "a laptop"))
    let news = try ask(&tracker, [(bob, phone, try one.published()), (bob, laptop, try other.published())])
    #expect(news == [.listed(other.own.deviceKeys), .listed(one.own.deviceKeys)])
    #expect(tracker.devices(of: bob).map(\.device) == [laptop, phone] && tracker.outdated(among: [bob]).isEmpty)
    #expect(tracker.nextQuery(at: 0) == nil)
    tracker.changed([bob])
    #expect(try ask(&tracker, [(bob, phone, try one.published())]) == [.gone(bob, laptop)])
    #expect(tracker.device(phone, of: bob)?.hasSameKeys(as: one.own.deviceKeys) ?? false)
  }

  @Test func `a change during a query is asked for again`() throws {
    var tracker = DeviceTracker()
    tracker.track([ann, bob])
    let query = try tracker.query(at: 0)
    tracker.changed([bob])
    #expect(tracker.nextQuery(at: 0) == nil, "one query at a time for a user")
    _ = tracker.answered(query, try answer([]), at: 0)
    #expect(tracker.outdated(among: [ann, bob]) == [bob])
    #expect(tracker.nextQuery(at: 0)?.users == [bob])
  }

  @Test func `a query without an answer is repeated, a gap asks for everybody`() throws {
    var tracker = DeviceTracker()
    tracker.track([ann, bob])
    let query = try tracker.query(at: 0)
    tracker.failed(query)
    #expect(tracker.nextQuery(at: 0) == query)
    _ = tracker.answered(query, try answer([]), at: 0)
    #expect(tracker.nextQuery(at: 0) == nil)
    tracker.lostTrack()
    #expect(tracker.nextQuery(at: 0) == query)
  }

  @Test func `many users are asked for in parts`() {
    var tracker = DeviceTracker()
    tracker.track((0..<600).map { UserID(trusted: ByteString("@user\($0):one.example")) })
    let queries = (0..<4).map { _ in tracker.nextQuery(at: 0) }
    #expect(queries.map { $0?.users.count } == [250, 250, 100, nil])
    #expect(Set(queries.flatMap { $0?.users ?? [] }).count == 600)
  }

  @Test func `a server that fails is asked again later, the others are not held up`() throws {
    var tracker = DeviceTracker()
    tracker.track([ann, bob])
    var query = try tracker.query(at: 0)
    _ = tracker.answered(query, try answer([], failures: ["two.example"]), at: 0)
    #expect(tracker.outdated(among: [ann, bob]) == [bob] && tracker.nextRetry() == 10_000)
    #expect(tracker.nextQuery(at: 9_999) == nil)
    query = try tracker.query(at: 10_000)
    _ = tracker.answered(query, try answer([], failures: ["two.example"]), at: 10_000)
    #expect(tracker.nextRetry() == 30_000, "twice as long")
    query = try tracker.query(at: 30_000)
    _ = tracker.answered(query, try answer([]), at: 30_000)
    #expect(tracker.nextRetry() == nil && tracker.outdated(among: [bob]).isEmpty)
  }

  @Test func `a device keeps its keys; others under its ID are refused`() throws {
    var tracker = DeviceTracker()
    tracker.track([bob])
    let (one, thief) = (TestDevice(), TestDevice(seed: "a thief"))
    _ = try ask(&tracker, [(bob, phone, try one.published())])
    tracker.changed([bob])
    #expect(try ask(&tracker, [(bob, phone, try thief.published())]) == [.refused(bob, phone, .changedKeys)])
    #expect(tracker.device(phone, of: bob)?.hasSameKeys(as: one.own.deviceKeys) ?? false)
  }

  @Test func `two devices of a user never share a key`() throws {
    var tracker = DeviceTracker()
    tracker.track([bob])
    let copy = TestDevice(of: bob, laptop)
    #expect(
      try ask(&tracker, [(bob, phone, try TestDevice().published()), (bob, laptop, try copy.published())])
        == [.listed(copy.own.deviceKeys), .refused(bob, phone, .sharedKey)])
  }

  @Test func `a device that another is said to be is refused, and who was not asked for is left out`() throws {
    var tracker = DeviceTracker()
    tracker.track([bob])
    let keys = try TestDevice().published()
    #expect(try ask(&tracker, [(bob, laptop, keys), (ann, phone, keys)]) == [.refused(bob, laptop, .ofAnother)])
    #expect(!tracker.isTracked(ann) && tracker.devices(of: bob).isEmpty)
  }

  @Test func `a user who is no longer tracked stays out, also if the answer comes later`() throws {
    var tracker = DeviceTracker()
    tracker.track([bob])
    let query = try tracker.query(at: 0)
    tracker.forget([bob])
    #expect(tracker.answered(query, try answer([(bob, phone, try TestDevice().published())]), at: 0).isEmpty)
    #expect(!tracker.isTracked(bob) && tracker.nextQuery(at: 0) == nil)
  }

  @Test(arguments: ["7", "[]", "{}", #"{"device_keys":7}"#, #"{"device_keys":{"@bob:two.example":[1]},"failures":[]}"#])
  func `a senseless answer has no devices`(_ text: String) throws {
    var tracker = DeviceTracker()
    tracker.track([bob])
    let query = try tracker.query(at: 0)
    #expect(tracker.answered(query, try parsed(text), at: 0).isEmpty)
    #expect(tracker.nextQuery(at: 0) == nil && tracker.devices(of: bob).isEmpty)
  }

  @Test func `the body names each user with an empty list`() {
    let query = DeviceTracker.DeviceQuery(users: [ann, bob])
    #expect(String(decoding: query.body, as: UTF8.self) == #"{"device_keys":{"@ann:one.example":[],"@bob:two.example":[]}}"#)
  }
}

extension DeviceTracker {
  fileprivate mutating func query(at now: Int64) throws -> DeviceQuery {
    let query = nextQuery(at: now)
    return try #require(query)
  }
}
