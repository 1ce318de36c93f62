import JSON

/// What the Worker answers. `EncryptionStep` says what the page's program does with a step, and in which order.
package enum EncryptionReport: Equatable, Sendable {
  case step(Step)
  /// Nothing in the answer, or in the records, is encrypted: they are taken as they are.
  case plainAnswer(UInt32)
  case plainRecords(UInt32)

  package struct Step: Equatable, Sendable {
    package var deliveries: [Delivery] = []
    package var changes: [Change] = []
    /// Once the changes are durable.
    package var later: [Delivery] = []
    package var requests: [Request] = []
    /// Records whose keys begin with one of these. They are answered together.
    package var loads: [ByteString] = []
    /// Milliseconds since 1970; nil for not at all.
    package var wakeAt: Int64?
    /// Why there is no encryption any more, or none for this device; nil if all is well.
    package var broken: Broken?
    /// Whether nothing more comes.
    package var isOver = false
    package var state = State()
    /// Those under way, and those that have ended until the person has seen it; the oldest first.
    package var verifications: [Verification] = []

    package init() {}
  }

  package enum Delivery: Equatable, Sendable {
    /// The body of an answer in clear text.
    case answer(UInt32, [UInt8])
    case records(UInt32, [LinkRecord])
    /// The content of `m.room.encrypted`.
    case encrypted(UInt64, [UInt8])
    /// `about`: whose keys are not confirmed; empty for other reasons.
    case blocked(UInt64, Block, about: ByteString)
    /// Events whose keys came late, as JSON.
    case late(room: ByteString, [[UInt8]])
    case ended(UInt64, Outcome)
    /// Something for the page from another device.
    case received(ReceivedDeviceEvent)
    /// How far an action has come. It waits for `EncryptionRequest.proceed`.
    case progress(UInt64, done: UInt32, of: UInt32)
    /// Somebody who has invited the user offers the keys of the room's history, at an `EncryptedFile` in JSON: `EncryptionAction.takeHistory`.
    case history(room: ByteString, from: ByteString, [UInt8])
    case news(News)
  }

  /// How an `EncryptionAction` ended.
  package enum Outcome: Equatable, Sendable {
    /// With the recovery key, the text of the key file or the diagnosis, where one was made.
    case done(ByteString)
    /// Keys in a key file, those that were missing here, and entries that are no keys.
    case imported(total: UInt32, new: UInt32, unusable: UInt32)
    case recovery(Recovery)
    case failed(Failure)
    case verification(UInt64)
    case trust(Trust)
    /// The devices that were sent what `EncryptionAction.tell` said.
    case told([LinkDevice])
    case sealed(EncryptionAction.SealedFile)
    case users([ByteString])
  }

  package enum Recovery: UInt8, Sendable {
    /// There is no recovery key.
    case disabled
    case enabled
    /// The recovery key does not open all that it should.
    case incomplete
    /// Another recovery key was set up since this device used one.
    case changed
  }

  package enum Failure: UInt8, Sendable {
    case refused, unreachable, unusable, unverified, wrongKey, incomplete, noBackup, notAKeyFile, keyFileCutOff, newerKeyFile,
      keyFileTooLarge
  }

  package enum Change: Equatable, Sendable {
    case put(LinkRecord)
    case delete(ByteString)
  }

  /// For the homeserver, with the session's access token.
  package struct Request: Equatable, Sendable {
    package var id: UInt64
    /// As `Endpoint.Method` numbers them.
    package var method: UInt8
    /// Path and query.
    package var target: ByteString
    package var body: [UInt8]

    package init(id: UInt64, method: UInt8, target: ByteString, body: [UInt8]) {
      self.id = id
      self.method = method
      self.target = target
      self.body = body
    }
  }

  /// Why a message was not encrypted.
  package enum Block: UInt8, Sendable {
    /// The machine has never seen that the room is encrypted.
    case notEncrypted
    case unknownAlgorithm, malformed, broken
    /// The keys of a user have changed, or this device is not verified: the person has to decide first.
    case undecided
  }

  package enum Broken: UInt8, Sendable {
    case ofAnotherDevice, unreadableStore, newerStore, lostKeys, refusedKeys, changedOwnKeys
  }
}

// MARK: As bytes

extension EncryptionReport {
  package var bytes: [UInt8] {
    var writer = LinkWriter()
    switch self {
    case .step(let step):
      writer.write(kind: 0)
      step.write(to: &writer)
    case .plainAnswer(let request):
      writer.write(kind: 1)
      writer.write(request)
    case .plainRecords(let load):
      writer.write(kind: 2)
      writer.write(load)
    }
    return writer.bytes
  }

  package static func read(_ bytes: [UInt8]) throws(LinkError) -> EncryptionReport {
    var reader = LinkReader(bytes)
    let report: EncryptionReport =
      switch try reader.byte() {
      case 0: .step(try Step(&reader))
      case 1: .plainAnswer(try reader.uint32())
      case 2: .plainRecords(try reader.uint32())
      default: throw .unknownKind
      }
    try reader.end()
    return report
  }
}

