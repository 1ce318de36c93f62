import JSON
import MatrixModel
import Olm

/// What the other side says.
extension VerificationRun {
  /// What is known of keys when a message comes.
  struct Knowledge {
    let own: OwnKeys
    let identities: Identities
    let tracker: DeviceTracker
  }

  /// - Parameter message: of this verification. One that names a device comes when that is known.
  mutating func take(_ message: VerificationMessage, knowing known: Knowledge, random: inout SecretSource) {
    // Others in the room are not remembered: they could say first what the other side is about to say.
    guard !isOver, isForThis(message), taken.insert(message.digest).inserted else { return }
    do throws(CancelReason) { try read(message, knowing: known, random: &random) } catch { cancel(error) }
  }

  /// In a room this side and other devices of the user are heard, too.
  private mutating func isForThis(_ message: VerificationMessage) -> Bool {
    guard message.sender != view.user else { return true }
    guard message.sender == own.user, !view.isOurs, case .requested = phase else { return false }
    switch message.kind {
    case .ready where message.device != own.device: finish(.cancelled(.init(.accepted, isByUs: false)), isClosed: true)
    case .cancel: finish(.cancelled(.init(.user, isByUs: false)), isClosed: true)
    default: break
    }
    return false
  }

  private mutating func read(
    _ message: VerificationMessage, knowing known: Knowledge, random: inout SecretSource
  ) throws(CancelReason) {
    switch message.kind {
    case .request: throw .unexpectedMessage
    case .ready: try ready(message, knowing: known)
    case .start: try start(message, random: &random)
    case .cancel: cancelled(message.content)
    case .done: try done()
    case .accept:
      try exchange { (exchange) throws(CancelReason) in try exchange.accepted(message.content) }
      if case .comparing(let exchange) = phase { say(.key) { exchange.writeKey(to: &$0) } }
    case .key:
      try exchange { (exchange) throws(CancelReason) in try exchange.take(key: message.content) }
      if case .comparing(let exchange) = phase {
        if !exchange.isStarter { say(.key) { exchange.writeKey(to: &$0) } }
        if let strings = exchange.strings { view.stage = .comparing(strings) }
      }
    case .mac:
      try exchange { (exchange) throws(CancelReason) in try exchange.take(mac: message.content) }
      if case .comparing(let exchange) = phase, exchange.isConfirmed, let keys = exchange.proven { succeed(keys) }
    }
  }

  private mutating func exchange(_ step: (inout SASExchange) throws(CancelReason) -> Void) throws(CancelReason) {
    guard case .comparing(var exchange) = phase else { throw .unexpectedMessage }
    try step(&exchange)
    phase = .comparing(exchange)
  }

  // MARK: Requests

  /// Fixes the keys.
  mutating func meet(_ device: DeviceID?, knowing known: Knowledge) throws(CancelReason) {
    guard let device, let keys = known.tracker.device(device, of: view.user),
      let parties = VerificationParties(known.own, keys, known.identities)
    else { throw .keyMismatch }
    self.parties = parties
    view.device = device
  }

  private mutating func ready(_ message: VerificationMessage, knowing known: Knowledge) throws(CancelReason) {
    guard case .requested = phase, view.isOurs else { throw .unexpectedMessage }
    guard let methods = VerificationMethods(message.content["methods"]), let device = message.device else {
      throw .invalidMessage
    }
    guard view.room != nil || asked.contains(device) else { throw .unexpectedMessage }
    try meet(device, knowing: known)
    let others = asked.filter { $0 != device }
    if !others.isEmpty, let content = cancellation(.accepted) { send(.cancel, content, to: others) }
    asked = []
    otherMethods = methods
    try becomeReady()
  }

  mutating func becomeReady() throws(CancelReason) {
    guard let parties, let transaction else { throw .unexpectedMessage }
    let code = VerificationCode(parties, transaction, secret: secret).bytes
    let choices = methods.choices(with: otherMethods, code: code)
    guard choices.canCompare || choices.code != nil || choices.canScan else { throw .unknownMethod }
    (phase, view.stage) = (.ready, .ready(choices))
    view.deadline = end
    isUnstored = true
  }

  private mutating func cancelled(_ content: JSON) {
    let reason = content.text("code").map { CancelReason(code: $0) } ?? .other
    // The user has declined on one of the devices.
    let others = view.isOurs && view.device == nil && asked.count > 1
    if others, let content = cancellation(.user) { send(.cancel, content) }
    finish(.cancelled(.init(reason, isByUs: false)), isClosed: !others)
  }

  // MARK: Methods

  private mutating func start(_ message: VerificationMessage, random: inout SecretSource) throws(CancelReason) {
    guard let parties, message.device == parties.other.device else { throw .unexpectedMessage }
    let method = message.content.text("method")
    switch phase {
    case .ready: break
    // Both begin: that of the smaller ID counts.
    case .comparing(let exchange) where exchange.isStarted && method == VerificationMethods.sas:
      if goesFirst(parties) { return }
    case .reciprocated where method == VerificationMethods.reciprocation: if goesFirst(parties) { return }
    default: throw .unexpectedMessage
    }
    if method == VerificationMethods.sas { return try answer(message.content, parties, random: &random) }
    guard method == VerificationMethods.reciprocation, methods.contains([.showCode, .reciprocate]) else {
      throw .unknownMethod
    }
    guard let bytes = message.content.base64("secret"), Secret(bytes).isEqual(to: Secret(secret)) else { throw .keyMismatch }
    (phase, view.stage) = (.scanned, .scanned)
  }

  private func goesFirst(_ parties: VerificationParties) -> Bool {
    parties.isOwn ? parties.own.device < parties.other.device : parties.own.user < parties.other.user
  }

  /// Takes the `start` of a comparison.
  mutating func answer(_ start: JSON, _ parties: VerificationParties, random: inout SecretSource) throws(CancelReason) {
    guard let transaction, methods.contains(.compare) else { throw .unknownMethod }
    let exchange = try SASExchange(answering: start, transaction, parties, random: &random)
    (phase, view.stage, isUnstored) = (.comparing(exchange), .agreeing, true)
    say(.accept) { exchange.writeAccept(to: &$0) }
  }

  private mutating func done() throws(CancelReason) {
    switch phase {
    case .reciprocated(let keys): succeed(keys)
    // The MACs of both sides are on their way: they decide.
    case .comparing(let exchange) where exchange.isConfirmed: break
    default: throw .unexpectedMessage
    }
  }
}

extension VerificationMessage {
  /// Tells one message from another, also if it comes again.
  var digest: [UInt8] { SHA256.digest(of: kind.type.utf8 + Array(content.bytes)) }
}
