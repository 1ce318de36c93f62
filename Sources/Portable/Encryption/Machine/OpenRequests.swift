import MatrixModel

/// Requests that were made and not answered, and those to be made.
struct OpenRequests: Sendable {
  enum Purpose: Sendable {
    case upload
    case query(DeviceTracker.DeviceQuery)
    case claim([DeviceKeys])
    case send(ToDeviceRequest)
    /// Cross-signing keys that were made.
    case identity
    case signatures(SignatureUpload)
    case run(CommandRun)
    case backUp(BackupUpload)
    case checkBackup
    case restoreAll
    case restore(RoomKeys.Name)
    /// A message of a verification.
    case say(VerificationSending.Request)
    /// Asks for the version that a key of another device may open.
    case openBackup
    case dehydration(Dehydration.Step)
  }

  /// After a request without an answer: 1 s, then twice as long each time.
  static let firstPauseMilliseconds: Int64 = 1_000, longestPauseMilliseconds: Int64 = 60 * 1_000
  static let queries = 2

  private var open: [MachineRequest.ID: Purpose] = [:]
  private var lastID: MachineRequest.ID = 0
  /// To-device requests that have to be made, in order.
  private var unsent: [ToDeviceRequest] = []
  private(set) var pausedUntil: Int64?
  private var pause: Int64 = 0

  mutating func add(_ purpose: Purpose) -> MachineRequest.ID {
    lastID += 1
    open[lastID] = purpose
    return lastID
  }

  mutating func remove(_ id: MachineRequest.ID) -> Purpose? { open.removeValue(forKey: id) }

  func claimed(by id: MachineRequest.ID) -> [DeviceKeys] {
    if case .claim(let devices)? = open[id] { devices } else { [] }
  }

  func restored(by id: MachineRequest.ID) -> RoomKeys.Name? {
    if case .restore(let name)? = open[id] { name } else { nil }
  }

  /// Whether the server has yet to get messages for devices.
  var areSending: Bool { !unsent.isEmpty || open.values.contains { if case .send = $0 { true } else { false } } }

  /// Sessions that are fetched from the backup one by one.
  var restoring: Int { open.values.count { if case .restore = $0 { true } else { false } } }

  func isRestoring(_ name: RoomKeys.Name) -> Bool {
    areRestoringAll || open.values.contains { if case .restore(name) = $0 { true } else { false } }
  }

  var areRestoringAll: Bool { open.values.contains { if case .restoreAll = $0 { true } else { false } } }

  /// Whether there is no answer yet about the own identity.
  var areOfIdentity: Bool {
    open.values.contains {
      switch $0 {
      case .identity, .signatures: true
      default: false
      }
    }
  }

  var mayQuery: Bool {
    open.values.count { if case .query = $0 { true } else { false } } < Self.queries
  }

  // MARK: To-device requests

  mutating func append(_ request: ToDeviceRequest) { unsent.append(request) }

  mutating func takeUnsent() -> [ToDeviceRequest] {
    defer { unsent = [] }
    return unsent
  }

  func areSendingKeys(of room: RoomID) -> Bool {
    unsent.contains { $0.room == room }
      || open.values.contains { if case .send(let request) = $0 { request.room == room } else { false } }
  }

  // MARK: Pauses

  mutating func noteAnswer() {
    pause = 0
    pausedUntil = nil
  }

  mutating func noteFailure(at now: Int64) {
    // Requests that were made together fail together.
    guard pausedUntil.map({ $0 <= now }) ?? true else { return }
    pause = min(max(2 * pause, Self.firstPauseMilliseconds), Self.longestPauseMilliseconds)
    pausedUntil = now + pause
  }

  func isPaused(at now: Int64) -> Bool { pausedUntil.map { $0 > now } ?? false }
}
