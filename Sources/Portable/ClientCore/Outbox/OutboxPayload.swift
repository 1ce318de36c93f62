import JSON
import MatrixModel

/// What an entry of the outbox does, as it is stored.
struct OutboxPayload: Sendable {
  /// The numbers are stored.
  enum Kind: UInt8, Sendable {
    /// An event with a place of its own in the timeline.
    case event = 1
    case edit = 2
    case reaction = 3
    case redaction = 4
    /// A vote, the end of a poll, a position: it changes what another event shows.
    case reference = 5
    case state = 6
  }

  enum Target: Hashable, Sendable {
    case event(EventID)
    /// An earlier entry of the same room; once the server has it, its event takes this place.
    case entry(SendID)
  }

  var kind: Kind
  var type: EventType
  /// A JSON object without the relation. Of an edit the new content; of a redaction the body of the request.
  var content: [UInt8] = Array("{}".utf8)
  /// Of state events.
  var stateKey: ByteString?
  /// What is edited, reacted to, redacted or referred to; the thread's root of an event.
  var target: Target?
  var replyTo: Target?
  /// Whether `replyTo` is there only for clients without threads.
  var isFallingBack = false
  /// Of a reaction, and of a redaction that takes one back.
  var key: ByteString?
  /// Whose reaction a redaction takes back.
  var reactedTo: Target?
  /// The users that an edit notifies: those that the message did not mention before.
  var newMentions: [UInt8]?
  var files: [OutboxFile] = []
  /// The content of its `m.room.encrypted`. It was made once: each try sends the same.
  var ciphertext: [UInt8]?

  init(_ kind: Kind, _ type: EventType) {
    self.kind = kind
    self.type = type
  }

  /// Everything it needs to have an event ID.
  var targets: [Target] {
    [target, replyTo, reactedTo].compactMap { $0 }
  }

  func dependsOn(_ id: SendID) -> Bool {
    target == .entry(id) || replyTo == .entry(id) || reactedTo == .entry(id)
  }

  mutating func resolve(_ id: SendID, as event: EventID) {
    if target == .entry(id) { target = .event(event) }
    if replyTo == .entry(id) { replyTo = .event(event) }
    if reactedTo == .entry(id) { reactedTo = .event(event) }
  }

  mutating func forgetUploads() {
    for i in files.indices {
      files[i].request = nil
      files[i].sentBytes = 0
    }
  }

  /// The room became encrypted: what lies on the server in clear text is uploaded anew.
  mutating func forgetClearFiles() {
    for i in files.indices where files[i].isClear {
      files[i].uri = nil
      files[i].sentBytes = 0
    }
  }

  /// Whether a refusal of the server ends it: the user would not retry a reaction as they would a message.
  var isDroppedWhenRefused: Bool { kind == .reaction || kind == .redaction || kind == .reference }
}

/// A file that is uploaded before the event goes out.
struct OutboxFile: Sendable {
  var blob: BlobHandle
  var mimeType: ByteString?
  var fileName: ByteString
  var sizeBytes: Int64?
  /// nil until it is uploaded.
  var uri: MediaURI?
  /// What decrypts it. nil if it is uploaded as it is.
  var keys: FileKeys?
  /// That uploads it, and how much it has sent; not stored.
  var request: RequestID?
  var sentBytes: Int64 = 0
  /// Whether the request encrypts it; not stored.
  var isEncrypting = false

  /// Whether the server has it in clear text, or is getting it.
  var isClear: Bool { uri != nil && keys == nil || request != nil && !isEncrypting }
}

extension OutboxFile {
  init(_ file: UnsentFile) {
    self.init(blob: file.blob, mimeType: file.mimeType, fileName: file.fileName, sizeBytes: file.sizeBytes)
  }
}

// MARK: - Contents

extension OutboxPayload {
  /// The content with the places of uploaded files filled in.
  var filledContent: [UInt8] {
    guard !files.isEmpty, let json = Answer.parse(content) else { return content }
    var writer = JSONWriter(capacity: content.count + 64 * files.count)
    fill(json, to: &writer)
    return writer.bytes
  }

