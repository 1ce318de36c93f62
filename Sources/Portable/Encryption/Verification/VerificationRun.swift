import JSON
import MatrixModel
import Olm

/// One verification: what was said so far, and what comes next. It makes messages and has no way to send them.
///
/// The keys of both sides are fixed as soon as the other device is known. Spec: Client-Server API, "Key verification framework".
struct VerificationRun: Sendable {
  /// A message of this side. Between own devices it goes to the devices, else into the room.
  struct Outgoing: Sendable {
    let kind: VerificationMessage.Kind
    let content: JSON
    let devices: [DeviceID]
  }

  enum Phase: Sendable {
    case requested
    /// The other side has sent `start` without asking before.
    case offered(JSON)
    case ready
    case comparing(SASExchange)
    /// The other side has scanned the code.
    case scanned
    /// This side has scanned the code of the other.
    case reciprocated(VerifiedKeys)
    case over
  }

  /// All of it; and until an answer to a request of the other side.
  static let patienceMilliseconds: Int64 = 10 * 60 * 1_000, answerMilliseconds: Int64 = 2 * 60 * 1_000
  /// A request that another clock has made later than now is taken up to that.
  static let clockMilliseconds: Int64 = 5 * 60 * 1_000

  var view: Verification
  /// The name of its record.
  let record: ByteString
  /// nil until the server has told the ID of the event that asks.
  var transaction: ByteString?
  /// This device.
  let own: (user: UserID, device: DeviceID)
  let methods: VerificationMethods
  var otherMethods: VerificationMethods = []
  var parties: VerificationParties?
  /// The devices that were asked, until one has accepted.
  var asked: [DeviceID]
  let secret: [UInt8]
  let end: Int64
  var phase: Phase
  /// What has come already: a server may repeat it.
  var taken: Set<[UInt8]> = []
  var outgoing: [Outgoing] = []
  /// The own MACs, which the other side needs also after a crash.
  var mac: JSON?
  /// Until it is taken over.
  var verified: VerifiedKeys?
  var isUnstored = true
  /// Whether the server has its last message, if there is one.
  var isClosed = false
  /// Whether it is of before a restart, or the user has seen its end: views show it no more.
  var isHidden = false

  // MARK: Time

  var isOver: Bool { if case .over = phase { true } else { false } }

  /// When something happens to it by itself: it ends, or is forgotten once views had time to show its end.
  var deadline: Int64 { isOver ? end + Self.patienceMilliseconds : view.deadline }

  mutating func expire(at now: Int64) {
    guard !isOver, now >= view.deadline else { return }
    // Another device of the user may still answer.
    if isUnanswered { return finish(.cancelled(.init(.timeout, isByUs: true)), isClosed: true) }
    cancel(.timeout)
  }

  /// Whether the other side asks, and the user has not decided.
  var isUnanswered: Bool {
    switch phase {
    case .requested, .offered: !view.isOurs
    default: false
    }
  }

  // MARK: Messages of this side

  mutating func say(_ kind: VerificationMessage.Kind, _ body: (inout JSONWriter) -> Void = { _ in }) {
    guard let content = content(of: kind, body) else { return }
    send(kind, content)
  }

  mutating func send(_ kind: VerificationMessage.Kind, _ content: JSON, to devices: [DeviceID]? = nil) {
    let known = view.device.map { [$0] } ?? asked
    outgoing.append(Outgoing(kind: kind, content: content, devices: devices ?? known))
    if kind == .mac { mac = content }
  }

  func content(of kind: VerificationMessage.Kind, _ body: (inout JSONWriter) -> Void) -> JSON? {
    try? JSON.object { writer in
      switch kind {
      case .request, .ready, .start: writer.member("from_device", own.device)
      default: break
      }
      if let transaction, view.room == nil { writer.member("transaction_id", transaction) }
      if let transaction, view.room != nil, kind != .request {
        writer.key("m.relates_to")
        writer.object { writer in
          writer.member("rel_type", "m.reference")
          writer.member("event_id", transaction)
        }
      }
      body(&writer)
    }
  }

  // MARK: Its end

  /// Ends it, and says so.
  mutating func cancel(_ reason: CancelReason) {
    guard !isOver else { return }
    sayCancel(reason)
    finish(.cancelled(.init(reason, isByUs: true)), isClosed: false)
  }

  func cancellation(_ reason: CancelReason) -> JSON? {
    content(of: .cancel) { writer in
      writer.member("code", reason.code)
      writer.member("reason", reason.text)
    }
  }

  private mutating func sayCancel(_ reason: CancelReason) {
    // Nobody can know a request yet whose event has no ID.
    guard transaction != nil, let content = cancellation(reason) else { return }
    send(.cancel, content)
  }

  mutating func finish(_ stage: Verification.Stage, isClosed: Bool) {
    (phase, view.stage, self.isClosed) = (.over, stage, isClosed)
    isUnstored = true
  }

  mutating func succeed(_ keys: VerifiedKeys) {
    verified = keys
    say(.done)
    finish(.done, isClosed: false)
  }
}
