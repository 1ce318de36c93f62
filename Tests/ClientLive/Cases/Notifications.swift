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
    LiveCase("N1 a second pusher of the key and application takes the first one's place") { stage in
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
    LiveCase("N4 what one was notified of is listed, and a mention is a highlight") { stage in
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
    },
    LiveCase("C3 messages of others count as unread until they are read") { stage in
      let (alice, bob) = try await stage.pair()
      for number in 1...3 { try await alice.say("Message \(number)") }
      try await bob.until("three unread") { $0.notificationCount == 3 }
      try expect(await alice.state?.notificationCount, is: 0)
      let last = try await bob.item(saying: "Message 3")
      try await bob.client.perform(.viewed(bob.id, upTo: last.id))
      try await bob.until("none unread") { $0.notificationCount == 0 }
      let other = try await stage.device(of: bob.client).room(bob.id)
      try await other.until("none unread on a new device") { $0.notificationCount == 0 }
    }
  ]
}
