import ClientCore
import Encryption
import JSON
import MatrixModel

/// Decrypts what one notification needs, in a process beside the one that syncs. It has that one's keys, and changes nothing: neither the store nor, but for
/// reading the backup, the server. What comes to this device by itself comes to the other process only.
struct GuestMachine: Sendable {
  /// How long the server has for a key of the backup.
  private static let timeoutMilliseconds: Int64 = 5_000
  /// Keys that are asked for.
  private static let requestLimit = 4

  private let store: any Store
  private let transport: GuestTransport
  private var host: EncryptionHost
  private var lastTake: UInt32 = 0
  private var requestCount = 0
  /// What the machine has handed out in clear text.
  private var clear: [UInt8]?
  private var requests: [MachineRequest] = []

  init(_ session: Session, store: any Store, transport: GuestTransport) async {
    self.store = store
    self.transport = transport
    host = EncryptionHost(user: session.userID, device: session.deviceID, random: .system)
    let step = host.start(at: MatrixClient.now())
    await carryOut(step)
    // Those of a start are the other process's.
    requests = []
  }

  /// - Parameters:
  ///   - body: of an answer with status 200.
  ///   - target: path and query of the request.
  /// - Returns: the answer with clear events, as far as there are keys here or in the backup.
  mutating func clear(_ body: [UInt8], to target: String) async -> [UInt8] {
    guard host.broken == nil, !host.isOver, let first = await read(body, to: target) else { return body }
    guard await fetchKeys() else { return first }
    return await read(body, to: target) ?? first
  }

  /// nil where nothing in it is encrypted.
  private mutating func read(_ body: [UInt8], to target: String) async -> [UInt8]? {
    lastTake += 1
    clear = nil
    guard let step = host.take(body, to: target, for: lastTake, at: MatrixClient.now()) else { return nil }
    await carryOut(step)
    return clear
  }

  private mutating func carryOut(_ first: EncryptionStep) async {
    var steps = [first]
    while let step = steps.popLast() {
      for case .answer(lastTake, let body) in step.deliveries { clear = body }
      requests += step.requests
      guard !step.loads.isEmpty else { continue }
      var records: [EncryptionRecord] = []
      for prefix in step.loads {
        for record in (try? await store.load(StoreRange(prefix: prefix))) ?? [] {
          records.append(EncryptionRecord(key: record.key, value: record.value))
        }
      }
      steps.append(host.handle(.loaded(records), at: MatrixClient.now()))
    }
  }

  /// Asks the backup for what is missing. Returns whether something came.
  private mutating func fetchKeys() async -> Bool {
    var hasNew = false
    while !requests.isEmpty, requestCount < Self.requestLimit {
      let request = requests.removeFirst()
      guard request.endpoint.method == .get, request.target.contains("/room_keys/") else { continue }
      requestCount += 1
      guard let answer = await transport.get(request.target, timeoutMilliseconds: Self.timeoutMilliseconds) else {
        return hasNew
      }
      hasNew = true
      await carryOut(host.handle(.answered(request.id, answer), at: MatrixClient.now()))
    }
    return hasNew
  }
}
