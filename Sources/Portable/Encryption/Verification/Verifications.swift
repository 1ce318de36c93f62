import JSON
import MatrixModel
import Olm

/// All verifications of a device. A value without I/O: the machine sends what is in `outgoing`, and does what `verified` says.
struct Verifications: Sendable {
  /// What the messages of a verification lead to. In a room they are encrypted as all that is written there.
  struct Outgoing: Sendable {
    let id: Verification.ID
    let user: UserID
    let room: RoomID?
    let message: VerificationRun.Outgoing
  }

  /// A message whose device is not known yet, and those that follow it.
  struct Held: Sendable {
    let message: VerificationMessage
    let since: Int64
    /// Whether the list of the sender's devices was asked for again because of it.
    var isAsked = false
  }

  /// Under way and ended ones; requests of one user that nobody has answered; messages that wait.
  static let runsLimit = 16, requestsOfUser = 3, heldLimit = 64
  /// Unknown transactions that were answered.
  static let refusedLimit = 64

  var runs: [VerificationRun] = []
  /// What the client can do.
  var methods = VerificationMethods.all
  var held: [Held] = []
  var refused: [ByteString] = []
  private var lastID: Verification.ID = 0
  var outgoing: [Outgoing] = []
  private(set) var verified: [VerifiedKeys] = []
  /// Records of runs that are forgotten.
  private(set) var removed: [ByteString] = []

  // MARK: What views and the machine see

  var views: [Verification] { runs.filter { !$0.isHidden }.map { $0.view } }

  /// When something is over.
  var deadline: Int64? { (runs.map { $0.deadline } + held.map { $0.since + VerificationRun.answerMilliseconds }).min() }

  /// Users whose lists have to be asked for: a message names a device that they do not have.
  var unknownUsers: Set<UserID> = []

  mutating func takeUnknownUsers() -> [UserID] {
    defer { unknownUsers = [] }
    return unknownUsers.ordered()
  }

  mutating func takeOutgoing() -> [Outgoing] {
    defer { outgoing = [] }
    return outgoing
  }

  mutating func takeVerified() -> [VerifiedKeys] {
    defer { verified = [] }
    return verified
  }

  mutating func takeRemoved() -> [ByteString] {
    defer { removed = [] }
    return removed
  }

  // MARK: The user

  mutating func offer(showsCodes: Bool, scansCodes: Bool) {
    methods = .compare
    if showsCodes { methods.formUnion([.showCode, .reciprocate]) }
    if scansCodes { methods.formUnion([.scanCode, .reciprocate]) }
  }

  /// Asks for a verification.
  mutating func begin(
    with target: VerificationTarget, knowing known: VerificationRun.Knowledge, record: ByteString,
    random: inout SecretSource, at now: Int64
  ) throws(EncryptionFailure) -> Verification.ID {
    guard known.identities.own.identity != nil else { throw .incomplete }
    guard makeRoom() || makeRoomOfUnanswered() else { throw .unusable }
    var (user, room, asked) = (known.own.user, RoomID?.none, [DeviceID]())
    let others = known.tracker.devices(of: user).filter { !$0.isDehydrated }.map { $0.device }.filter { $0 != known.own.device }
    switch target {
    case .ownDevices: asked = others
    case .ownDevice(let device): asked = others.filter { $0 == device }
    case .user(let other, let place):
      guard other != user else { throw .unusable }
      // It could not be signed.
      guard known.identities.own.isVerified, known.identities.own.holds(.userSigning) else { throw .unverified }
      (user, room) = (other, place)
    }
    guard room != nil || !asked.isEmpty else { throw .unusable }
    let transaction = RecordNames.hexadecimal(random.bytes(16)[...])
    var run = run(
      with: user, room, device: nil, isOurs: true, record: record, known.own, end: now + VerificationRun.patienceMilliseconds,
      random: &random)
    run.view.deadline = run.end
    run.asked = asked
    if room == nil { run.transaction = transaction }
    run.say(.request) { [methods] in Self.writeRequest(methods, to: user, in: room, at: now, &$0) }
    append(run)
    return run.view.id
  }

  private static func writeRequest(
    _ methods: VerificationMethods, to user: UserID, in room: RoomID?, at now: Int64, _ writer: inout JSONWriter
  ) {
    writer.array("methods", methods.texts) { $1.write($0) }
    guard room != nil else { return writer.member("timestamp", now) }
    writer.member("msgtype", VerificationMessage.requestType)
    writer.member("to", user)
    writer.member("body", "I would like to verify your keys. Your client does not support that in rooms.")
  }

