import JSON
import MatrixModel

/// Kinds that are more than text and a file, read from their content.
extension MessageContent {
  // MARK: Locations

  static func details(location content: JSON) -> Details {
    let extensible = content["m.location"] ?? content["org.matrix.msc3488.location"]
    guard let uri = (extensible?["uri"] ?? content["geo_uri"])?.text.flatMap({ GeoURI($0) }) else { return .none }
    let asset = (content["m.asset"] ?? content["org.matrix.msc3488.asset"])?["type"]
    return .location(
      Location(
        uri: uri, description: extensible?.text("description"),
        asset: asset?.isString("m.pin") ?? false ? .pin : .sender,
        timestampMilliseconds: (content["m.ts"] ?? content["org.matrix.msc3488.ts"])?.integer))
  }

  // MARK: Galleries

  /// MSC4274.
  static func details(gallery content: JSON) -> Details {
    var entries: [MessageContent] = []
    for entry in content["itemtypes"]?.elements ?? content.elements {
      guard entries.count < ContentLimits.galleryEntries else { break }
      guard let name = entry.text("itemtype") else { continue }
      let kind = Kind(name, in: entry)
      guard kind.hasFile, var body = entry.text("body") ?? entry.text("filename") else { continue }
      let file = Attachment(entry, body: &body)
      var content = MessageContent(kind: kind, body: body, attachment: file)
      content.formattedBody = html(entry)
      entries.append(content)
    }
    return .gallery(entries)
  }

  // MARK: Polls

  /// The content of `m.poll.start` or `org.matrix.msc3381.poll.start`.
  init(poll content: JSON) throws(UnreadableReason) {
    guard let start = content["m.poll"] ?? content["m.poll.start"] ?? content["org.matrix.msc3381.poll.start"],
      let question = start["question"]?.plainText
    else { throw .noBody }
    var answers: [Poll.Answer] = []
    for answer in start["answers"]?.elements ?? start.elements {
      guard answers.count < ContentLimits.pollAnswers else { break }
      guard let id = (answer["m.id"] ?? answer["id"])?.text, let text = answer.plainText,
        !answers.contains(where: { $0.id == id })
      else { continue }
      answers.append(Poll.Answer(id: id, text: text))
    }
    guard !answers.isEmpty else { throw .noAnswers }
    let kind = start["kind"]
    let isDisclosed =
      kind?.isString("m.disclosed") ?? false || kind?.isString("org.matrix.msc3381.poll.disclosed") ?? false
    let limit = start.integer("max_selections") ?? 1
    let poll = Poll(
      question: question, answers: answers, isDisclosed: isDisclosed,
      selectionLimit: Int(max(1, min(limit, Int64(ContentLimits.pollAnswers)))))
    self.init(kind: .poll, body: question, mentions: Mentions(content["m.mentions"]), details: .poll(poll))
  }

  /// The answers a vote names, each once.
  package static func selections(_ content: JSON) -> [ByteString] {
    let unstable = (content["m.poll.response"] ?? content["org.matrix.msc3381.poll.response"])?["answers"]
    guard let listed = content["m.selections"] ?? unstable, listed.isArray else { return [] }
    var selections: [ByteString] = []
    for answer in listed.elements {
      guard selections.count < ContentLimits.pollAnswers, let id = answer.text else { break }
      if !selections.contains(id) { selections.append(id) }
    }
    return selections
  }

  // MARK: Live locations

  /// The content of `m.beacon_info` that begins a share. MSC3489.
  package init(beaconInfo content: JSON, timestampMilliseconds sentAt: Int64) throws(UnreadableReason) {
    guard let timeout = content["timeout"]?.natural else { throw .noBody }
    let start = (content["m.ts"] ?? content["org.matrix.msc3488.ts"])?.integer ?? sentAt
    let (end, overflow) = start.addingReportingOverflow(timeout)
    let description = content.text("description")
    let share = LiveLocation(
      description: description, startedAtMilliseconds: start, expiresAtMilliseconds: overflow ? .max : end)
    self.init(kind: .liveLocation, body: description ?? "", details: .liveLocation(share))
  }
}

extension LiveLocation.Position {
  /// The content of `m.beacon`. nil where it names no place.
  package init?(_ content: JSON, event: EventID, timestampMilliseconds sentAt: Int64) {
    let location = content["m.location"] ?? content["org.matrix.msc3488.location"]
    guard let uri = location?["uri"]?.text.flatMap({ GeoURI($0) }) else { return nil }
    self.init(
      uri: uri, timestampMilliseconds: (content["m.ts"] ?? content["org.matrix.msc3488.ts"])?.integer ?? sentAt,
      event: event)
  }
}

extension JSON {
  /// Plain text of an extensible event. MSC1767: `m.text` lists representations; before that it was one member.
  var plainText: ByteString? {
    if let listed = self["m.text"] {
      if let text = listed.text { return text }
      for part in listed.elements where part["mimetype"]?.isString("text/plain") ?? true {
        if let text = part.text("body") { return text }
      }
    }
    return self.text("org.matrix.msc1767.text") ?? self.text("body")
  }
}
