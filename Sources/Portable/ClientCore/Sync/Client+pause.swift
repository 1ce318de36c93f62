/// Resting: no request, no timer.
extension Client {
  /// Ends requests and timers. Messages wait, drafts are stored. What somebody waits for ends with `cancelled`.
  mutating func pause(_ command: CommandID) {
    defer { finish(command, .done) }
    guard !isPaused else { return }
    writeDrafts()
    isPaused = true
    endRequests(with: .cancelled) { $0.outlivesPause }
    for entry in outbox.entries where entry.command != 0 {
      finish(entry.command, .queued(entry.id))
      outbox[entry.id]?.command = 0
    }
    outbox.endRequests()
  }

  mutating func resume(_ command: CommandID) {
    defer { finish(command, .done) }
    guard isPaused else { return }
    isPaused = false
    for (id, room) in rooms {
      scheduleExpiry(in: id)
      guard room.reading.isDirty else { continue }
      let timer = startTimer(Limits.receiptIntervalMilliseconds, .receipt(id))
      rooms[id]?.reading.timer = timer
    }
    if sessionState == .signedIn { startSession() }
  }

  /// The person is back: no use in waiting on.
  mutating func becameVisible() {
    guard sessionState == .signedIn, isOnline, syncLoop.timer != nil else { return }
    retrySyncNow()
  }
}

extension RequestPurpose {
  /// A token that the server has exchanged must not get lost, and who signs out wants to be out.
  fileprivate var outlivesPause: Bool {
    switch self {
    case .refreshToken, .logOut, .logOutEverywhere: true
    default: false
    }
  }
}