extension EncryptionReport.Step {
  fileprivate func write(to writer: inout LinkWriter) {
    writer.write(deliveries) { $1.write(to: &$0) }
    writer.write(changes) { $1.write(to: &$0) }
    writer.write(later) { $1.write(to: &$0) }
    writer.write(requests) { $1.write(to: &$0) }
    writer.write(loads) { $0.write($1) }
    // No machine wakes in 1970.
    writer.write(wakeAt ?? 0)
    writer.write(kind: broken.map { $0.rawValue + 1 } ?? 0)
    writer.write(isOver)
    state.write(to: &writer)
    writer.write(verifications) { $1.write(to: &$0) }
  }

  fileprivate init(_ reader: inout LinkReader) throws(LinkError) {
    deliveries = try reader.list { (one) throws(LinkError) in try EncryptionReport.Delivery(&one) }
    changes = try reader.list { (one) throws(LinkError) in try EncryptionReport.Change(&one) }
    later = try reader.list { (one) throws(LinkError) in try EncryptionReport.Delivery(&one) }
    requests = try reader.list { (one) throws(LinkError) in try EncryptionReport.Request(&one) }
    loads = try reader.list { (one) throws(LinkError) in try one.text() }
    let wakeAt = try reader.int64()
    self.wakeAt = wakeAt == 0 ? nil : wakeAt
    let broken = try reader.byte()
    if broken > 0 {
      guard let known = EncryptionReport.Broken(rawValue: broken - 1) else { throw .unknownKind }
      self.broken = known
    }
    isOver = try reader.flag()
    state = try EncryptionReport.State(&reader)
    verifications = try reader.list { (one) throws(LinkError) in try EncryptionReport.Verification(&one) }
  }
}

extension EncryptionReport.Delivery {
  fileprivate func write(to writer: inout LinkWriter) {
    switch self {
    case .answer(let request, let body):
      writer.write(kind: 0)
      writer.write(request)
      writer.write(body)
    case .records(let load, let records):
      writer.write(kind: 1)
      writer.write(load)
      writer.write(records)
    case .encrypted(let message, let content):
      writer.write(kind: 2)
      writer.write(message)
      writer.write(content)
    case .blocked(let message, let reason, let user):
      writer.write(kind: 3)
      writer.write(message)
      writer.write(kind: reason.rawValue)
      writer.write(user)
    case .late(let room, let events):
      writer.write(kind: 4)
      writer.write(room)
      writer.write(events) { $0.write($1) }
    case .ended(let number, let outcome):
      writer.write(kind: 5)
      writer.write(number)
      outcome.write(to: &writer)
    case .received(let event):
      writer.write(kind: 30)
      writer.write(event)
    case .progress(let number, let done, let count):
      writer.write(kind: 20)
      writer.write(number)
      writer.write(done)
      writer.write(count)
    case .history(let room, let user, let file):
      writer.write(kind: 21)
      writer.write(room)
      writer.write(user)
      writer.write(file)
    case .news(let news):
      writer.write(kind: 31)
      news.write(to: &writer)
    }
  }

  fileprivate init(_ reader: inout LinkReader) throws(LinkError) {
    switch try reader.byte() {
    case 0: self = .answer(try reader.uint32(), try reader.bytes())
    case 1: self = .records(try reader.uint32(), try reader.records())
    case 2: self = .encrypted(try reader.uint64(), try reader.bytes())
    case 3:
      let message = try reader.uint64()
      guard let reason = EncryptionReport.Block(rawValue: try reader.byte()) else { throw .unknownKind }
      self = .blocked(message, reason, about: try reader.text())
    case 4: self = .late(room: try reader.text(), try reader.list { (one) throws(LinkError) in try one.bytes() })
    case 5: self = .ended(try reader.uint64(), try EncryptionReport.Outcome(&reader))
    case 30: self = .received(try reader.receivedDeviceEvent())
    case 31: self = .news(try EncryptionReport.News(&reader))
    case 20: self = .progress(try reader.uint64(), done: try reader.uint32(), of: try reader.uint32())
    case 21: self = .history(room: try reader.text(), from: try reader.text(), try reader.bytes())
    default: throw .unknownKind
    }
  }
}

extension EncryptionReport.Change {
  fileprivate func write(to writer: inout LinkWriter) {
    switch self {
    case .put(let record):
      writer.write(kind: 0)
      writer.write(record)
    case .delete(let key):
      writer.write(kind: 1)
      writer.write(key)
    }
  }

  fileprivate init(_ reader: inout LinkReader) throws(LinkError) {
    switch try reader.byte() {
    case 0: self = .put(try reader.record())
    case 1: self = .delete(try reader.text())
    default: throw .unknownKind
    }
  }
}

extension EncryptionReport.Request {
  fileprivate func write(to writer: inout LinkWriter) {
    writer.write(id)
    writer.write(kind: method)
    writer.write(target)
    writer.write(body)
  }

  fileprivate init(_ reader: inout LinkReader) throws(LinkError) {
    self.init(id: try reader.uint64(), method: try reader.byte(), target: try reader.text(), body: try reader.bytes())
  }
}
