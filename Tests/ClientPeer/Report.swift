import MatrixClient

/// What a client believes of its room, gaps filled and paged back as far as it is asked for.
struct Report {
  private let room: Room
  private let first: Int
  private let running: Int
  private var threads: [(root: EventID, timeline: Timeline)] = []

  /// - Parameters:
  ///   - since: the first event of the timeline; nil for the start of the room.
  ///   - threads: roots of threads that are read as well, whole.
  ///   - running: commands that wait for the server.
  init(of handle: MatrixRoom, since: EventID?, threads: [EventID], running: Int) async throws(ClientError) {
    let timeline = handle.timeline()
    try await timeline.open()
    while try await !Report.grow(timeline, to: since) {}
    for root in threads {
      let thread = handle.timeline(.thread(root))
      try await thread.open()
      while try await thread.paginateBack() {}
      if let state = await thread.state { self.threads.append((root, state)) }
      try await thread.close()
    }
    try await handle.loadMembers()
    guard let room = await handle.state else { throw .unknownRoom }
    self.room = room
    self.running = running
    first = since.flatMap { room.timeline.index(of: $0) } ?? 0
  }

  /// One step; true where there is nothing left to do.
  private static func grow(_ timeline: MatrixTimeline, to since: EventID?) async throws(ClientError) -> Bool {
    guard let state = await timeline.state else { throw .unknownRoom }
    let first = since.flatMap { state.index(of: $0) }
    if let gap = state.items.dropFirst(first ?? 0).first(where: { $0.isGap }) {
      try await timeline.fillGap(gap.id)
      return false
    }
    if first != nil || state.backState == .atStart { return true }
    if state.backState == .loading {
      for await room in await timeline.room.states(of: .pagination) where room.timeline.backState != .loading { break }
    } else {
      try await timeline.paginateBack()
    }
    return false
  }

  // MARK: Writing

  func write(to writer: inout JSONWriter) {
    writer.member("membership", "\(room.membership.name)")
    writer.member("unread", room.notificationCount)
    writer.member("highlights", room.highlightCount)
    let items = room.timeline.items.dropFirst(first)
    writer.member("running", running)
    writer.key("sending")
    writer.array { writer in for item in items where item.isOnItsWay { writer.write(item.way) } }
    writer.member("failed", items.count { $0.hasFailed })
    writer.key("timeline")
    Report.write(items, to: &writer)
    writer.key("threads")
    writer.object { writer in
      for (root, timeline) in threads {
        writer.key(root)
        Report.write(timeline.items[...], to: &writer)
      }
    }
    writeMembers(to: &writer)
    writer.key("receipts")
    writer.object { writer in
      for item in items {
        guard let event = item.eventID else { continue }
        for user in room.timeline.readers(at: item.id) { writer.key(user); writer.write(event) }
      }
    }
  }

  private func writeMembers(to writer: inout JSONWriter) {
    writer.key("members")
    writer.object { writer in
      for member in room.members + room.bannedMembers {
        writer.key(member.userID)
        writer.array { writer in
          writer.write("\(member.membership.name)")
          writer.write(room.displayName(of: member.userID))
        }
      }
    }
  }

  private static func write(_ items: ArraySlice<TimelineItem>, to writer: inout JSONWriter) {
    writer.array { writer in
      for item in items where item.isReceived {
        writer.object { item.write(to: &$0) }
      }
    }
  }
}

extension TimelineItem {
  fileprivate var isGap: Bool { if case .gap = content { true } else { false } }
  fileprivate var isReceived: Bool { if case .received = delivery { true } else { false } }

  /// Of itself and of what is said of it.
  private var deliveries: [Delivery] {
    switch pendingChange {
    case .edit(let other), .redaction(let other): [delivery, other]
    case nil: [delivery]
    }
  }

  fileprivate var hasFailed: Bool {
    deliveries.contains { if case .failed = $0 { true } else { false } }
  }

  fileprivate var isOnItsWay: Bool {
    reactions.contains { $0.isPending }
      || deliveries.contains { delivery in
        switch delivery {
        case .received, .failed: false
        case .queued, .held, .uploading, .sending, .sent: true
        }
      }
  }

  /// For a person to read.
  fileprivate var way: String {
    let pending = reactions.filter { $0.isPending }.map { $0.key.string }
    return "\(eventID?.text.string ?? "no event"): \(delivery) \(pendingChange.map { "\($0)" } ?? "") \(pending)"
  }

  fileprivate func write(to writer: inout JSONWriter) {
    if let eventID { writer.member("event", eventID) }
    writer.member("sender", sender)
    switch content {
    case .message(let message):
      writer.member("kind", "message")
      writer.member("text", message.body)
    case .state: writer.member("kind", "state")
    case .redacted: writer.member("kind", "redacted")
    case .undecryptable(let reason):
      writer.member("kind", "other")
      writer.member("reason", reason.name)
    case .call, .custom, .unparsable, .verification: writer.member("kind", "other")
    case .gap: writer.member("kind", "gap")
    }
    writer.member("edited", isEdited)
    if let trust { writer.member("trust", trust.name) }
    if let replyTo { writer.member("reply", replyTo) }
    if let threadRoot { writer.member("root", threadRoot) }
    if let thread { writer.member("replies", thread.count) }
    writer.key("reactions")
    writer.object { writer in
      for reaction in reactions {
        writer.key(reaction.key)
        writer.array { writer in for sender in reaction.senders { writer.write(sender) } }
      }
    }
  }
}

extension Report {
  static func write(_ diagnostics: EncryptionDiagnostics, to writer: inout JSONWriter) {
    writer.key("unread")
    writer.object { writer in
      for (reason, unread) in diagnostics.unread {
        writer.key(reason.name)
        writer.write(Int64(unread.longestWait.components.seconds))
      }
    }
    writer.member("ever_unread", diagnostics.everUnread)
    writer.member("late", diagnostics.late.count)
    writer.member("later_than_a_minute", diagnostics.late.later)
    writer.member("longest_ms", Int64(diagnostics.late.longest / .milliseconds(1)))
    writer.member("repaired", diagnostics.repairedSessions)
    writer.member("refused", diagnostics.refusedDevices)
  }
}
