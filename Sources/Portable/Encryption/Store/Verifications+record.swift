import JSON
import MatrixModel
import Olm

/// A verification does not survive the end of a machine: its keys are in memory only. What is stored tells the other side so.
extension Verifications {
  /// What the store does not have as it is.
  mutating func takeWrites() -> [RecordChange] {
    var writes = takeRemoved().map { RecordChange.delete($0) }
    // What nobody has answered here, another device may still answer.
    for place in runs.indices where runs[place].isUnstored && !runs[place].isUnanswered {
      let run = runs[place]
      runs[place].isUnstored = false
      writes.append(run.isClosed ? .delete(run.record) : .put(EncryptionRecord(key: run.record, value: run.stored)))
    }
    return writes
  }

  /// Takes a record of an earlier machine. What was under way is cancelled; what was done is said once more.
  mutating func restore(_ record: EncryptionRecord, _ own: OwnKeys, random: inout SecretSource, at now: Int64)
    throws(RecordRefusal)
  {
    let json = try JSON.record(record.value)
    let room = RoomID(json["room"]), transaction = json.text("transaction")
    var run = run(
      with: try json.identifier("user"), room, device: DeviceID(json["device"]), isOurs: true, record: record.key, own,
      end: now + VerificationRun.patienceMilliseconds, random: &random)
    (run.transaction, run.isHidden) = (transaction, true)
    run.asked = json["asked"]?.elements.compactMap { DeviceID($0) } ?? []
    if try json.flag("done") {
      // What was sent already is known by its content.
      if let mac = json["mac"], mac.isObject { run.send(.mac, mac) }
      run.say(.done)
      run.finish(.done, isClosed: false)
    } else {
      run.cancel(json.text("code").map { CancelReason(code: $0) } ?? .user)
    }
    append(run)
  }
}

extension VerificationRun {
  fileprivate var stored: [UInt8] {
    JSONWriter.record { writer in
      if let transaction { writer.member("transaction", transaction) }
      writer.member("user", view.user)
      if let device = view.device { writer.member("device", device) }
      if let room = view.room { writer.member("room", room) }
      writer.array("asked", asked) { $1.write($0) }
      writer.member("done", view.stage == .done)
      if let mac, view.stage == .done { writer.member("mac", mac) }
      if case .cancelled(let cancellation) = view.stage { writer.member("code", cancellation.reason.code) }
    }
  }
}

extension RecordNames {
  static let verifications: ByteString = "e/verify/"

  func verification(_ transaction: ByteString) -> ByteString { named(Self.verifications, transaction) }
}
