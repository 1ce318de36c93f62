import Glibc
import JSON
import MatrixClient
import MatrixModel
import Shell
import Telemetry
import Transcripts

/// Verification: two devices, or two people, compare what both show.
extension TerminalCommand {
  static let verify = TerminalCommand(
    "verify", ["[USER|DEVICE]"], options: [Option(name: "--wait"), Option(name: "--numbers")],
    "Verifies another of your devices, or a user in your direct chat, by emoji that both sides show; --numbers shows numbers; --wait only answers."
  ) { call in
    guard !call.arguments.has("--wait") || call.arguments.operands.isEmpty else {
      throw TerminalError.usage("--wait answers whoever asks: name nobody")
    }
    try await call.withAccount { account in
      try requireKeys(of: account)
      try await VerificationDialog(call: call, account: account).run()
    }
  }
}

/// What a person is shown and asked during a verification.
private struct VerificationDialog: Sendable {
  let call: TerminalCall
  let account: Account

  private var encryption: MatrixEncryption { account.client.encryption }

  func run() async throws {
    // A terminal has neither a camera nor pictures.
    try await encryption.offerCodes(shows: false, scans: false)
    let verification = try await begin()
    for await now in await encryption.changes(of: verification) { try await take(now) }
    guard let end = await encryption.currentVerifications.first(where: { $0.id == verification.id }) else {
      throw TerminalError.failed("the verification is over")
    }
    // The other side is to hear of it.
    await encryption.settle(end)
    guard end.stage == .done else { throw TerminalError.failed(Self.words(of: end.stage)) }
    show(end)
  }

  // MARK: Beginning

  private func begin() async throws -> KeyVerification {
    if let name = call.arguments.operands.first { return try await ask(name) }
    // Who asked a while ago waits for this side. A request of a new device is known once it is in the list.
    _ = try await encryption.devices(of: account.folder.userID)
    if let asked = await asked() { return try await answer(asked) }
    guard call.arguments.has("--wait") else { return try await tellAsked(try await encryption.verifyDevices()) }
    tell("Waiting for a request. Begin the verification on the other device.")
    for await current in await encryption.verifications() {
      if let asked = current.first(where: { !$0.isOurs && $0.stage == .requested }) { return try await answer(asked) }
    }
    throw TerminalError.interrupted
  }

  private func ask(_ name: String) async throws -> KeyVerification {
    if let user = UserID(name) {
      if user != account.folder.userID {
        await tellChange(of: user)
        return try await tellAsked(try await encryption.verify(user))
      }
      return try await tellAsked(try await encryption.verifyDevices())
    }
    guard let device = DeviceID(ByteString(name)) else { throw TerminalError.usage("\(name) is no user and no device") }
    guard try await encryption.devices(of: account.folder.userID).contains(where: { $0.device == device }) else {
      throw TerminalError.failed("you have no device \(name) that encrypts")
    }
    return try await tellAsked(try await encryption.verify(device: device))
  }

  private func asked() async -> KeyVerification? {
    await encryption.currentVerifications.first { !$0.isOurs && $0.stage == .requested }
  }

  private func tellAsked(_ verification: KeyVerification) async throws -> KeyVerification {
    let place = verification.isOwn ? "your other device" : "the direct chat there"
    tell("Asked \(Self.side(of: verification)). Accept the request on \(place).")
    return verification
  }

  /// Who verifies anew is to know that the keys are others than before.
  private func tellChange(of user: UserID) async {
    for change in await encryption.changedIdentities() where change.user == user {
      tell(EncryptionEvent.identityChanged(user, wasVerified: change.wasVerified).english)
    }
  }

  private func answer(_ verification: KeyVerification) async throws -> KeyVerification {
    await tellChange(of: verification.user)
    guard isYes("\(Self.side(of: verification)) asks to verify. Accept?") else {
      try await encryption.cancel(verification)
      await encryption.settle(verification)
      throw TerminalError.failed("the request was declined")
    }
    try await encryption.accept(verification)
    return verification
  }

  // MARK: Stages

  private func take(_ verification: KeyVerification) async throws {
    switch verification.stage {
    // The other side may have begun meanwhile.
    case .ready: _ = try? await encryption.compare(verification)
    case .comparing(let strings):
      show(strings)
      let isSame = isYes("Does the other side show the same?")
      // If the other side has ended it meanwhile, that is the next stage.
      _ = try? await isSame ? encryption.confirm(verification) : encryption.mismatch(verification)
    case .confirmed: tell("Waiting for the other side to confirm.")
    case .requested, .agreeing, .scanned, .done, .cancelled: break
    }
  }

  private func show(_ strings: KeyVerification.ShortStrings) {
    let usesNumbers = call.arguments.has("--numbers") || strings.emoji.isEmpty
    let emoji = strings.emoji.map { "\($0.symbol) \($0.name)" }.joined(separator: ", ")
    let numbers = strings.decimals.map { "\($0)" }.joined(separator: " ")
    call.show(usesNumbers ? numbers : emoji) { writer in
      writer.array("emoji", strings.emoji) { emoji, writer in
        writer.object { writer in
          writer.member("symbol", emoji.symbol)
          writer.member("name", emoji.name)
        }
      }
      writer.array("numbers", strings.decimals) { $1.write($0) }
    }
  }

  private func show(_ verification: KeyVerification) {
    call.show("\(Self.side(of: verification)) is verified.") { writer in
      writer.member("verified", true)
      writer.member("user_id", verification.user)
      if let device = verification.device { writer.member("device_id", device) }
    }
  }

  // MARK: Words

  private static func side(of verification: KeyVerification) -> String {
    guard verification.isOwn else { return verification.user.string }
    return verification.device.map { "Your device \($0)" } ?? "your other devices"
  }

  private static func words(of stage: KeyVerification.Stage) -> String {
    guard case .cancelled(let reason, let byUs) = stage else { return "the verification did not end" }
    return switch reason {
    case .user: byUs ? "you have cancelled the verification" : "the other side has cancelled the verification"
    case .timeout: "the verification took too long; begin it again"
    case .acceptedElsewhere: "another of your devices has accepted the request"
    case .mismatch: "the two sides do not show the same: somebody may be reading along. Nothing was verified"
    case .wrongKeys: "the other side has other keys than expected: somebody may be in between. Nothing was verified"
    case .incompatible: "the other side does not verify in a way that this program knows"
    }
  }

  /// For people only: what programs read has no words.
  private func tell(_ text: String) {
    guard !call.arguments.isJSON else { return }
    LogSink.standardError(Array((HarmlessText.lines(text) + "\n").utf8))
  }

  /// The end of the input is no.
  private func isYes(_ question: String) -> Bool {
    while true {
      if !call.arguments.isJSON { LogSink.standardError(Array("\(HarmlessText.line(question)) [y/n] ".utf8)) }
      switch readLine()?.lowercased() {
      case "y", "yes": return true
      case "n", "no", nil: return false
      default: continue
      }
    }
  }
}
