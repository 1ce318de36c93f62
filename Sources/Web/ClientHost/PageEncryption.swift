import ClientCore
import EncryptionLink
import JSON
import MatrixModel
import WebHost

/// End-to-end encryption in the page, as `MatrixClient` has it: what the client is given is clear text, and what it sends to encrypted rooms is
/// encrypted first. The machine is in a Worker (`Sources/Web/EncryptionWorker`), loaded when the account has first something encrypted. It has
/// neither network nor store: this carries out what it wants. Documentation/Decisions/0023-encryption.md
package final class PageEncryption {
  private static let account: ByteString = "e/account"
  /// Of records that no load of the client waits for.
  private static let noLoad = LoadID.max

  /// Gives the client an input.
  package var answer: (Input) -> Void = { _ in }
  /// Asks the homeserver in the client's name.
  package var ask: (QueryRequest, @escaping (QueryResult) -> Void) -> Void = { _, _ in }
  /// Likewise, with the person's password where the server wants it.
  package var askSurely: (QueryRequest, @escaping (QueryResult) -> Void) -> Void = { _, _ in }
  /// The client has to go on without encryption.
  package var onLost: () -> Void = {}
  /// What views show; nil while the machine is not there.
  package private(set) var state: EncryptionReport.State?
  package var onState: () -> Void = {}
  /// Those under way, and those that have ended until `VerificationAction.cancel` forgets them; the oldest first.
  package private(set) var verifications: [EncryptionReport.Verification] = []
  package var onVerifications: () -> Void = {}
  /// A machine that is new here can be told of what came before it (`review`).
  package var onNew: () -> Void = {}
  /// Keys came for messages of the room.
  package var onLate: (RoomID) -> Void = { _ in }
  /// Another device has sent the page something.
  package var onReceived: (ReceivedDeviceEvent) -> Void = { _ in }
  /// Records whose keys begin so; replaced in tests, as is the next.
  package var read: (ByteString, @escaping ([StoreRecord]) -> Void) -> Void = { _, _ in }
  /// Writes what is held, if anything is.
  package var write: () -> Void = {}
  /// Makes the Worker and sets `send`; replaced in tests.
  package lazy var connect: () -> Void = { [self] in
    let port = EncryptionPort({ [self] in heard($0) }, onEnd: { [self] in lose() })
    self.port = port
    send = { port.send($0) }
  }
  /// Says something to the Worker; nil while there is none.
  package var send: (([UInt8]) -> Void)?

  private var port: EncryptionPort?
  private var owner: Session?
  /// Whether an earlier page has left a device here. Then nothing may pass it by: the keys of messages come once.
  private var hasDevice = false
  /// Whether the machine has said something.
  private var isReady = false
  private var isLost = false
  /// What waits for the machine.
  private var answers: IDTable<[UInt8]> = [:]
  private var loads: IDTable<[StoreRecord]> = [:]
  /// Records that a search reads, and who gets them.
  private var openings: IDTable<(records: [StoreRecord], then: ([StoreRecord]) -> Void)> = [:]
  /// The client counts its own from below.
  private var lastOpening = PageEncryption.noLoad
  private var messages: [UInt64: UnencryptedContent] = [:]
  /// Rooms that the machine was told of because it had not seen that they are encrypted.
  private var toldRooms: Set<RoomID> = []
  private var actions: [UInt64: (EncryptionReport.Outcome?) -> Void] = [:]
  private var progresses: [UInt64: (_ done: Int, _ count: Int) -> Void] = [:]
  private var lastAction: UInt64 = 0
  /// The action for which the person may be asked for the password.
  private var resetting: UInt64?
  private var wakeTimer: (at: Int64, task: HostTask)?

  /// What the machine wants to be stored, and what happens once it is.
  private var held = EncryptionReport.Step()

  package init() {}

  // MARK: Beginning and end

  /// Looks for a device of an earlier page, before the client starts.
  package func prepare(_ then: @escaping () -> Void) {
    read(Self.account) { [self] records in
      hasDevice = !records.isEmpty
      then()
    }
  }

  /// Whose session it is; nil if there is none.
  package func follow(_ session: Session?) {
    if let owner, owner.userID != session?.userID || owner.deviceID != session?.deviceID {
      stop()
      isLost = false
      hasDevice = false
    }
    let isNew = owner == nil
    owner = session
    if isNew, hasDevice { begin() }
  }

  package var isBegun: Bool { send != nil || isLost }

  /// There is something encrypted now.
  package func begin() {
    guard let owner, !isBegun else { return }
    connect()
    say(.begin(user: owner.userID.text, device: owner.deviceID.text))
  }

  /// Nothing more is said or written: another page has the store now.
  package func close() {
    stop()
    isLost = true
  }

  private func stop() {
    port = nil
    send = nil
    isReady = false
    wakeTimer?.task.cancel()
    wakeTimer = nil
    held = EncryptionReport.Step()
    (answers, loads, messages, toldRooms) = ([:], [:], [:], [])
    let opened = openings
    openings = [:]
    for opening in opened.values { opening.then(opening.records) }
    state = nil
    if !verifications.isEmpty {
      verifications = []
      onVerifications()
    }
    let ended = actions
    (actions, progresses) = ([:], [:])
    for then in ended.values { then(nil) }
  }

  /// It cannot be loaded, has stopped, or the store does not take what it has to keep: to go on would be to use keys twice.
  package func lose() {
    guard !isLost, send != nil else { return }
    isLost = true
    let (answers, loads, messages) = (answers, loads, messages)
    stop()
    onLost()
    for (id, body) in zip(answers.keys, answers.values) { answer(.response(id, .answer(status: 200, body: body))) }
    for (id, records) in zip(loads.keys, loads.values) { answer(.loaded(id, records)) }
    for id in messages.keys { answer(.notEncrypted(id, .encryptedRoom)) }
  }

  private func say(_ request: EncryptionRequest) { send?(request.bytes(at: Host.wallClockMilliseconds())) }

  // MARK: What passes through

  /// Whether the client gets the answer, with status 200, from here.
  package func takes(_ body: [UInt8], to target: String, _ id: RequestID) -> Bool {
    guard isOn, Self.mayBeEncrypted(target) else { return false }
    answers[id] = body
    say(.answer(id, target: ByteString(target), body: body))
    return true
  }

  /// Whether the client gets the records from here.
  package func takes(_ records: [StoreRecord], _ id: LoadID) -> Bool {
    guard isOn, let room = records.first.flatMap({ TimelineRecord.room(of: $0.key) }) else { return false }
    loads[id] = records
    say(.records(id, room: room.text, records.map { LinkRecord(key: $0.key, value: $0.value) }))
    return true
  }

  /// Decrypts records of the room's timeline as far as there are keys now.
  package func decrypt(_ records: [StoreRecord], of room: RoomID, _ then: @escaping ([StoreRecord]) -> Void) {
    guard isOn else { return then(records) }
    lastOpening -= 1
    openings[lastOpening] = (records, then)
    say(.records(lastOpening, room: room.text, records.map { LinkRecord(key: $0.key, value: $0.value) }))
  }

  /// Shows the machine what the client has stored of a room: keys that come later can be for that.
  package func review(_ room: RoomID) {
    read(TimelineRecord.prefix(of: room)) { [self] records in
      guard send != nil, !records.isEmpty else { return }
      say(.records(Self.noLoad, room: room.text, records.map { LinkRecord(key: $0.key, value: $0.value) }))
    }
  }

  /// A machine that begins has missed nothing yet: the client need not wait until it is loaded.
  private var isOn: Bool { send != nil && (isReady || hasDevice) }

  /// Syncs, and what has events of rooms. Lists of members are long, and have none.
  private static func mayBeEncrypted(_ target: String) -> Bool {
    let path = target.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1).first ?? target.utf8[...]
    let parts = path.split(separator: UInt8(ascii: "/"))
    guard let last = parts.last else { return false }
    if last.elementsEqual("members".utf8) || last.elementsEqual("joined_members".utf8) { return false }
    return parts.contains {
      $0.elementsEqual("rooms".utf8) || $0.elementsEqual("sync".utf8) || $0.elementsEqual("search".utf8)
        || $0.elementsEqual("notifications".utf8)
    }
  }

  package func encrypt(_ message: UnencryptedMessage, _ id: SendID) {
    begin()
    guard send != nil else { return answer(.notEncrypted(id, .encryptedRoom)) }
    let content = UnencryptedContent(
      room: message.room.text, users: message.users.map { $0.text }, sharesHistory: message.sharesHistory,
      type: message.type.text, content: message.content)
    messages[id] = content
    say(.encrypt(id, content))
  }

  /// Somebody begins to write. The Worker is loaded meanwhile.
  package func prepare(for readers: MessageReaders) {
    begin()
    say(.prepare(room: readers.room.text, users: readers.users.map { $0.text }, sharesHistory: readers.sharesHistory))
  }

  /// - Parameters:
  ///   - progress: hears how far it is, if it takes long.
  ///   - then: hears how it ended; nil where there is no machine.
  package func perform(
    _ action: EncryptionAction, progress: @escaping (_ done: Int, _ count: Int) -> Void = { _, _ in },
    _ then: @escaping (EncryptionReport.Outcome?) -> Void
  ) {
    begin()
    guard send != nil else { return then(nil) }
    lastAction += 1
    // Else nobody is asked for a password: it is behind the scenes.
    if action == .resetIdentity { resetting = lastAction }
    actions[lastAction] = then
    progresses[lastAction] = progress
    say(.command(lastAction, action))
  }

  package func networkIsBack() { say(.reachable) }

  // MARK: What the machine says

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
    if isFirst { perform(.offer(showsCodes: true, scansCodes: CodeReader.isPossible)) { _ in } }
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

  private func deliver(_ delivery: EncryptionReport.Delivery) {
    switch delivery {
    case .answer(let id, let body):
      answers[id] = nil
      answer(.response(id, .answer(status: 200, body: body)))
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
      guard let room = RoomID(room) else { return }
      answer(.decrypted(room, events.compactMap { try? JSON.parse($0) }))
      onLate(room)
    case .received(let event): onReceived(event)
    case .ended(let number, let outcome):
      if resetting == number { resetting = nil }
      progresses[number] = nil
      actions.removeValue(forKey: number)?(outcome)
    case .progress(let number, let done, let count):
      progresses[number]?(Int(done), Int(count))
      say(.proceed(number))
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

  // MARK: Store, requests and time

  /// What goes into the store before the client's own changes, and what to call when the batch is, or is not, stored. nil where nothing is held.
  package func takeHeld() -> (changes: [StoreOperation], then: (Bool) -> Void)? {
    guard !held.changes.isEmpty || !held.later.isEmpty || !held.requests.isEmpty else { return nil }
    let step = held
    held = EncryptionReport.Step()
    return (step.changes.map { StoreOperation($0) }, { [self] in release(step, isStored: $0) })
  }

  private func release(_ step: EncryptionReport.Step, isStored: Bool) {
    guard send != nil else { return }
    guard isStored else { return lose() }
    for delivery in step.later { deliver(delivery) }
    for request in step.requests { ask(request) }
  }

  private func ask(_ request: EncryptionReport.Request) {
    let method = Endpoint.Method(rawValue: request.method) ?? .get
    let body = request.body.isEmpty ? nil : request.body
    let endpoint = Endpoint(method, "", rateLimited: true)
    let query = QueryRequest(endpoint: endpoint, target: request.target.string, body: body)
    let way = resetting == nil ? ask : askSurely
    way(query) { [self] result in
      switch result {
      case .answer(let json): say(.answered(request.id, body: Array(json.bytes)))
      case .failed(let error): say(.failed(request.id, isFinal: error.isFinal))
      }
    }
  }

  private func load(_ prefixes: [ByteString]) {
    var found: [LinkRecord] = []
    var left = prefixes.count
    for prefix in prefixes {
      read(prefix) { [self] records in
        for record in records { found.append(LinkRecord(key: record.key, value: record.value)) }
        left -= 1
        if left == 0 { say(.loaded(found)) }
      }
    }
  }

  private func setWakeTimer(_ at: Int64?) {
    guard wakeTimer?.at != at else { return }
    wakeTimer?.task.cancel()
    wakeTimer = nil
    guard let at else { return }
    let task = Host.after(milliseconds: Double(max(0, at - Host.wallClockMilliseconds()))) { [self] in
      wakeTimer = nil
      say(.woken)
    }
    wakeTimer = (at, task)
  }
}

extension StoreOperation {
  fileprivate init(_ change: EncryptionReport.Change) {
    switch change {
    case .put(let record): self = .put(key: record.key, value: record.value)
    case .delete(let key): self = .delete(key: key)
    }
  }
}
