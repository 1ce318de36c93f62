import MatrixClient

/// What is unread, in each way of syncing: as the server counts it, or as the client does where the server cannot or does not.
extension LiveCase {
  static let unreadCounts = [SyncMode.v3, .sliding].flatMap { mode in
    let way = mode == .v3 ? "v3" : "sliding"
    let need: Need? = mode == .sliding ? .slidingSync : nil
    return [
      LiveCase("C3 (\(way)) unread messages and mentions are counted until they are read, on every device", needs: need) {
        stage in
        let (alice, bob) = try await stage.pair(mode)
        let other = try await stage.device(of: bob.client, syncMode: mode).room(bob.id)
        for number in 1...3 { try await alice.say("Message \(number)") }
        for room in [bob, other] {
          try await room.until("three unread") { $0.notificationCount == 3 && $0.highlightCount == 0 }
        }
        let mention = #"{"msgtype":"m.text","body":"You","m.mentions":{"user_ids":["\#(try await bob.client.ownID)"]}}"#
        try await alice.send(.message, Array(mention.utf8)).sent()
        for room in [bob, other] { try await room.until("a mention") { $0.notificationCount == 4 && $0.highlightCount == 1 } }
        let third = try await bob.item(saying: "Message 3")
        try await bob.client.perform(.reading(.viewed(bob.id, upTo: third.id)))
        for room in [bob, other] { try await room.until("one is left") { $0.notificationCount == 1 && $0.highlightCount == 1 } }
        try await bob.say("An answer")
        // Synapse does not take it for a receipt, which it is (Spec: "Receiving notifications").
        try await bob.client.perform(.reading(.viewed(bob.id, upTo: try await bob.item(saying: "An answer").id)))
        for room in [bob, other] {
          try await room.until("none is left") { $0.notificationCount == 0 && $0.highlightCount == 0 }
        }
        try expect(await alice.until("the answer") { $0.notificationCount > 0 }.notificationCount, is: 1)
        let newcomer = try await stage.device(of: alice.client, syncMode: mode).room(alice.id)
        try await newcomer.until("the answer") { $0.notificationCount == 1 }
      },
      LiveCase("C3 (\(way)) an encrypted room counts messages that nobody here can read, and no edits", needs: need) { stage in
        let (alice, bob) = try await stage.pair(mode)
        try await alice.setState("m.room.encryption", Array(#"{"algorithm":"m.megolm.v1.aes-sha2"}"#.utf8))
        try await bob.until("it is encrypted") { $0.isEncrypted }
        let other = try await stage.device(of: bob.client, syncMode: mode).room(bob.id)
        let first = try await alice.sendEncrypted()
        try await alice.sendEncrypted(#","m.relates_to":{"rel_type":"m.replace","event_id":"\#(first)"}"#)
        let root = try await alice.sendEncrypted()
        let reply = try await alice.sendEncrypted(#","m.relates_to":{"rel_type":"m.thread","event_id":"\#(root)"}"#)
        for room in [bob, other] {
          try await room.client.perform(.timeline(.openRoom(room.id)))
          try await room.until("the last one") { $0.timeline.item(at: reply) != nil }
          try await room.until("three unread, one of them in a thread") { state in
            state.notificationCount == 3 && state.highlightCount == 0 && state.unreadCounts.threads[root]?.notifications == 1
          }
        }
        _ = try await bob.item("the second one") { $0.eventID == root }
        let last = try unwrap(await bob.state?.timeline.items.last { $0.eventID != nil }, "last item")
        try await bob.client.perform(.reading(.viewed(bob.id, upTo: last.id)))
        try await bob.until("none unread in the room") { $0.unreadCounts.main.notifications == 0 }
        try await other.until("none unread in the room") { $0.unreadCounts.main.notifications == 0 }
        try await alice.sendEncrypted()
        for room in [bob, other] { try await room.until("one unread in the room") { $0.unreadCounts.main.notifications == 1 } }
      }
    ]
  }
}

extension Stage {
  /// Two accounts that sync in that way, in a room that the first one made.
  func pair(_ mode: SyncMode) async throws -> (alice: MatrixRoom, bob: MatrixRoom) {
    let made = try await user("alice", syncMode: mode).make(NewRoom(preset: .publicChat))
    let joined = try await user("bob", syncMode: mode).room(made.id)
    try await joined.join()
    for room in [made, joined] { try await room.until("both are members") { $0.joinedMemberCount == 2 } }
    return (made, joined)
  }
}

extension MatrixRoom {
  /// What no client can read.
  @discardableResult
  fileprivate func sendEncrypted(_ relation: String = "") async throws -> EventID {
    let content =
      #"{"algorithm":"m.megolm.v1.aes-sha2","ciphertext":"AwgAEnACgAkLmt6q","session_id":"X3lUlvLELLYxeTx4yOVu6UDpasGEVO0J","#
      + #""sender_key":"IlRMeOPX2e0MurIyfWEucYBRVOEEUMrOHqn/8mLqMjA","device_id":"RJYKSTBOIE"\#(relation)}"#
    return try await send(.encrypted, Array(content.utf8)).sent()
  }
}
