import ClientCore
import Encryption
import JSON
import MatrixModel

/// End-to-end encryption. The machine stands between the core and everything else: what the core is given is clear text, what it sends to encrypted
/// rooms goes through the machine first. Documentation/Decisions/0023-encryption.md
extension MatrixClient {
  /// Starts the machine with a session, and drops it with its end.
  func followSession() {
    guard core.sessionState == .signedIn || core.sessionState == .softLoggedOut, let session = core.session else {
      return endEncryption()
    }
    if let host = encryption, host.userID == session.userID, host.deviceID == session.deviceID { return }
    guard core.sessionState == .signedIn, encryptsRooms else { return }
    encryption = EncryptionHost(session)
    step { $0.start(at: MatrixClient.now()) }
  }

  private func endEncryption() {
    guard encryption != nil else { return }
    encryption = nil
    wakeTimer?.task.cancel()
    wakeTimer = nil
    machineRequests = [:]
    held = HeldRecords()
  }

  /// The store did not take what the machine has to keep. Whoever went on would use keys twice after a restart.
  func loseEncryption() {
    guard encryption != nil else { return }
    endEncryption()
    encryptsRooms = false
    encrypt(false)
  }

  /// Takes a step of the machine, and all that follows from it.
  func step(_ body: (inout EncryptionHost) -> EncryptionHost.Step) {
    guard var host = encryption else { return }
    let step = body(&host)
    encryption = host
    held.add(step)
    for input in step.inputs { handle(input) }
    flush()
    if !step.loads.isEmpty { queueLoad(of: step.loads) }
    setWakeTimer()
  }

  /// An answer to a request of the core. Returns false where the core takes it as it is.
  func decrypts(_ response: Response, to request: HTTPRequest, _ id: RequestID) -> Bool {
    guard encryption != nil, case .answer(200, let body) = response else { return false }
    guard let step = encryption?.take(body, to: request.target, for: id, at: MatrixClient.now()) else { return false }
    self.step { _ in step }
    return true
  }

  /// Records that the core has loaded. Returns false where it takes them as they are.
  func decrypts(_ records: [StoreRecord], _ id: LoadID) -> Bool {
    guard encryption != nil, let room = records.first.flatMap({ TimelineRecord.room(of: $0.key) }) else { return false }
    guard let step = encryption?.take(records, for: id, of: room, at: MatrixClient.now()) else { return false }
    self.step { _ in step }
    return true
  }

  /// What waited until the machine's records are durable.
  func release(_ later: EncryptionHost.Later) {
    for input in later.inputs { handle(input) }
    for request in later.requests { ask(request) }
  }

  func loadedForMachine(_ records: [StoreRecord]) {
    let found = records.map { EncryptionRecord(key: $0.key, value: $0.value) }
    step { $0.handle(.loaded(found), at: MatrixClient.now()) }
  }

  // MARK: Requests

  private func ask(_ request: MachineRequest) {
    guard encryption != nil, let id = try? nextID() else { return }
    machineRequests[id] = request.id
    let target = request.endpoint.path(of: request.parameters)
    handle(.query(QueryRequest(endpoint: request.endpoint, target: target, body: request.body), id: id))
  }

  /// Returns false where it was no request of the machine.
  func answersMachine(_ id: CommandID, _ result: QueryResult) -> Bool {
    guard let request = machineRequests.removeValue(forKey: id) else { return false }
    let input: MachineInput =
      switch result {
      case .answer(let json): .answered(request, json)
      case .failed(let error): .failed(request, error.isFinal ? .refused : .unreachable)
      }
    step { $0.handle(input, at: MatrixClient.now()) }
    return true
  }

  private func setWakeTimer() {
    guard wakeTimer?.at != encryption?.wakeAt else { return }
    wakeTimer?.task.cancel()
    wakeTimer = nil
    guard let at = encryption?.wakeAt else { return }
    let task = Task {
      try? await Task.sleep(for: .milliseconds(max(0, at - MatrixClient.now())))
      guard !Task.isCancelled else { return }
      wakeTimer = nil
      step { $0.handle(.woken, at: max(at, MatrixClient.now())) }
    }
    wakeTimer = (at, task)
  }
}

/// Records of the machine that wait for the core's next batch, and what waits for them.
struct HeldRecords: Sendable {
  var writes: [StoreOperation] = []
  var later = EncryptionHost.Later()

  var isEmpty: Bool { writes.isEmpty && later.isEmpty }

  mutating func add(_ step: EncryptionHost.Step) {
    writes += step.writes
    later.inputs += step.later.inputs
    later.requests += step.later.requests
  }
}

extension ClientError {
  /// Whether another try would end the same.
  fileprivate var isFinal: Bool {
    guard case .refused(let status, _, _, _) = self else { return false }
    return (400..<500).contains(status) && status != 401 && status != 429
  }
}
