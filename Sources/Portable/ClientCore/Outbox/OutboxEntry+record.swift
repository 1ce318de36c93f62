import JSON
import MatrixModel

/// The record of an entry. Numbers and names are kept for good: records outlive versions of the program.
extension OutboxEntry {
  var record: [UInt8] {
    var writer = JSONWriter(capacity: payload.content.count + 512)
    writer.object { writer in
      writer.member("id", Int64(bitPattern: id))
      writer.member("room", roomID)
      writer.member("transaction", transactionID)
      writer.member("time", createdAt)
      payload.writeMembers(to: &writer)
      switch phase {
      case .sent(let event, _): writer.member("event", event)
      case .failed(let error): error.writeMember(to: &writer)
      default: break
      }
    }
    return writer.bytes
  }

  init?(record: JSON) {
    guard let id = record.integer("id"), let room = RoomID(record["room"]),
      let transaction = TransactionID(record["transaction"]), let payload = OutboxPayload(record: record)
    else { return nil }
    var phase = Phase.queued
    let event = EventID(record["event"])
    if let event {
      phase = .sent(event, afterSync: 0)
    } else if let error = ClientError(outboxRecord: record) {
      phase = .failed(error)
    }
    self.init(
      id: ID(bitPattern: id), roomID: room, transactionID: transaction, createdAt: record.integer("time") ?? 0,
      payload: payload, phase: phase)
    eventID = event
  }
}

extension OutboxPayload {
  fileprivate func writeMembers(to writer: inout JSONWriter) {
    writer.member("do", Int(kind.rawValue))
    writer.member("type", type)
    writer.member("content", raw: content)
    if let stateKey { writer.member("state_key", stateKey) }
    if let target { target.writeMember("target", to: &writer) }
    if let replyTo { replyTo.writeMember("reply", to: &writer) }
    if isFallingBack { writer.member("fallback", true) }
    if let key { writer.member("key", key) }
    if let reactedTo { reactedTo.writeMember("reacted", to: &writer) }
    if let newMentions { writer.member("mentions", raw: newMentions) }
    if let ciphertext { writer.member("ciphertext", raw: ciphertext) }
    guard !files.isEmpty else { return }
    writer.key("files")
    writer.array { writer in
      for file in files { file.write(to: &writer) }
    }
  }

  init?(record: JSON) {
    guard let number = record.integer("do") else {
      self.init(firstRecord: record)
      return
    }
    guard let kind = UInt8(exactly: number).flatMap(Kind.init(rawValue:)), let type = EventType(record["type"]),
      let content = record["content"], content.isObject
    else { return nil }
    self.init(kind, type)
    self.content = Array(content.bytes)
    stateKey = record.text("state_key")
    target = Target(record["target"])
    replyTo = Target(record["reply"])
    isFallingBack = record.bool("fallback") ?? false
    key = record.text("key")
    reactedTo = Target(record["reacted"])
    newMentions = record["mentions"].map { Array($0.bytes) }
    ciphertext = record["ciphertext"].map { Array($0.bytes) }
    for file in record["files"]?.elements ?? record.elements {
      guard let file = OutboxFile(record: file) else { return nil }
      files.append(file)
    }
    let needsTarget = kind == .edit || kind == .reaction || kind == .redaction || kind == .reference
    if needsTarget, target == nil { return nil }
  }

  /// Messages of the first version of the record: the content with its relation, at most one file.
  private init?(firstRecord record: JSON) {
    guard record.integer("kind") != nil, let content = record["content"], content.text("body") != nil else { return nil }
    self.init(.event, .message)
    replyTo = EventID(content["m.relates_to"]?["m.in_reply_to"]?["event_id"]).map { .event($0) }
    let blob = record.text("blob")
    var writer = JSONWriter()
    writer.object { writer in
      for member in content.members where !member.isKey("m.relates_to") && (blob == nil || !member.isKey("url")) {
        writer.key(member.key)
        writer.write(member.value)
      }
      if blob != nil { writer.member("url", UnsentFile.placeholder(0)) }
    }
    self.content = writer.bytes
    guard let blob else { return }
    let info = content["info"]
    var file = OutboxFile(
      blob: BlobHandle(blob), mimeType: info?.text("mimetype"), fileName: content.text("filename") ?? "",
      sizeBytes: info?["size"]?.natural)
    file.uri = MediaURI(content["url"])
    files = [file]
  }
}

extension OutboxPayload.Target {
  fileprivate func writeMember(_ key: StaticString, to writer: inout JSONWriter) {
    switch self {
    case .event(let event): writer.member(key, event)
    case .entry(let id): writer.member(key, Int64(bitPattern: id))
    }
  }

  fileprivate init?(_ json: JSON?) {
    if let event = EventID(json) {
      self = .event(event)
    } else if let id = json?.integer {
      self = .entry(SendID(bitPattern: id))
    } else {
      return nil
    }
  }
}

extension OutboxFile {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("blob", blob.name)
      writer.member("name", fileName)
      if let mimeType { writer.member("type", mimeType) }
      if let sizeBytes { writer.member("size", sizeBytes) }
      if let uri { writer.member("uri", uri) }
      guard let keys else { return }
      writer.member("key", keys.key)
      writer.member("counter", keys.counter)
      writer.member("digest", keys.digest)
    }
  }

  fileprivate init?(record: JSON) {
    guard let blob = record.text("blob") else { return nil }
    self.init(
      blob: BlobHandle(blob), mimeType: record.text("type"), fileName: record.text("name") ?? "",
      sizeBytes: record["size"]?.natural)
    keys = FileKeys(key: record.text("key"), counter: record.text("counter"), digest: record.text("digest"))
    // Without its keys nobody could read it.
    uri = record["key"] != nil && keys == nil ? nil : MediaURI(record["uri"])
  }
}

extension ClientError {
  /// Only what makes a message fail for good.
  func writeMember(to writer: inout JSONWriter) {
    writer.key("failed")
    writer.object { writer in
      switch self {
      case .refused(let status, let code, let message, _):
        writer.member("status", status)
        writer.member("errcode", code.text)
        writer.member("error", message)
      case .targetFailed: writer.member("target", true)
      case .tooLarge(let limit): writer.member("limit", limit)
      case .unknownRoom: writer.member("room", true)
      case .encryptedRoom: writer.member("encrypted", true)
      case .unconfirmedIdentity(let user): writer.member("identity", user)
      default: break
      }
    }
  }

  init?(outboxRecord record: JSON) {
    guard let failed = record["failed"] else { return nil }
    if let status = failed["status"]?.count32 {
      self = .refused(
        status: status, code: ErrorCode(failed.text("errcode") ?? ""), message: failed.text("error") ?? "")
    } else if failed["target"] != nil {
      self = .targetFailed
    } else if let limit = failed["limit"]?.natural {
      self = .tooLarge(limitBytes: limit)
    } else if let user = UserID(failed["identity"]) {
      self = .unconfirmedIdentity(user)
    } else if failed["encrypted"] != nil {
      self = .encryptedRoom
    } else {
      self = failed["room"] != nil ? .unknownRoom : .attachmentIsGone
    }
  }
}
