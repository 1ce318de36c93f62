import Encryption
import EncryptionLink
import JSON
import MatrixModel

// The machine's words in those of the link, and the other way.

extension EncryptionRecord {
  init(_ record: LinkRecord) { self.init(key: record.key, value: record.value) }
}

extension LinkRecord {
  init(_ record: EncryptionRecord) { self.init(key: record.key, value: record.value) }
}

extension EncryptionReport.Step {
  init(_ step: EncryptionStep) {
    self.init()
    deliveries = step.deliveries.map { EncryptionReport.Delivery($0) }
    changes = step.changes.map { EncryptionReport.Change($0) }
    later = step.later.map { EncryptionReport.Delivery($0) }
    requests = step.requests.map { EncryptionReport.Request($0) }
    loads = step.loads
  }
}

extension EncryptionReport.Delivery {
  init(_ delivery: EncryptionDelivery) {
    switch delivery {
    case .answer(let request, let body): self = .answer(request, body)
    case .records(let load, let records): self = .records(load, records.map { LinkRecord($0) })
    case .encrypted(let message, let content): self = .encrypted(message, content)
    case .blocked(let message, let reason):
      self = .blocked(message, EncryptionReport.Block(reason), about: reason.user?.text ?? "")
    case .late(let room, let events): self = .late(room: room.text, events.map { Array($0.bytes) })
    case .received(let message): self = .received(ReceivedDeviceEvent(message))
    case .ended(let number, let outcome): self = .ended(number, EncryptionReport.Outcome(outcome))
    case .news(let news): self = .news(EncryptionReport.News(news))
    }
  }
}

extension ReceivedDeviceEvent {
  init(_ message: ReceivedMessage) {
    self.init(
      event: DeviceEvent(type: message.type, content: Array(message.content.bytes)),
      sender: LinkDevice(user: message.sender.user.text, device: message.sender.device.text),
      isSigned: message.trust == .verified || message.trust == .pinned, isReader: message.isReader)
  }
}

extension EncryptionReport.Change {
  init(_ change: RecordChange) {
    switch change {
    case .put(let record): self = .put(LinkRecord(record))
    case .delete(let key): self = .delete(key)
    }
  }
}

extension EncryptionReport.Request {
  init(_ request: MachineRequest) {
    self.init(
      id: request.id, method: request.endpoint.method.rawValue,
      target: ByteString(request.target), body: request.body)
  }
}

extension EncryptionReport.Outcome {
  init(_ outcome: EncryptionOutcome) {
    switch outcome {
    case .done: self = .done("")
    case .recovery(let found):
      let isWhole = found.missing.isEmpty
      self = .recovery(found.key == nil ? .disabled : !found.isFamiliar ? .changed : isWhole ? .enabled : .incomplete)
    case .verification(let id): self = .verification(id)
    case .trust(let trust): self = .trust(EncryptionReport.Trust(trust))
    case .told(let devices): self = .told(devices.map { LinkDevice(user: $0.user.text, device: $0.device.text) })
    case .failed(let reason):
      switch reason {
      case .refused: self = .failed(.refused)
      case .unreachable: self = .failed(.unreachable)
      case .unusable: self = .failed(.unusable)
      case .unverified: self = .failed(.unverified)
      case .wrongKey: self = .failed(.wrongKey)
      case .incomplete: self = .failed(.incomplete)
      case .noBackup: self = .failed(.noBackup)
      }
    }
  }
}

extension EncryptionReport.State {
  init(_ state: EncryptionState) {
    self.init()
    hasIdentity = state.hasIdentity
    isVerified = state.isVerified
    switch state.backup {
    case .off: backup = .off
    case .on: backup = .on
    case .stopped(.replaced): backup = .replaced
    case .stopped(.deleted): backup = .deleted
    }
    restored = UInt32(clamping: state.restore?.done ?? 0)
    restoring = UInt32(clamping: state.restore?.count ?? 0)
    switch state.dehydration {
    case .none: dehydrated = .none
    case .reading(let messages, let keys):
      dehydrated = .reading(messages: UInt32(clamping: messages), keys: UInt32(clamping: keys))
    case .ready(let keys): dehydrated = .ready(keys: UInt32(clamping: keys))
    }
    dehydratedFailure = state.dehydrationFailure.map { EncryptionReport.DehydratedFailure($0) }
  }
}

extension EncryptionReport.DehydratedFailure {
  fileprivate init(_ failure: RehydrationFailure) {
    switch failure {
    case .wrongKey: self = .wrongKey
    case .malformed: self = .malformed
    case .unknownFormat: self = .unknownFormat
    case .tooManyMessages: self = .tooManyMessages
    }
  }
}

extension EncryptionReport.Block {
  init(_ reason: Blocked) {
    switch reason {
    case .notEncrypted: self = .notEncrypted
    case .unknownAlgorithm: self = .unknownAlgorithm
    case .malformed: self = .malformed
    case .broken: self = .broken
    case .undecided: self = .undecided
    }
  }
}

extension Blocked {
  /// Whom the person has to decide about.
  fileprivate var user: UserID? {
    guard case .undecided(let block) = self else { return nil }
    return switch block {
    case .verifiedIdentitiesChanged(let users), .identitiesChanged(let users): users.first
    case .ownDeviceUnverified(let user): user
    }
  }
}

extension EncryptionReport.Broken {
  init(_ reason: Broken) {
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
