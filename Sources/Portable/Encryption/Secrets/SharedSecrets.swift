import JSON
import MatrixModel
import Olm

/// The secrets that this device asks others of the user for, and those that it gives them.
///
/// A value: it is stored with each batch that changes it. Spec: Client-Server API, "Sharing".
struct SharedSecrets: Sendable {
  var requests: SecretRequests { didSet { isUnstored = true } }
  var answers = SecretAnswers() { didSet { isUnstored = true } }
  /// Whether to ask once the other device knows that it was verified.
  var areNeeded = false { didSet { isUnstored = true } }
  /// The backup's key that a device has sent, until it is known which backup it opens.
  var backupKey: Secret? { didSet { isUnstored = true } }
  /// The message that brought it, until a restart.
  var backupAnswer: OlmPayload?
  /// Answers that wait for a session with the device. In memory only: who asks does it again.
  var unsent: [SecretAnswers.Request] = []
  private(set) var isUnstored = false
  /// Whether the server is asked which backup there is.
  var isAsking = false

  /// Devices that were verified here and have not got anything yet. In memory only: they show how long to stay.
  var awaited: Set<Ed25519Key> = []

  static let unsentLimit = 16

  init(of device: DeviceID) { requests = SecretRequests(from: device) }

  mutating func markStored() { isUnstored = false }

  // MARK: Record

  var record: [UInt8] {
    JSONWriter.record { writer in
      writer.member("requests", raw: requests.record)
      writer.array("verified", answers.verified.keys.ordered { $0.name < $1.name }) { key, writer in
        writer.object { writer in
          writer.member("key", base64: key.bytes)
          writer.member("at", answers.verified[key] ?? 0)
        }
      }
      if areNeeded { writer.member("needed", true) }
      if let backupKey { writer.member("backup", base64: backupKey.exposed()) }
    }
  }

  init(record bytes: [UInt8]) throws(RecordRefusal) {
    let json = try JSON.record(bytes)
    guard let requests = json["requests"] else { throw .unreadable }
    self.requests = try SecretRequests(record: Array(requests.bytes))
    for entry in json["verified"]?.elements.map({ $0 }) ?? [] {
      answers.restore(try entry.signingKey("key"), at: try entry.number("at"))
    }
    backupKey = json["backup"] == nil ? nil : Secret(try json.bytes("backup"))
    areNeeded = json.bool("needed") ?? false
    isUnstored = false
  }
}
