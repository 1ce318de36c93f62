import JSON
import ServerCore
import Synchronization
import Testing

@testable import HomeserverAPI

/// What is served while the disk is full.
@Suite struct FullDiskTests {
  private final class Space: Sendable {
    let isFull = Atomic<Bool>(false)
  }

  private func run(
    contacts: [SupportContacts.Contact] = [], _ body: (APIFixture, Space) async throws -> Void
  ) async throws {
    let space = Space()
    var api = APIConfiguration()
    api.rateLimits = false
    api.support.contacts = contacts
    // Room, but no plenty: each request is measured, for this disk fills at once.
    api.disk = DiskSpace(measure: {
      DiskSpace.Measure(
        freeBytes: space.isFull.load(ordering: .relaxed) ? 0 : DiskSpace.plentyBytes / 2, capacityBytes: 1 << 40)
    })
    try await APIFixture.run(api) { try await body($0, space) }
  }

  @Test func `what stores more is refused with 507, and reading and deleting work`() async throws {
    try await run { fixture, space in
      let ann = try await fixture.register("ann")
      let room = try #require(
        try await fixture.call(.post, "createRoom", as: ann, #"{"preset":"public_chat"}"#).json["room_id"]?.string)
      let text = #"{"msgtype":"m.text","body":"x"}"#
      let event = try #require(
        try await fixture.call(.put, "rooms/\(room)/send/m.room.message/1", as: ann, text).json["event_id"]?.string)
      space.isFull.store(true, ordering: .relaxed)

      let refused: [(HTTPMethod, String, String)] = [
        (.put, "rooms/\(room)/send/m.room.message/2", text), (.post, "createRoom", "{}"),
        (.put, "rooms/\(room)/state/m.room.topic", #"{"topic":"x"}"#), (.post, "register", "{}"),
        (.put, "user/\(ann.userID)/account_data/x", "{}"), (.put, "sendToDevice/x/1", #"{"messages":{}}"#),
        (.post, "/_matrix/media/v3/upload", "x"), (.put, "profile/\(ann.userID)/displayname", #"{"displayname":"A"}"#)
      ]
      for (method, path, body) in refused {
        let answer = try await fixture.call(method, path, as: ann, body)
        #expect(answer.status == 507 && answer.errorCode == "M_UNKNOWN", "\(path): \(answer.status)")
        #expect(answer.json["error"]?.string?.hasPrefix("The server's disk is full.") ?? false)
      }
      let served: [(HTTPMethod, String, String?)] = [
        (.get, "sync", nil), (.get, "rooms/\(room)/messages?dir=b", nil),
        (.post, "search", #"{"search_categories":{"room_events":{"search_term":"x"}}}"#),
        (.put, "rooms/\(room)/redact/\(event)/3", "{}"), (.post, "rooms/\(room)/leave", "{}"),
        (.post, "rooms/\(room)/forget", "{}"), (.post, "logout", "{}")
      ]
      for (method, path, body) in served {
        let answer = try await fixture.call(method, path, as: ann, body)
        #expect(answer.status == 200, "\(path): \(answer.status) \(answer.errorCode ?? "")")
      }
      #expect(try await fixture.logIn("ann").status == 200)
      space.isFull.store(false, ordering: .relaxed)
      let again = try fixture.user(await fixture.logIn("ann"))
      #expect(try await fixture.call(.post, "createRoom", as: again, "{}").status == 200)
    }
  }

  @Test(arguments: [("@admin:example.org", "matrix:u/admin:example.org"), ("a@example.org", "mailto:a@example.org")])
  func `the answer names the administrator if there is a contact`(address: String, uri: String) async throws {
    let contacts = [
      SupportContacts.Contact(role: "m.role.security", address: "other@example.org"),
      SupportContacts.Contact(role: "m.role.admin", address: address)
    ]
    try await run(contacts: contacts) { fixture, space in
      let ann = try await fixture.register("ann")
      space.isFull.store(true, ordering: .relaxed)
      let answer = try await fixture.call(.post, "createRoom", as: ann, "{}")
      #expect(answer.status == 507 && answer.errorCode == "M_RESOURCE_LIMIT_EXCEEDED")
      #expect(answer.json["admin_contact"]?.string == uri)
    }
  }
}