  private func fill(_ json: JSON, to writer: inout JSONWriter) {
    if json.isObject {
      writer.beginObject()
      for member in json.members {
        guard member.isKey("url") || member.isKey("thumbnail_url"), let file = uploaded(member.value), let uri = file.uri else {
          writer.key(member.key)
          fill(member.value, to: &writer)
          continue
        }
        if let keys = file.keys {
          writer.key(member.isKey("url") ? "file" : "thumbnail_file")
          EncryptedFile(uri, keys).write(to: &writer)
        } else {
          writer.key(member.key)
          writer.write(uri)
        }
      }
      writer.endObject()
    } else if json.isArray {
      writer.array { writer in for element in json.elements { fill(element, to: &writer) } }
    } else {
      writer.write(json)
    }
  }

  private func uploaded(_ json: JSON) -> OutboxFile? {
    guard let text = json.text, text.hasPrefix("upload:") else { return nil }
    return files.indices.first { UnsentFile.placeholder($0) == text }.map { files[$0] }
  }

  /// The body of the request; nil where something it needs has no event ID.
  var body: [UInt8]? {
    switch kind {
    case .redaction, .state: return content
    case .edit: return editBody
    case .event, .reaction, .reference: return eventBody
    }
  }

  private var eventBody: [UInt8]? {
    let content = filledContent
    guard target != nil || replyTo != nil else { return content }
    guard let json = Answer.parse(content), let relation = relation else { return nil }
    var writer = JSONWriter(capacity: content.count + 256)
    writer.object { writer in
      for member in json.members where !member.isKey("m.relates_to") {
        writer.key(member.key)
        writer.write(member.value)
      }
      writer.member("m.relates_to", raw: relation)
    }
    return writer.bytes
  }

  /// Spec: "Event replacements": the content for clients that know no edits begins with an asterisk.
  private var editBody: [UInt8]? {
    let content = filledContent
    guard let json = Answer.parse(content), let relation = relation else { return nil }
    var writer = JSONWriter(capacity: 2 * content.count + 256)
    writer.object { writer in
      for member in json.members where !member.isKey("m.relates_to") && !member.isKey("m.mentions") {
        writer.key(member.key)
        if member.isKey("body") || member.isKey("formatted_body"), let text = member.value.text {
          writer.write(ByteString("* " + text.string))
        } else {
          writer.write(member.value)
        }
      }
      writer.member("m.mentions", raw: newMentions ?? json["m.mentions"].map { Array($0.bytes) } ?? Array("{}".utf8))
      writer.member("m.new_content", raw: content)
      writer.member("m.relates_to", raw: relation)
    }
    return writer.bytes
  }

  /// `m.relates_to`; nil where something it needs has no event ID.
  private var relation: [UInt8]? {
    for target in targets { if case .entry = target { return nil } }
    var writer = JSONWriter()
    writer.object { writer in
      if case .event(let event)? = target {
        writer.member("rel_type", relationType)
        writer.member("event_id", event)
        if let key { writer.member("key", key) }
      }
      guard case .event(let event)? = replyTo else { return }
      writer.key("m.in_reply_to")
      writer.object { $0.member("event_id", event) }
      if isFallingBack { writer.member("is_falling_back", true) }
    }
    return writer.bytes
  }

  private var relationType: String {
    switch kind {
    case .event: "m.thread"
    case .edit: "m.replace"
    case .reaction: "m.annotation"
    case .reference, .redaction, .state: "m.reference"
    }
  }

  /// With another text, or another caption, in the same place.
  mutating func setText(_ text: FormattedText, own: UserID) {
    guard let json = Answer.parse(content) else { return }
    let fileName = json.text("filename")
    var writer = JSONWriter(capacity: content.count + text.body.count)
    writer.object { writer in
      for member in json.members {
        if member.isKey("body") || member.isKey("format") || member.isKey("formatted_body") || member.isKey("m.mentions")
          || member.isKey("martlet.no_preview")
        {
          continue
        }
        writer.key(member.key)
        writer.write(member.value)
      }
      if text.body.isEmpty, let fileName { writer.member("body", fileName) } else { text.writeMembers(to: &writer) }
      text.mentions.writeMember(to: &writer, without: own)
    }
    content = writer.bytes
  }
}