  mutating func perform(
    _ step: VerificationStep, _ id: Verification.ID, knowing known: VerificationRun.Knowledge, random: inout SecretSource
  ) throws(EncryptionFailure) {
    guard let place = runs.firstIndex(where: { $0.view.id == id }) else { throw .unusable }
    if runs[place].isOver {
      guard step == .cancel else { throw .unusable }
      // What it still has to say is said.
      if runs[place].isClosed { forget(place) } else { runs[place].isHidden = true }
      return
    }
    try runs[place].perform(step, knowing: known, random: &random)
    collect(place)
    if step == .accept { endOthers(than: id) }
  }

  // MARK: Requests in rooms

  /// The event that asks has come back.
  mutating func noteEcho(of message: VerificationMessage) {
    guard let event = message.event, !runs.contains(where: { $0.transaction == message.transaction }),
      let run = runs.first(where: {
        $0.transaction == nil && $0.view.room == message.room && $0.view.user.text == message.content.text("to")
      })
    else { return }
    sent(run.view.id, as: event)
  }

  /// The server has taken the event that asks.
  mutating func sent(_ id: Verification.ID, as event: EventID) {
    guard let place = runs.firstIndex(where: { $0.view.id == id }), runs[place].transaction == nil else { return }
    runs[place].transaction = event.text
    runs[place].isUnstored = true
    // The user has changed their mind meanwhile.
    guard runs[place].isOver, case .cancelled(let cancellation) = runs[place].view.stage,
      let content = runs[place].cancellation(cancellation.reason)
    else { return }
    runs[place].send(.cancel, content)
    collect(place)
  }

  /// The server does not take a message: nothing can come of the verification.
  mutating func refuse(_ id: Verification.ID) {
    guard let place = runs.firstIndex(where: { $0.view.id == id }) else { return }
    if !runs[place].isOver { runs[place].finish(.cancelled(.init(.other, isByUs: true)), isClosed: true) }
    close(id)
  }

  /// The server has the last message of one that is over.
  mutating func close(_ id: Verification.ID) {
    guard let place = runs.firstIndex(where: { $0.view.id == id }), runs[place].isOver else { return }
    (runs[place].isClosed, runs[place].isUnstored) = (true, true)
    if runs[place].isHidden { forget(place) }
  }

  // MARK: Time

  mutating func expire(at now: Int64) {
    for place in runs.indices.reversed() {
      if runs[place].isOver {
        if now >= runs[place].deadline { forget(place) }
      } else {
        runs[place].expire(at: now)
        collect(place)
      }
    }
    held.removeAll { now >= $0.since + VerificationRun.answerMilliseconds }
  }

  // MARK: Keeping them

  mutating func run(
    with user: UserID, _ room: RoomID?, device: DeviceID?, isOurs: Bool, record: ByteString, _ own: OwnKeys, end: Int64,
    random: inout SecretSource
  ) -> VerificationRun {
    lastID += 1
    let view = Verification(
      id: lastID, user: user, device: device, room: room, isOwn: user == own.user, isOurs: isOurs, deadline: end,
      stage: .requested)
    return VerificationRun(
      view: view, record: record, own: (own.user, own.device), methods: methods, asked: [],
      secret: random.bytes(VerificationCode.secretByteCount), end: end, phase: .requested)
  }

  mutating func append(_ run: VerificationRun) {
    runs.append(run)
    collect(runs.count - 1)
  }

  /// Whether there is room for another: one that has ended makes it.
  mutating func makeRoom() -> Bool {
    guard runs.count >= Self.runsLimit else { return true }
    guard let place = runs.firstIndex(where: { $0.isOver }) else { return false }
    forget(place)
    return true
  }

  /// What others ask for does not keep the user from asking: the oldest that nobody has answered here makes room.
  private mutating func makeRoomOfUnanswered() -> Bool {
    guard let place = runs.firstIndex(where: { $0.isUnanswered }) else { return false }
    forget(place)
    return true
  }

  private mutating func forget(_ place: Int) { removed.append(runs.remove(at: place).record) }

  /// What a run has said and proven.
  mutating func collect(_ place: Int) {
    let view = runs[place].view
    for message in runs[place].outgoing {
      outgoing.append(Outgoing(id: view.id, user: view.user, room: view.room, message: message))
    }
    runs[place].outgoing = []
    if let keys = runs[place].verified { verified.append(keys) }
    runs[place].verified = nil
  }

  /// With a device one verification is under way at a time.
  mutating func endOthers(than id: Verification.ID) {
    guard let run = runs.first(where: { $0.view.id == id }), let device = run.view.device else { return }
    for place in runs.indices where runs[place].view.id != id && !runs[place].isOver && runs[place].view.user == run.view.user {
      guard runs[place].view.device == device || runs[place].asked.contains(device) else { continue }
      runs[place].cancel(.user)
      collect(place)
    }
  }
}
