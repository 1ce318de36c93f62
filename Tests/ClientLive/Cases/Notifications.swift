import Glibc
import MatrixClient

/// Being told elsewhere.
extension LiveCase {
  static let notifications = [
    LiveCase("N1 a pusher is set, listed and deleted") { stage in
      let alice = try await stage.user("alice")
      let pusher = Pusher(
        key: ByteString(stage.fresh("key")), appID: "org.example.live",
        kind: .http(url: "https://push.example.org/_matrix/push/v1/notify", sendsEventIDOnly: true),
        appDisplayName: "Live", deviceDisplayName: "Suite", profileTag: nil, language: "en")
      try await alice.setPusher(pusher)
      let set = try unwrap(try await alice.pushers().first, "pusher")
      try expect(set.key, is: pusher.key)
      try expect(set.kind, is: pusher.kind)
      try expect(set.language, is: "en")
      try await alice.deletePusher(key: pusher.key, appID: pusher.appID)
      try expect(try await alice.pushers().count, is: 0)
    },
    LiveCase("N1 a second pusher with the same key and application replaces the first") { stage in
      let alice = try await stage.user("alice")
      var pusher = Pusher(
        key: ByteString(stage.fresh("key")), appID: "org.example.live",
        kind: .http(url: "https://push.example.org/_matrix/push/v1/notify", sendsEventIDOnly: false),
        appDisplayName: "Live", deviceDisplayName: "Before", profileTag: nil, language: "en")
      try await alice.setPusher(pusher)
      pusher.deviceDisplayName = "After"
      try await alice.setPusher(pusher)
      try expect(try await alice.pushers().map(\.deviceDisplayName), is: ["After"])
    },
    LiveCase("N2 the push rules are those of the specification at first") { stage in
      let rules = try await stage.user("alice").pushRules()
      let overrides = try unwrap(rules["override"], "override rules").elements.compactMap { $0["rule_id"]?.string }
      for rule in [".m.rule.master", ".m.rule.suppress_notices", ".m.rule.is_user_mention", ".m.rule.tombstone"] {
        try expect(overrides.contains(rule), rule)
      }
    },
    LiveCase("N2 a user's push rule is added, changed, turned off and removed") { stage in
      let alice = try await stage.user("alice")
      let other = try await stage.device(of: alice)
      let sender: ByteString = "@somebody:example.org"
      let rule = PushRule(.sender, ruleID: sender, actions: .none)
      try await alice.changeNotifications(.rule(.put(.sender, rule)))
      try await other.untilRules("the rule") { $0.rule(.sender, sender) != nil }
      let sounding = try unwrap(rule.sounding, "actions")
      try await alice.changeNotifications(.rule(.setActions(.sender, sender, sounding)))
      try await alice.changeNotifications(.rule(.setEnabled(.sender, sender, false)))
      try await other.untilRules("it is off") { rules in
        rules.rule(.sender, sender).map { !$0.isEnabled && $0.actions.sound == "default" } ?? false
      }
      try await alice.changeNotifications(.rule(.remove(.sender, sender)))
      try await other.untilRules("it is gone") { $0.rule(.sender, sender) == nil }
    },
    LiveCase("N3 a room's mode is what both devices say, and the server goes by it") { stage in
      let (alice, bob) = try await stage.pair()
      let other = try await stage.device(of: bob.client)
      for mode in [NotificationMode.mute, .allMessages, .mentionsAndKeywords] {
        try await bob.setNotificationMode(mode)
        // A sync that was asked for before may still bring the mode before, for the moment until the next.
        try await bob.client.untilRules("\(mode), here") { $0.mode(of: bob.id) == mode }
        try await other.untilRules("\(mode)") { $0.mode(of: bob.id) == mode }
      }
      try await alice.say("No notice of this")
      _ = try await bob.item(saying: "No notice of this")
      try expect(await bob.state?.notificationCount, is: 0)
      try await bob.setNotificationMode(nil)
      try await other.untilRules("the default") { $0.mode(of: bob.id) == nil }
      try await alice.say("But of this")
      try await bob.until("one unread") { $0.notificationCount > 0 }
    },
    LiveCase("N3 a keyword highlights, until it is taken away") { stage in
      let (alice, bob) = try await stage.pair()
      try await bob.client.addKeyword("marzipan")
      try expect(await bob.client.keywords, is: ["marzipan"])
      let event = try await alice.say("There is Marzipan, too")
      try await bob.until("a highlight") { $0.highlightCount == 1 }
      let read = try await bob.event(event)
      try expect(await bob.client.pushActions(for: read, in: bob.id)?.highlights, is: true)
      try await bob.client.removeKeyword("marzipan")
      try expect(await bob.client.keywords, is: [])
      try expect(await bob.client.pushActions(for: read, in: bob.id)?.highlights, is: false)
    },
    LiveCase("N3 defaults and mentions are turned off and on") { stage in
      let alice = try await stage.user("alice")
      let other = try await stage.device(of: alice)
      try await alice.setDefaultNotificationMode(.mentionsAndKeywords, of: .group)
      try await alice.setNotifies(false, of: .userMentions)
      try await other.untilRules("both are off") {
        $0.defaultMode(of: .group) == .mentionsAndKeywords && !$0.notifies(of: .userMentions)
      }
      try expect(await alice.defaultNotificationMode(of: .oneToOne), is: .allMessages)
      try await alice.setDefaultNotificationMode(.allMessages, of: .group)
      try await alice.setNotifies(true, of: .userMentions)
      try await other.untilRules("both are on") {
        $0.defaultMode(of: .group) == .allMessages && $0.notifies(of: .userMentions)
      }
    },
    LiveCase("N4 notifications are listed, and a mention is a highlight") { stage in
      let (alice, bob) = try await stage.pair()
      let event = try await alice.say("Hello there")
      _ = try await bob.item(saying: "Hello there")
      var entries = try await bob.client.notifications(limit: 10).entries
      while entries.isEmpty {
        try await Task.sleep(for: .milliseconds(100))
        entries = try await bob.client.notifications(limit: 10).entries
      }
      let entry = try unwrap(entries.first { $0.event.eventID == event }, "notification")
      try expect(entry.roomID, is: bob.id)
      try expect(!entry.isRead && !entry.isHighlight, "unread, and no highlight")
      try expect(try await bob.client.notifications(highlightsOnly: true).entries.count, is: 0)
      var mention = OutgoingMessage.message(FormattedText("Bob, look"))
      mention.mentions.add(try unwrap(await bob.client.session?.userID, "session"))
      let second = try await alice.send(mention).sent()
      _ = try await bob.item(saying: "Bob, look")
      var highlights = try await bob.client.notifications(highlightsOnly: true).entries
      while highlights.isEmpty {
        try await Task.sleep(for: .milliseconds(100))
        highlights = try await bob.client.notifications(highlightsOnly: true).entries
      }
      try expect(highlights.map(\.event.eventID), is: [second])
    },
    LiveCase("N1 a device's pusher has the parameters of its system, and its tag stays") { stage in
      let alice = try await stage.user("alice")
      var device = stage.pushDevice("https://push.example.org")
      let first = try await alice.enablePush(device)
      device.language = "de"
      let second = try await alice.enablePush(device)
      try expect(second.profileTag, is: first.profileTag)
      let listed = try await alice.pushers()
      try expect(listed.map { $0.language }, is: ["de"])
      try expect(listed.first?.appID, is: "org.example.live.dev")
      try await alice.disablePush(device)
      try expect(try await alice.pushers().count, is: 0)
    },
    LiveCase("N1 a push gateway hears of each event once") { stage in
      guard let gateway = PushGateway.given else { throw NotAnnounced(what: "no push gateway was given") }
      let (alice, bob) = try await stage.pair()
      let pusher = try await bob.client.enablePush(stage.pushDevice(gateway.url))
      var events: [String] = []
      for number in 1...4 { events.append(try await alice.say("Push \(number)").string) }
      var heard: [String] = []
      while !Set(events).isSubset(of: heard) { heard = try await gateway.events(for: pusher.key) }
      try expect(heard, is: events)
    },
    LiveCase("N4 an event's notification says who said what, unless the rules are silent or it is gone") { stage in
      let (alice, bob) = try await stage.pair(NewRoom(preset: .publicChat, name: "Tea"))
      let event = try await alice.say("Hello there")
      guard case .content(let content) = try await bob.client.notification(for: event, in: bob.id) else {
        throw Failure("nothing to be told")
      }
      try expect(content.body, is: "Hello there")
      try expect(content.roomName.english, is: "Tea")
      try expect(content.sender, is: try await alice.client.ownID)
      try expect(!content.isHighlight, "no highlight")
      try await bob.setNotificationMode(.mute)
      guard case .filteredOut = try await bob.client.notification(for: event, in: bob.id) else {
        throw Failure("it is told in a muted room")
      }
      try await bob.setNotificationMode(nil)
      let item = try await alice.item(saying: "Hello there")
      try await alice.client.perform(.sending(.redact(alice.id, .item(item.id), reason: nil)))
      _ = try await bob.item("it is gone") { if case .redacted = $0.content { true } else { false } }
      guard case .redacted = try await bob.client.notification(for: event, in: bob.id) else {
        throw Failure("it is told although it is gone")
      }
    },
    LiveCase("N4 a process beside the one that syncs tells what the store has not got, and of an invitation") { stage in
      let alice = try await stage.user("alice")
      let path = stage.folder.path + "/guest-store"
      let bob = try await stage.user("bob", store: try SQLiteStore(path: path))
      let room = try await alice.make(NewRoom(preset: .publicChat, name: "Tea"))
      try await bob.room(room.id).join()
      await bob.stop()
      let guest = try await StoreGuest(path: path)
      let event = try await room.say("While you slept")
      guard case .content(let content) = try await guest.notification(for: event, in: room.id) else {
        throw Failure("nothing to be told")
      }
      try expect(content.body, is: "While you slept")
      let other = try await alice.make(NewRoom(name: "Cake"))
      try await other.invite(try unwrap(await bob.userID, "user"))
      guard case .content(let invitation) = try await guest.notification(for: event, in: other.id) else {
        throw Failure("no invitation")
      }
      try expect(invitation.body, is: "invited you to Cake")
      await guest.close()
    },
    LiveCase("C3 a thread has a figure of its own", needs: .version(minor: 4)) { stage in
      let (alice, bob) = try await stage.pair()
      let root = try await alice.say("Root")
      try await bob.until("one unread") { $0.notificationCount == 1 }
      try await alice.send(OutgoingMessage.text("In the thread").inThread(.event(root)))
      try await bob.until("one unread in the thread") { $0.unreadCounts.threads[root]?.notifications == 1 }
      try expect(await bob.state?.unreadCounts.main.notifications, is: 1)
    },
    LiveCase("C3 messages of others count as unread until they are read") { stage in
      let (alice, bob) = try await stage.pair()
      for number in 1...3 { try await alice.say("Message \(number)") }
      try await bob.until("three unread") { $0.notificationCount == 3 }
      try expect(await alice.state?.notificationCount, is: 0)
      let last = try await bob.item(saying: "Message 3")
      try await bob.client.perform(.reading(.viewed(bob.id, upTo: last.id)))
      try await bob.until("none unread") { $0.notificationCount == 0 }
      let other = try await stage.device(of: bob.client).room(bob.id)
      try await other.until("none unread on a new device") { $0.notificationCount == 0 }
    }
  ]
}

