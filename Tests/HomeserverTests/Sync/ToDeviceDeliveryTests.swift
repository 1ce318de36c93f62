import JSON
import MatrixModel
import Testing

@testable import Homeserver

/// A message to a device comes until the device has said, with its next sync, that it has it.
@Suite struct ToDeviceDeliveryTests {
  private func send(_ fixture: SyncFixture, _ text: String, transaction: String) async throws {
    try await fixture.toDevice.send(
      EventType(trusted: "t"), TransactionID(trusted: ByteString(transaction)), from: await fixture.session("bob"),
      messages: try json(#"{"@ann:example.org":{"*":{"n":"\#(text)"}}}"#))
  }

  private func waiting(_ fixture: SyncFixture) async throws -> Int64? {
    try await fixture.database.read { tx in try tx.first("SELECT COUNT(*) FROM to_device") { $0.integer(0) } }
  }

  @Test func `what was answered and not acknowledged comes again after a restart, and never once acknowledged`() async throws {
    var fixture = try SyncFixture()
    try await fixture.addDevice("ann")
    let start = try fixture.client("ann")
    try await start.sync()
    let before = start.since
    try await send(fixture, "one", transaction: "1")
    #expect(try await start.sync().toDevice == ["one"])
    let acknowledging = start.since

    // The server dies before the next sync: the answer may never have arrived.
    fixture = try fixture.reopened()
    let again = try fixture.client("ann")
    again.since = before
    #expect(try await again.sync().toDevice == ["one"])
    try await send(fixture, "two", transaction: "2")

    fixture = try fixture.reopened()
    let acknowledged = try fixture.client("ann")
    acknowledged.since = acknowledging
    #expect(try await acknowledged.sync().toDevice == ["two"])
    #expect(try await waiting(fixture) == 1)

    fixture = try fixture.reopened()
    let last = try fixture.client("ann")
    last.since = acknowledged.since
    #expect(try await last.sync().toDevice == [])
    #expect(try await waiting(fixture) == 0)
    last.since = before
    #expect(try await last.sync().toDevice == [], "what was acknowledged is gone, whatever token comes")
  }

  @Test func `a request repeated after a restart sends nothing again`() async throws {
    var fixture = try SyncFixture()
    try await fixture.addDevice("ann")
    try await send(fixture, "one", transaction: "1")
    fixture = try fixture.reopened()
    try await send(fixture, "one", transaction: "1")
    #expect(try await waiting(fixture) == 1)
  }

  @Test func `a long queue comes in order, a hundred at a time, each once, over restarts between`() async throws {
    var fixture = try SyncFixture()
    try await fixture.addDevice("ann")
    let client = try fixture.client("ann")
    try await client.sync()
    var since = client.since
    let expected = (0..<250).map { "\($0)" }
    for text in expected { try await send(fixture, text, transaction: text) }
    var received: [String] = []
    for count in [100, 100, 50, 0] {
      fixture = try fixture.reopened()
      let client = try fixture.client("ann")
      client.since = since
      let page = try await client.sync().toDevice
      #expect(page.count == count)
      received += page
      since = client.since
    }
    #expect(received == expected)
    #expect(try await waiting(fixture) == 0)
  }

  @Test func `a star is every device of a user that there is`() async throws {
    let fixture = try SyncFixture()
    for device in ["A", "B"] { try await fixture.addDevice("ann", device) }
    try await send(fixture, "one", transaction: "1")
    try await fixture.addDevice("ann", "LATER")
    for (device, expected) in [("A", ["one"]), ("B", ["one"]), ("LATER", [])] {
      #expect(try await fixture.client("ann", device: device).sync().toDevice == expected)
    }
  }
}
