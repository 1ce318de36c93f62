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
  static let noLoad = LoadID.max

  /// Gives the client an input.
  package var answer: (Input) -> Void = { _ in }
  /// Asks the homeserver in the client's name.
  package var ask: (QueryRequest, @escaping (QueryResult) -> Void) -> Void = { _, _ in }
  /// Likewise, with the person's password where the server wants it.
  package var askSurely: (QueryRequest, @escaping (QueryResult) -> Void) -> Void = { _, _ in }
  /// The client has to go on without encryption.
  package var onLost: () -> Void = {}
  /// What views show; nil while the machine is not there.
  package internal(set) var state: EncryptionReport.State?
  package var onState: () -> Void = {}
  /// Whether the server still builds the Worker's program, as it does in the first minutes after `./run` was started for the first time.
  package private(set) var isBuilding = false
  /// Those under way, and those that have ended until `VerificationAction.cancel` forgets them; the oldest first.
  package internal(set) var verifications: [EncryptionReport.Verification] = []
  package var onVerifications: () -> Void = {}
  /// Something about the keys of a user. What stays is in `state`, and known by `EncryptionAction.inspect`.
  package var onNews: (EncryptionReport.News) -> Void = { _ in }
  /// A machine that is new here can be told of what came before it (`review`).
  package var onNew: () -> Void = {}
  /// Keys came for messages of the room.
  package var onLate: (RoomID) -> Void = { _ in }
  /// Another device has sent the page something.
  package var onReceived: (ReceivedDeviceEvent) -> Void = { _ in }
  /// The inviter offers the keys of a room's history, at an `EncryptedFile`.
  var onHistory: (_ file: [UInt8], _ room: ByteString, _ giver: ByteString) -> Void = { _, _, _ in }
  /// Records whose keys begin with one of these, at once; replaced in tests, as is the next.
  package var read: ([ByteString], @escaping ([StoreRecord]) -> Void) -> Void = { _, _ in }
  /// Asks the browser to keep the keys; replaced in tests.
  package var keepStore: () -> Void = { Host.learnStorageKeeping(asks: true) { _ in } }
  /// Writes what is held, if anything is.
  package var write: () -> Void = {}
  /// Makes the Worker and sets `send`; replaced in tests.
  package lazy var connect: () -> Void = { [self] in
    let port = EncryptionPort(
      { [self] in heard($0) }, onBuilding: { [self] in setBuilding($0) }, onEnd: { [self] in lose() })
    self.port = port
    send = { port.send($0) }
  }
  /// Says something to the Worker; nil while there is none.
  package var send: (([UInt8]) -> Void)?

  private var port: EncryptionPort?
  private var owner: Session?
  /// Whether an earlier page has left a device here. Then nothing may pass it by: the keys of messages come once.
  package internal(set) var hasDevice = false
  /// Whether the machine has said something.
  var isReady = false
  private var isLost = false
  private var builtWaiters: [() -> Void] = []
  /// What waits for the machine.
  var answers: IDTable<[UInt8]> = [:]
  var loads: IDTable<[StoreRecord]> = [:]
  /// Records that a search reads, and who gets them.
  var openings: IDTable<(records: [StoreRecord], then: ([StoreRecord]) -> Void)> = [:]
  /// The client counts its own from below.
  private var lastOpening = PageEncryption.noLoad
  var messages: [UInt64: UnencryptedContent] = [:]
  /// Rooms that the machine was told of because it had not seen that they are encrypted.
  var toldRooms: Set<RoomID> = []
  var actions: [UInt64: (EncryptionReport.Outcome?) -> Void] = [:]
  var progresses: [UInt64: (_ done: Int, _ count: Int) -> Void] = [:]
  private var lastAction: UInt64 = 0
  /// The action for which the person may be asked for the password.
  var resetting: UInt64?
  var wakeTimer: (at: Int64, task: HostTask)?

  /// Events whose keys came late.
  lazy var late = LateEvents(
    { [self] in answer(.decrypted($0, $1)) }, onRoom: { [self] in onLate($0) })

  /// What the machine wants to be stored, and what happens once it is.
  var held = EncryptionReport.Step()

  package init() {}

  // MARK: Beginning and end

  /// Looks for a device of an earlier page, before the client starts.
  package func prepare(_ then: @escaping () -> Void) {
    read([Self.account]) { [self] records in
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

  package func setBuilding(_ isBuilding: Bool) {
    guard isBuilding != self.isBuilding else { return }
    self.isBuilding = isBuilding
    onState()
    guard !isBuilding else { return }
    let waiting = builtWaiters
    builtWaiters = []
    for then in waiting { then() }
  }

  /// Calls `then` once the program is there, or nothing comes of it any more.
  package func whenBuilt(_ then: @escaping () -> Void) {
    if isBuilding { builtWaiters.append(then) } else { then() }
  }

  private func stop() {
    port = nil
    send = nil
    isReady = false
    setBuilding(false)
    wakeTimer?.task.cancel()
    wakeTimer = nil
    held = EncryptionReport.Step()
    late.forget()
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
    late.finish()
    stop()
    onLost()
    for (id, body) in zip(answers.keys, answers.values) { answer(.response(id, .answer(status: 200, body: body))) }
    for (id, records) in zip(loads.keys, loads.values) { answer(.loaded(id, records)) }
    for id in messages.keys { answer(.notEncrypted(id, .encryptedRoom)) }
  }

  func say(_ request: EncryptionRequest) { send?(request.bytes(at: Host.wallClockMilliseconds())) }

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
    read([TimelineRecord.prefix(of: room)]) { [self] records in
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

  /// The user accepts an invitation of that user: what they offer of the room's history is wanted.
  package func accept(_ room: RoomID, from inviter: UserID) { say(.accepted(room: room.text, from: inviter.text)) }

  package func networkIsBack() { say(.reachable) }
}
