import ClientCore
import EncryptionLink
import JSON
import MatrixModel
import WebHost

/// What the machine says, and what the page does then.
extension PageEncryption {
  package func heard(_ message: [UInt8]) {
    guard send != nil else { return }
    do throws(LinkError) {
      switch try EncryptionReport.read(message) {
      case .step(let step): carryOut(step)
      case .plainAnswer(let id):
        if let body = answers.removeValue(forKey: id) { answer(.response(id, .answer(status: 200, body: body))) }
      case .plainRecords(let id):
        if let opening = openings.removeValue(forKey: id) { return opening.then(opening.records) }
        if let records = loads.removeValue(forKey: id) { answer(.loaded(id, records)) }
      }
    } catch {
      lose()
    }
  }

  private func carryOut(_ step: EncryptionReport.Step) {
    let isFirst = !isReady
    isReady = true
    held.changes += step.changes
    held.later += step.later
    held.requests += step.requests
    for delivery in step.deliveries { deliver(delivery) }
    write()
    if !step.loads.isEmpty { load(step.loads) }
    setWakeTimer(step.wakeAt)
    if step.isOver { return lose() }
    if isFirst {
      keepStore()
      perform(.offer(showsCodes: true, scansCodes: CodeReader.isPossible)) { _ in }
    }
    // The account's first device makes its identity.
    if isFirst, !hasDevice {
      perform(.setUpIdentity) { _ in }
      onNew()
    }
    if state != step.state {
      state = step.state
      onState()
    }
    if verifications != step.verifications {
      verifications = step.verifications
      onVerifications()
    }
  }

  func deliver(_ delivery: EncryptionReport.Delivery) {
    switch delivery {
    case .answer(let id, let body):
      answers[id] = nil
      answer(.response(id, .decrypted(body)))
    case .records(let id, let records):
      loads[id] = nil
      guard id != Self.noLoad else { return }
      let clear = records.map { StoreRecord(key: $0.key, value: $0.value) }
      if let opening = openings.removeValue(forKey: id) { return opening.then(clear) }
      answer(.loaded(id, clear))
    case .encrypted(let id, let content):
      messages[id] = nil
      answer(.encrypted(id, content))
    case .blocked(let id, let reason, let user):
      guard let content = messages.removeValue(forKey: id) else { return }
      if reason == .notEncrypted, let room = RoomID(content.room), toldRooms.insert(room).inserted {
        return tell(room, id, content)
      }
      let error: ClientError =
        switch reason {
        case .malformed: .invalidContent
        case .undecided: UserID(user).map { .unconfirmedIdentity($0) } ?? .encryptedRoom
        case .notEncrypted, .unknownAlgorithm, .broken: .encryptedRoom
        }
      answer(.notEncrypted(id, error))
    case .late(let room, let events):
      if let room = RoomID(room) { late.add(events, of: room) }
    case .received(let event): onReceived(event)
    case .news(let news): onNews(news)
    case .ended(let number, let outcome):
      if resetting == number { resetting = nil }
      progresses[number] = nil
      actions.removeValue(forKey: number)?(outcome)
    case .progress(let number, let done, let count):
      progresses[number]?(Int(done), Int(count))
      say(.proceed(number))
    case .history(let room, let giver, let file): onHistory(file, room, giver)
    }
  }

  /// The room was encrypted before there was a machine: the server says how.
  private func tell(_ room: RoomID, _ id: SendID, _ content: UnencryptedContent) {
    messages[id] = content
    let target = Endpoint.getRoomStateWithKey.path(room.text, EventType.encryption.text, "")
    ask(QueryRequest(endpoint: .getRoomStateWithKey, target: target, body: nil)) { [self] result in
      guard messages[id] != nil else { return }
      guard case .answer(let state) = result else {
        messages[id] = nil
        toldRooms.remove(room)
        return answer(.notEncrypted(id, .encryptedRoom))
      }
      say(.encryption(room: room.text, content: Array(state.bytes)))
      say(.encrypt(id, content))
    }
  }
}
