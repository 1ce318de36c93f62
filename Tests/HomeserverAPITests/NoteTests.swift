import Database
import JSON
import MatrixModel
import Synchronization
import Testing

@testable import Homeserver
@testable import ServerAccounts
@testable import ServerCore
@testable import ServerDirectory
@testable import ServerPush
@testable import ServerRooms

/// Two components of one kind on one database learn of each other's commits as those of two nodes do: by notes alone.
@Suite struct NoteTests {
  private final class Watcher: AccountObserver {
    let users = Mutex<[UserID]>([])
    func sessionsChanged(of userID: UserID) { users.withLock { $0.append(userID) } }
  }

  @Test func `a session that ends on one node ends on the other, and no other session does`() async throws {
    try await APIFixture.run { fixture in
      let home = fixture.homeserver
      let watcher = Watcher()
      let other = Sessions(database: home.database, observers: [watcher], clock: home.configuration.clock)
      let phone = try await fixture.register("ann")
      let tablet = try fixture.user(try await fixture.logIn("ann"))
      let bob = try await fixture.register("bob")
      let tokens = [phone, tablet, bob].map { AccessTokenHash(of: ByteString($0.token)) }
      for token in tokens { _ = try await other.load(token) }
      #expect(tokens.map { other.cached($0) != nil } == [true, true, true])
      watcher.users.withLock { $0 = [] }

      #expect(try await fixture.call(.post, "logout", as: phone).status == 200)
      #expect(tokens.map { other.cached($0) != nil } == [false, true, true])
      #expect(try await other.load(tokens[0]) == nil)
      #expect(watcher.users.withLock { $0 } == [phone.userID])

      // What the account may has changed: all its sessions are read again.
      try await home.accounts.setLocked(phone.userID, true)
      #expect(tokens.map { other.cached($0) != nil } == [false, false, true])
      #expect(try await other.load(tokens[1])?.standing.isLocked == true)
    }
  }

  @Test func `push rules that one node changes are read again by the other`() async throws {
    try await APIFixture.run { fixture in
      let home = fixture.homeserver
      let ann = try await fixture.register("ann")
      let other = PushRules(database: home.database, accountData: home.accountData)
      #expect(try await other.rules(of: ann.userID)[.room].isEmpty)
      let rule = PushRule(
        .room, ruleID: "!garden", actions: try #require(PushActions(try JSON.parse(Array(#"["notify"]"#.utf8)))))
      try await home.database.write { tx in
        // Two changes in one commit.
        try home.pushRules.change(ann.userID, in: tx) { try $0.put(rule, .room) }
        try home.pushRules.change(ann.userID, in: tx) { try $0.remove(.room, rule.ruleID) }
        try home.pushRules.change(ann.userID, in: tx) { try $0.put(rule, .room) }
      }
      // The node that did it knows what it wrote.
      #expect(home.pushRules.cached(ann.userID)?[.room].map(\.ruleID) == ["!garden"])
      #expect(other.cached(ann.userID) == nil)
      #expect(try await other.rules(of: ann.userID)[.room].map(\.ruleID) == ["!garden"])
    }
  }

  @Test func `what is erased on one node is shown erased on the other`() async throws {
    try await APIFixture.run { fixture in
      let home = fixture.homeserver
      let ann = try await fixture.register("ann")
      let other = Erasures(home.database)
      try await home.accounts.deactivate(ann.userID, erase: true)
      let position = try await home.database.read { tx in
        try tx.first("SELECT erased_at FROM account WHERE user_id = $1", ann.userID) { $0.integer(0) }
      }
      #expect(position != nil)
      #expect(other.positions == home.rooms.erasures.positions)
      #expect(other.positions == [ann.userID: try #require(position)])
    }
  }

  @Test func `pushers of one node are known to the other until they go`() async throws {
    try await APIFixture.run { fixture in
      let home = fixture.homeserver
      let ann = try await fixture.register("ann")
      let other = Pushers(
        database: home.database, gateways: home.configuration.pushGatewayAddresses, vapidKey: nil, sendsMail: false,
        badgeDelay: .zero, clock: home.configuration.clock)
      let pusher = { (kind: String) in
        try JSON.parse(
          Array(
            """
            {"kind":\(kind),"app_id":"org.example","pushkey":"k","app_display_name":"A","device_display_name":"D","lang":"en",
            "data":{"url":"https://push.example.org/_matrix/push/v1/notify"}}
            """.utf8))
      }
      _ = try await home.pushers.set(try pusher(#""http""#), of: ann.userID, by: ann.deviceID)
      #expect(other.audience.pushers(of: ann.userID).values.map { $0 } == [.http])
      #expect(other.audience.pushers(of: ann.userID) == home.pushers.audience.pushers(of: ann.userID))
      _ = try await home.pushers.set(try pusher("null"), of: ann.userID, by: ann.deviceID)
      #expect(other.audience.isEmpty && home.pushers.audience.isEmpty)
    }
  }

  @Test func `news and waits of one node reach those who wait at the other`() async throws {
    try await APIFixture.run { fixture in
      let home = fixture.homeserver
      let ann = try await fixture.register("ann")
      let other = Notifier(home.database)
      let watch = other.watch(of: ann.userID, position: home.database.committedPosition)
      let before = SyncPosition(position: home.database.committedPosition, typing: 0)
      #expect(!watch.hasNews(after: before))
      let waiting = Task { await other.wait(watch, after: before, sessionChanges: 0, until: .max) }
      let stored = try await fixture.call(.put, APIFixture.own(ann, "account_data/org.example"), as: ann, #"{"a":1}"#)
      #expect(stored.status == 200)
      #expect(await waiting.value)
      #expect(watch.hasNews(after: before))
    }
  }
}
