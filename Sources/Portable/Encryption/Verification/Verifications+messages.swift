import JSON
import MatrixModel
import Olm

/// What the other sides say, and which verification it belongs to.
extension Verifications {
  mutating func take(
    _ message: VerificationMessage, knowing known: VerificationRun.Knowledge, record: ByteString,
    random: inout SecretSource, at now: Int64
  ) {
    expire(at: now)
    guard isRecent(message, at: now) else { return }
    let isFirst = !held.contains { $0.message.transaction == message.transaction }
    if isFirst, knows(message, known) { return read(message, knowing: known, record: record, random: &random, at: now) }
    guard held.count < Self.heldLimit, !isOwnEcho(message, known) else { return }
    held.append(Held(message: message, since: now))
    if message.device != nil { unknownUsers.insert(message.sender) }
  }

  /// The lists of users are known anew.
  mutating func learned(
    knowing known: VerificationRun.Knowledge, record: (ByteString) -> ByteString, random: inout SecretSource, at now: Int64
  ) {
    guard !held.isEmpty else { return }
    let waiting = held
    held = []
    for entry in waiting {
      let (message, isCurrent) = (entry.message, known.tracker.outdated(among: [entry.message.sender]).isEmpty)
      let isFirst = !held.contains { $0.message.transaction == message.transaction }
      if isFirst, knows(message, known) {
        read(message, knowing: known, record: record(message.transaction), random: &random, at: now)
      } else if !isFirst || !isCurrent || !entry.isAsked {
        var entry = entry
        if isFirst, !entry.isAsked { unknownUsers.insert(message.sender) }
        entry.isAsked = true
        held.append(entry)
      } else if let place = place(of: message) {
        runs[place].cancel(.keyMismatch)
        collect(place)
      }
    }
  }

  /// A device that a message names is known, or the message names none.
  private func knows(_ message: VerificationMessage, _ known: VerificationRun.Knowledge) -> Bool {
    guard let device = message.device, !isOwnEcho(message, known) else { return true }
    return known.tracker.isTracked(message.sender) && known.tracker.outdated(among: [message.sender]).isEmpty
      && known.tracker.device(device, of: message.sender) != nil && known.identities.identity(of: message.sender) != nil
  }

  private func isOwnEcho(_ message: VerificationMessage, _ known: VerificationRun.Knowledge) -> Bool {
    message.sender == known.own.user && message.device == known.own.device
  }

  private func isRecent(_ message: VerificationMessage, at now: Int64) -> Bool {
    guard let timestamp = message.timestamp else { return message.kind != .request }
    return timestamp > now - VerificationRun.patienceMilliseconds && timestamp <= now + VerificationRun.clockMilliseconds
  }

  private func place(of message: VerificationMessage) -> Int? {
    runs.firstIndex { $0.transaction == message.transaction && $0.view.room == message.room }
  }

  private mutating func read(
    _ message: VerificationMessage, knowing known: VerificationRun.Knowledge, record: ByteString,
    random: inout SecretSource, at now: Int64
  ) {
    if message.kind == .request, message.room != nil, isOwnEcho(message, known) { return noteEcho(of: message) }
    guard let place = place(of: message) else {
      switch message.kind {
      case .request, .start: return offered(message, knowing: known, record: record, random: &random, at: now)
      case .cancel, .done: return
      default: return refuse(message, known)
      }
    }
    let wasRequested = { if case .requested = runs[place].phase { true } else { false } }()
    runs[place].take(message, knowing: known, random: &random)
    let id = runs[place].view.id
    collect(place)
    if wasRequested, message.kind == .ready { endOthers(than: id) }
  }

  /// The other side asks, or begins without asking.
  private mutating func offered(
    _ message: VerificationMessage, knowing known: VerificationRun.Knowledge, record: ByteString,
    random: inout SecretSource, at now: Int64
  ) {
    guard let device = message.device, !isOwnEcho(message, known) else { return }
    let isOwn = message.sender == known.own.user
    // Between own devices by events for devices, else in rooms, and for this user.
    guard isOwn == (message.room == nil), known.identities.own.identity != nil else { return }
    if message.room != nil, message.kind != .request || message.content.text("to") != known.own.user.text { return }
    let sameSide = runs.indices.filter {
      !runs[$0].isOver && !runs[$0].view.isOurs && runs[$0].view.user == message.sender && runs[$0].view.device == device
    }
    let unanswered = runs.count { !$0.isOver && !$0.view.isOurs && $0.view.user == message.sender }
    guard unanswered < Self.requestsOfUser, makeRoom() else { return }
    let begun = min(message.timestamp ?? now, now)
    var run = run(
      with: message.sender, message.room, device: device, isOurs: false, record: record, known.own,
      end: begun + VerificationRun.patienceMilliseconds, random: &random)
    run.transaction = message.transaction
    run.view.deadline = min(run.end, now + VerificationRun.answerMilliseconds)
    run.taken.insert(message.digest)
    if message.kind == .start {
      run.phase = .offered(message.content)
    } else {
      guard let methods = VerificationMethods(message.content["methods"]) else { return }
      run.otherMethods = methods
    }
    append(run)
    // A device can take part in one at a time: none of them goes on.
    guard !sameSide.isEmpty else { return }
    for place in sameSide + [runs.count - 1] {
      runs[place].cancel(.unexpectedMessage)
      collect(place)
    }
  }

  /// Nothing is known of the verification. It is said once, to all of the user's devices: who has sent it is not known either.
  private mutating func refuse(_ message: VerificationMessage, _ known: VerificationRun.Knowledge) {
    // In rooms others verify each other.
    guard message.room == nil, message.sender == known.own.user, !refused.contains(message.transaction) else { return }
    refused.append(message.transaction)
    if refused.count > Self.refusedLimit { refused.removeFirst() }
    let content = try? JSON.object { writer in
      writer.member("transaction_id", message.transaction)
      writer.member("code", CancelReason.unknownTransaction.code)
      writer.member("reason", CancelReason.unknownTransaction.text)
    }
    guard let content else { return }
    let devices = known.tracker.devices(of: known.own.user).map { $0.device }.filter { $0 != known.own.device }
    outgoing.append(
      Outgoing(
        id: 0, user: known.own.user, room: nil,
        message: VerificationRun.Outgoing(kind: .cancel, content: content, devices: devices)))
  }
}
