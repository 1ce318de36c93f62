import JSON
import MatrixModel

/// The event that a message becomes.
struct OutgoingContent: Sendable {
  var type: EventType
  /// A JSON object without a relation. Files that are still to be uploaded stand in it as `upload:` and their number.
  var bytes: [UInt8]
  var files: [UnsentFile] = []

  /// Whether it has keys of encrypted files, as a forwarded message may.
  var namesFileKeys: Bool {
    guard let json = Answer.parse(bytes), let message = try? MessageContent(json, type: type) else { return false }
    return ([message] + message.gallery).contains {
      $0.attachment?.encrypted != nil || $0.attachment?.encryptedThumbnail != nil
    }
  }
}

extension OutgoingMessage {
  /// Whether it has keys of encrypted files, as a forwarded message may: it is for encrypted rooms alone.
  package var namesFileKeys: Bool {
    guard case .custom(let type, let bytes) = body else { return false }
    return OutgoingContent(type: type, bytes: bytes).namesFileKeys
  }

  func content(own: UserID, now: Int64) throws(ClientError) -> OutgoingContent {
    var files: [UnsentFile] = []
    var type = EventType.message
    var writer = JSONWriter()
    switch body {
    case .text(let text, let style):
      writer.object { writer in
        writer.member("msgtype", style.kind.name)
        text.writeMembers(to: &writer)
        all(text.mentions).writeMember(to: &writer, without: own)
      }
    case .media(let media):
      try OutgoingMessage.check(media)
      writer.object { writer in
        media.writeMembers(to: &writer, typeKey: "msgtype", &files)
        all(media.caption?.mentions).writeMember(to: &writer, without: own)
      }
    case .gallery(let media, let caption): try write(gallery: media, caption, to: &writer, own, &files)
    case .sticker(let picture, let text):
      guard picture.blob != nil || picture.source != nil else { throw .attachmentIsGone }
      type = .sticker
      writer.object { writer in
        writer.member("body", text)
        picture.writeMembers(to: &writer, .image, thumbnail: nil, &files)
      }
    case .location(let location): location.write(to: &writer, all(nil), own, now: now)
    case .poll(let poll):
      type = .unstablePollStart
      try poll.write(to: &writer, all(nil), own)
    case .custom(let customType, let bytes):
      guard let json = Answer.parse(bytes), json.isObject else { throw .invalidContent }
      type = customType
      writer.raw(bytes)
    }
    let bytes = isSilent ? OutgoingMessage.silent(writer.bytes) : writer.bytes
    guard bytes.count <= ContentLimits.contentBytes else { throw .tooLarge(limitBytes: Int64(ContentLimits.contentBytes)) }
    return OutgoingContent(type: type, bytes: bytes, files: files)
  }

  private static func silent(_ content: [UInt8]) -> [UInt8] {
    guard let json = Answer.parse(content) else { return content }
    return JSONWriter.object { writer in
      for member in json.members {
        writer.key(member.key)
        writer.write(member.value)
      }
      writer.member("martlet.silent", true)
    }
  }

  private func all(_ named: Mentions?) -> Mentions {
    var all = mentions
    if let named { all.formUnion(named) }
    return all
  }

  private static func check(_ media: OutgoingMedia) throws(ClientError) {
    let file = media.file
    guard media.kind.hasFile, media.kind != .sticker, file.blob != nil || file.source != nil || file.encrypted != nil else {
      throw .attachmentIsGone
    }
  }

  private func write(
    gallery: [OutgoingMedia], _ caption: FormattedText, to writer: inout JSONWriter, _ own: UserID,
    _ files: inout [UnsentFile]
  ) throws(ClientError) {
    guard (1...ContentLimits.galleryEntries).contains(gallery.count) else { throw .invalidContent }
    for media in gallery { try OutgoingMessage.check(media) }
    var mentions = all(caption.mentions)
    for media in gallery { if let named = media.caption?.mentions { mentions.formUnion(named) } }
    writer.object { writer in
      writer.member("msgtype", MessageContent.Kind.gallery.name)
      caption.writeMembers(to: &writer)
      writer.key("itemtypes")
      writer.array { writer in
        for media in gallery {
          writer.object { writer in media.writeMembers(to: &writer, typeKey: "itemtype", &files) }
        }
      }
      mentions.writeMember(to: &writer, without: own)
    }
  }
}

extension OutgoingMessage.Style {
  var kind: MessageContent.Kind {
    switch self {
    case .text: .text
    case .emote: .emote
    case .notice: .notice
    }
  }
}

extension OutgoingLocation {
  func write(to writer: inout JSONWriter, _ mentions: Mentions, _ own: UserID, now: Int64) {
    writer.object { writer in
      writer.member("msgtype", "m.location")
      writer.member("body", description)
      writer.member("geo_uri", geoURI)
      writer.member("org.matrix.msc1767.text", description)
      writeLocation(geoURI, description, to: &writer)
      writer.key("org.matrix.msc3488.asset")
      writer.object { $0.member("type", isOwnPosition ? "m.self" : "m.pin") }
      writer.member("org.matrix.msc3488.ts", now)
      mentions.writeMember(to: &writer, without: own)
    }
  }
}

/// `m.location` of MSC3488, in events of its own and in beacons.
func writeLocation(_ geoURI: ByteString, _ description: ByteString?, to writer: inout JSONWriter) {
  writer.key("org.matrix.msc3488.location")
  writer.object { writer in
    writer.member("uri", geoURI)
    if let description { writer.member("description", description) }
  }
}

extension OutgoingPoll {
  func write(to writer: inout JSONWriter, _ mentions: Mentions, _ own: UserID) throws(ClientError) {
    guard !question.isEmpty, (1...ContentLimits.pollAnswers).contains(answers.count),
      (1...answers.count).contains(selectionLimit),
      !answers.contains(where: { $0.isEmpty })
    else { throw .invalidContent }
    var fallback = question.string
    for (i, answer) in answers.enumerated() { fallback += "\n\(i + 1). " + answer.string }
    writer.object { writer in
      writer.key("org.matrix.msc3381.poll.start")
      writer.object { writer in
        writer.key("question")
        writer.object { writer in
          writer.member("org.matrix.msc1767.text", question)
          writer.member("body", question)
          writer.member("msgtype", "m.text")
        }
        writer.member("kind", isDisclosed ? "org.matrix.msc3381.poll.disclosed" : "org.matrix.msc3381.poll.undisclosed")
        writer.member("max_selections", selectionLimit)
        writer.key("answers")
        writer.array { writer in
          for (i, answer) in answers.enumerated() {
            writer.object { writer in
              writer.member("id", String(i + 1))
              writer.member("org.matrix.msc1767.text", answer)
            }
          }
        }
      }
      writer.member("org.matrix.msc1767.text", fallback)
      mentions.writeMember(to: &writer, without: own)
    }
  }
}

extension BeaconInfo {
  func write(to writer: inout JSONWriter, now: Int64) {
    writer.object { writer in
      if let description { writer.member("description", description) }
      writer.member("live", isLive)
      writer.member("timeout", timeoutMilliseconds)
      writer.member("org.matrix.msc3488.ts", startedAtMilliseconds ?? now)
      writer.key("org.matrix.msc3488.asset")
      writer.object { $0.member("type", "m.self") }
    }
  }
}
