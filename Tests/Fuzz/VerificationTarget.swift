#if DEBUG || FUZZING
  import JSON
  import MatrixModel
  import Olm

  @testable import Encryption

  /// Ann's verified tablet and her phone, which somebody else speaks for without knowing its keys. The seed makes the same each time.
  private struct VerificationWorld: Sendable {
    static let ann = UserID(trusted: "@ann:one.example"), phone = DeviceID(trusted: "PHONE")
    static let record: ByteString = "e/verify/x"

    let known: VerificationRun.Knowledge
    let random: SecretSource

    init() {
      var random = SecretSource.repeating(seed: Array("a world of verification".utf8))
      let own = OwnKeys(user: Self.ann, device: DeviceID(trusted: "TABLET"), account: Account(random: &random))
      let other = OwnKeys(user: Self.ann, device: Self.phone, account: Account(random: &random))
      var identity = OwnIdentity(user: Self.ann, device: own.device)
      identity.beginSetup(random: &random)
      identity.setupAccepted(for: own)
      var tracker = DeviceTracker()
      tracker.restore(UserDevices([Self.phone: other.deviceKeys], isOutdated: false), of: Self.ann)
      known = VerificationRun.Knowledge(own: own, identities: Identities(own: identity), tracker: tracker)
      self.random = random
    }

    static let shared = VerificationWorld()
  }

  /// QR codes, and messages of verifications as a list of events, while the user agrees to everything: nothing is verified, and a code that is read
  /// is written the same.
  func fuzzVerification(_ bytes: UnsafeRawBufferPointer) {
    let bytes = Array(bytes)
    if let code = VerificationCode(bytes) { precondition(VerificationCode(code.bytes) == code) }
    guard let json = try? JSON.parse(bytes), json.isArray else { return }
    let world = VerificationWorld.shared
    var (verifications, random) = (Verifications(), world.random)
    // The random numbers are the same each time, so messages can name the transaction.
    _ = try? verifications.begin(
      with: .ownDevices, knowing: world.known, record: VerificationWorld.record, random: &random, at: 0)
    for event in json.elements.prefix(32) {
      guard let content = event["content"],
        let message = VerificationMessage(event.text("type"), content, from: VerificationWorld.ann)
      else { continue }
      verifications.take(message, knowing: world.known, record: VerificationWorld.record, random: &random, at: 0)
      for view in verifications.views {
        for step in [VerificationStep.accept, .compare, .scanned(bytes), .confirm] {
          try? verifications.perform(step, view.id, knowing: world.known, random: &random)
        }
      }
      precondition(verifications.verified.isEmpty && verifications.runs.count <= Verifications.runsLimit)
    }
    verifications.expire(at: .max / 2)
    for case .put(let record) in verifications.takeWrites() {
      var restored = Verifications()
      try? restored.restore(record, world.known.own, random: &random, at: 0)
    }
  }
#endif