extension MatrixClient {
  /// Looks after every change until its push rules are so.
  func untilRules(_ what: String, _ isSo: @Sendable (PushRuleSet) -> Bool) async throws {
    _ = try await until(what) { client in isSo(client.pushRuleSet) ? true : nil }
  }
}

extension PushRule {
  var sounding: PushActions? {
    (try? JSON.parse(Array(#"["notify",{"set_tweak":"sound","value":"default"}]"#.utf8))).flatMap { PushActions($0) }
  }
}

extension Stage {
  nonisolated func pushDevice(_ gateway: String) -> PushDevice {
    PushDevice(
      token: Array(fresh("token").utf8), applicationID: "org.example.live", isDevelopment: true, gateway: gateway,
      applicationName: "Live", deviceName: "Suite", sendsEventIDOnly: false)
  }
}

/// A push gateway that the server under test may use, and that tells what it heard: `LIVE_PUSH_GATEWAY`.
struct PushGateway {
  let url: String

  static var given: PushGateway? { getenv("LIVE_PUSH_GATEWAY").map { PushGateway(url: String(cString: $0)) } }

  /// IDs of events, in the order in which they were told to that key.
  func events(for key: ByteString) async throws -> [String] {
    let request = HTTPRequest(
      method: .get, target: "/calls", body: nil, contentType: nil, accessToken: nil, timeoutMilliseconds: 5_000)
    guard case .answer(200, let body) = await standardTransport().carry(Exchange(request, to: url)) else {
      throw Failure("the gateway does not answer")
    }
    return try JSON.parse(body)["calls"]?.elements.filter { $0["pushkey"]?.text == key }
      .compactMap { $0["event_id"]?.string } ?? []
  }
}
