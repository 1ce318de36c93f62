import JSON
import MatrixModel
import Olm

/// A dehydrated device, opened: its messages are read page by page. In memory only, sessions and all: the device is never written with again.
struct Rehydration: Sendable {
  /// Of the dehydrated device. Used-up keys are gone here only.
  private var own: OwnKeys
  private var sessions = DeviceSessions()
  private var quota = KeyQuota()
  /// The token of the next page; nil for the first.
  private(set) var next: ByteString?
  private(set) var messages = 0
  private var pages = 0

  static let algorithm: ByteString = "org.matrix.msc3814.v2", stableAlgorithm: ByteString = "m.dehydration.v2"

  /// - Parameter answer: of `GET /dehydrated_device`.
  init(_ answer: JSON, of user: UserID, with key: Secret) throws(RehydrationFailure) {
    guard let device = DeviceID(answer["device_id"]), let data = answer["device_data"], let algorithm = data.text("algorithm")
    else { throw .malformed }
    guard algorithm == Self.algorithm || algorithm == Self.stableAlgorithm else { throw .unknownFormat }
    guard let sealed = data.base64("device_pickle"), let nonce = data.base64("nonce") else { throw .malformed }
    do throws(OlmError) {
      let account = try DehydratedAccount(sealed: sealed, nonce: nonce).open(with: key)
      own = OwnKeys(user: user, device: device, account: account)
    } catch {
      throw error == .wrongMAC ? .wrongKey : error == .unknownVersion ? .unknownFormat : .malformed
    }
  }

  var device: DeviceID { own.device }

  /// The body that asks for the next page.
  var body: [UInt8] {
    JSONWriter.object { writer in if let next { writer.member("next_batch", next) } }
  }

  /// Decrypts a page with all checks of an ordinary device: what is about keys of rooms comes back, everything else is of no use here.
  ///
  /// - Parameters:
  ///   - answer: of `POST /dehydrated_device/{deviceId}/events`.
  ///   - tracker: devices as this client knows them.
  mutating func read(_ answer: JSON, knowing tracker: DeviceTracker, at now: Int64) -> [Arrival] {
    var arrivals: [Arrival] = []
    for event in Self.events(of: answer) {
      guard messages < EncryptionLimits.eventsOfDehydrated else { break }
      messages += 1
      if event.bytes.count <= EncryptionLimits.toDeviceBytes, let arrival = arrival(event, tracker, at: now) {
        arrivals.append(arrival)
      }
    }
    return arrivals
  }

  /// Goes on to the next page.
  ///
  /// - Returns: false after the last one.
  mutating func advance(_ answer: JSON) throws(RehydrationFailure) -> Bool {
    pages += 1
    // The proposal leaves the token out of the last page; servers of today give one always, and then an empty page.
    guard !Self.events(of: answer).isEmpty, let token = answer.text("next_batch"), token != next else { return false }
    guard messages < EncryptionLimits.eventsOfDehydrated, pages < EncryptionLimits.pagesOfDehydrated else {
      throw .tooManyMessages
    }
    next = token
    return true
  }

  private static func events(of answer: JSON) -> [JSON] { answer["events"]?.elements.map { $0 } ?? [] }

  private mutating func arrival(_ event: JSON, _ tracker: DeviceTracker, at now: Int64) -> Arrival? {
    guard let sender = UserID(event["sender"]), let content = event["content"], content.isObject else { return nil }
    switch event.text("type") {
    case "m.room.encrypted":
      guard let payload = try? sessions.decrypt(content, from: sender, to: &own, knowing: tracker) else { return nil }
      switch payload.type {
      case "m.room_key":
        // Nobody is followed yet when a device has just been signed in.
        return mayLeaveRecord(sender, at: now) ? Arrival(payload) : nil
      case "m.room_key_bundle": return Arrival(payload)
      default: return nil
      }
    case "m.room_key.withheld":
      return Arrival(withheld: content, from: sender).flatMap { mayLeaveRecord(sender, at: now) ? $0 : nil }
    default: return nil
    }
  }

  private mutating func mayLeaveRecord(_ sender: UserID, at now: Int64) -> Bool {
    quota.take(from: sender, limit: EncryptionLimits.roomKeysOfUser, at: now)
  }
}
