import Encryption
import EncryptionLink
import JSON
import MatrixModel
import Olm

/// The machine of end-to-end encryption in a thread of its own: takes what the page's program says, and answers with what that has to do.
struct WorkerDesk {
  private var host: EncryptionHost?
  private let random: SecretSource

  init(random: SecretSource) { self.random = random }

  /// Messages for the page, in order. What cannot be read is of another version of the page; the encryption is over then.
  mutating func take(_ message: [UInt8]) -> [[UInt8]] {
    do throws(LinkError) {
      let (request, now) = try EncryptionRequest.read(message)
      return take(request, at: now).map { $0.bytes }
    } catch {
      return [.step(end())].map { (report: EncryptionReport) in report.bytes }
    }
  }

  private mutating func take(_ request: EncryptionRequest, at now: Int64) -> [EncryptionReport] {
    if case .begin(let user, let device) = request {
      guard host == nil, let user = UserID(user), let device = DeviceID(device) else { return [.step(end())] }
      var host = EncryptionHost(user: user, device: device, random: random)
      let step = host.start(at: now)
      self.host = host
      return [report(step)]
    }
    guard let step = step(request, at: now) else {
      switch request {
      case .answer(let request, _, _): return [.plainAnswer(request)]
      case .records(let load, _, _): return [.plainRecords(load)]
      default: return []
      }
    }
    return [report(step)]
  }

  /// nil where the machine has nothing to do with it.
  private mutating func step(_ request: EncryptionRequest, at now: Int64) -> EncryptionStep? {
    switch request {
    case .begin: nil
    case .loaded(let records): host?.handle(.loaded(records.map { EncryptionRecord($0) }), at: now)
    case .answer(let request, let target, let body): host?.take(body, to: target.string, for: request, at: now)
    case .records(let load, let room, let records):
      RoomID(room).flatMap { host?.take(records.map { EncryptionRecord($0) }, of: $0, for: load, at: now) }
    case .encryption(let room, let content):
      if let room = RoomID(room), let json = try? JSON.parse(content) { host?.handle(.encryption(room, json), at: now) } else { nil }
    case .encrypt(let message, let content): encrypt(message, content, at: now)
    case .answered(let request, let body):
      if let json = try? JSON.parse(body) {
        host?.handle(.answered(request, json), at: now)
      } else {
        host?.handle(.failed(request, .unreachable), at: now)
      }
    case .failed(let request, let isFinal): host?.handle(.failed(request, isFinal ? .refused : .unreachable), at: now)
    case .reachable: host?.handle(.reachable, at: now)
    case .woken: host?.handle(.woken, at: now)
    }
  }

  private mutating func encrypt(_ message: UInt64, _ content: UnencryptedContent, at now: Int64) -> EncryptionStep {
    guard host != nil, let room = RoomID(content.room), let type = EventType(content.type) else {
      var step = EncryptionStep()
      step.deliveries = [.blocked(message, .malformed)]
      return step
    }
    let members = RoomMembers(room, users: content.users.compactMap { UserID($0) }, sharesHistory: content.sharesHistory)
    return host?.encrypt(message, type, content.content, for: members, at: now) ?? EncryptionStep()
  }

  private func report(_ step: EncryptionStep) -> EncryptionReport {
    var report = EncryptionReport.Step(step)
    report.wakeAt = host?.wakeAt
    report.broken = host?.broken.map { EncryptionReport.Broken($0) }
    report.isOver = host?.isOver ?? true
    return .step(report)
  }

  private mutating func end() -> EncryptionReport.Step {
    let rest = host?.abandon() ?? EncryptionStep()
    host = nil
    var report = EncryptionReport.Step(rest)
    report.isOver = true
    return report
  }
}

// MARK: One's words in the other's

extension EncryptionRecord {
  fileprivate init(_ record: LinkRecord) { self.init(key: record.key, value: record.value) }
}

extension LinkRecord {
  fileprivate init(_ record: EncryptionRecord) { self.init(key: record.key, value: record.value) }
}

extension EncryptionReport.Step {
  fileprivate init(_ step: EncryptionStep) {
    self.init()
    deliveries = step.deliveries.compactMap { EncryptionReport.Delivery($0) }
    changes = step.changes.map { EncryptionReport.Change($0) }
    later = step.later.compactMap { EncryptionReport.Delivery($0) }
    requests = step.requests.map { EncryptionReport.Request($0) }
    loads = step.loads
  }
}

extension EncryptionReport.Delivery {
  /// nil for ends of commands, which the page does not give.
  fileprivate init?(_ delivery: EncryptionDelivery) {
    switch delivery {
    case .answer(let request, let body): self = .answer(request, body)
    case .records(let load, let records): self = .records(load, records.map { LinkRecord($0) })
    case .encrypted(let message, let content): self = .encrypted(message, content)
    case .blocked(let message, let reason): self = .blocked(message, EncryptionReport.Block(reason))
    case .late(let room, let events): self = .late(room: room.text, events.map { Array($0.bytes) })
    case .ended: return nil
    }
  }
}

extension EncryptionReport.Change {
  fileprivate init(_ change: RecordChange) {
    switch change {
    case .put(let record): self = .put(LinkRecord(record))
    case .delete(let key): self = .delete(key)
    }
  }
}

extension EncryptionReport.Request {
  fileprivate init(_ request: MachineRequest) {
    self.init(
      id: request.id, method: request.endpoint.method.rawValue, target: ByteString(request.target),
      body: request.body)
  }
}

extension EncryptionReport.Block {
  fileprivate init(_ reason: Blocked) {
    switch reason {
    case .notEncrypted: self = .notEncrypted
    case .unknownAlgorithm: self = .unknownAlgorithm
    case .malformed: self = .malformed
    case .broken: self = .broken
    case .undecided: self = .undecided
    }
  }
}

extension EncryptionReport.Broken {
  fileprivate init(_ reason: Broken) {
    switch reason {
    case .ofAnotherDevice: self = .ofAnotherDevice
    case .unreadableStore: self = .unreadableStore
    case .newerStore: self = .newerStore
    case .lostKeys: self = .lostKeys
    case .refusedKeys: self = .refusedKeys
    case .changedOwnKeys: self = .changedOwnKeys
    }
  }
}
