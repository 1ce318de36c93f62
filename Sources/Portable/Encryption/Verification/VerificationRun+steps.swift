import JSON
import MatrixModel
import Olm

/// What the user does.
extension VerificationRun {
  mutating func perform(
    _ step: VerificationStep, knowing known: Knowledge, random: inout SecretSource
  ) throws(EncryptionFailure) {
    switch (step, phase) {
    case (.accept, .requested) where !view.isOurs: attempt { (run) throws(CancelReason) in try run.accept(knowing: known) }
    case (.accept, .offered(let start)):
      attempt { (run) throws(CancelReason) in
        try run.meet(run.view.device, knowing: known)
        guard let parties = run.parties else { throw .keyMismatch }
        run.view.deadline = run.end
        try run.answer(start, parties, random: &random)
      }
    case (.compare, .ready) where canCompare:
      attempt { (run) throws(CancelReason) in try run.compare(random: &random) }
    case (.scanned(let code), .ready): try scan(code)
    case (.confirm, .comparing(var exchange)) where exchange.strings != nil && !exchange.isConfirmed:
      exchange.confirm()
      phase = .comparing(exchange)
      say(.mac) { exchange.writeMAC(to: &$0) }
      if let keys = exchange.proven { succeed(keys) } else { view.stage = .confirmed }
    case (.confirm, .scanned): if let parties { succeed(VerificationCode.verified(byShowing: parties)) }
    case (.mismatch, .comparing(let exchange)) where exchange.strings != nil && !exchange.isConfirmed: cancel(.mismatchedSAS)
    case (.mismatch, .scanned): cancel(.keyMismatch)
    case (.cancel, _): cancel(.user)
    default: throw .unusable
    }
  }

  private mutating func attempt(_ body: (inout Self) throws(CancelReason) -> Void) {
    do throws(CancelReason) { try body(&self) } catch { cancel(error) }
  }

  private var canCompare: Bool { methods.intersection(otherMethods).contains(.compare) }

  private mutating func accept(knowing known: Knowledge) throws(CancelReason) {
    try meet(view.device, knowing: known)
    let texts = methods.texts
    try becomeReady()
    say(.ready) { $0.array("methods", texts) { $1.write($0) } }
  }

  private mutating func compare(random: inout SecretSource) throws(CancelReason) {
    guard let parties, let transaction,
      let start = content(of: .start, { SASExchange.writeStart(to: &$0) })
    else { throw .unexpectedMessage }
    let exchange = try SASExchange(starting: start, transaction, parties, random: &random)
    (phase, view.stage) = (.comparing(exchange), .agreeing)
    send(.start, start)
  }

  /// A code of something else changes nothing: the user can scan again.
  private mutating func scan(_ bytes: [UInt8]) throws(EncryptionFailure) {
    guard case .ready(let choices) = view.stage, choices.canScan, let parties, let code = VerificationCode(bytes),
      code.transaction == transaction
    else { throw .unusable }
    attempt { (run) throws(CancelReason) in
      let keys = try code.verified(parties)
      run.say(.start) { writer in
        writer.member("method", VerificationMethods.reciprocation)
        writer.member("secret", base64: code.secret)
      }
      (run.phase, run.view.stage) = (.reciprocated(keys), .confirmed)
    }
  }
}
