import ClientCore
import ClientHost
import JSON
import MatrixModel
import MessageRows
import Messenger
import PageWidgets
import PageWords
import WebHost

/// What stands in a message.
extension RowMaker {
  /// Pictures up to this many bytes are loaded as they are; of larger ones a smaller version is asked for.
  private static var wholePictureBytes: Int64 { 300_000 }

  func body(_ message: MessageContent, _ item: TimelineItem, _ room: Room) -> MessageRow.Body {
    switch message.kind {
    case .text, .unknown:
      if case .unknown(let type, let content) = message.details,
        let drawn = app.embedding?.drawn(type.string, content, spoken: message.body.string)
      {
        return .parts([.custom(drawn)])
      }
      guard let rich = rich(message, room) else { return .text(message.body.string) }
      let contact = message.sharedContact(rich) { user in
        room.membership(of: user) == nil ? nil : room.displayName(of: user).string
      }
      return .parts([contact.map { .contact($0) } ?? .rich(rich)])
    case .emote:
      return rich(message, room).map { .parts([.rich($0)], tone: .emote) } ?? .emote(message.body.string)
    case .notice:
      return rich(message, room).map { .parts([.rich($0)], tone: .notice) } ?? .notice(message.body.string)
    case .sticker, .image, .video, .audio, .voice, .file:
      guard let part = part(message, item) else { return .unsupported(message.body.string) }
      return .parts(contact(message) + [part] + caption(message, room))
    case .gallery: return gallery(message, item, room)
    case .poll: return message.poll.map { .parts([.poll(poll($0))]) } ?? .unsupported(message.body.string)
    case .location:
      guard let location = message.location else { return .unsupported(message.body.string) }
      return .parts([.location(place(location.uri, location.description ?? message.body, isLive: false))])
    case .liveLocation:
      guard let share = message.liveLocation else { return .unsupported(message.body.string) }
      return .parts([.location(live(share))])
    }
  }

  func body(_ event: CustomEvent) -> MessageRow.Body {
    let words = event.text?.string ?? ""
    guard let content = app.embedding?.drawn(event.type.string, event.content, spoken: words) else {
      return .unsupported(words)
    }
    return .parts([.custom(content)])
  }

  /// And what its links lead to, as far as that is known.
  func withPreview(_ body: MessageRow.Body, _ item: TimelineItem, _ room: Room) -> MessageRow.Body {
    guard !previews.isEmpty else { return body }
    var shown: [ContentPart] = []
    for url in RowMaker.links(in: item) {
      if case .some(.some(let preview)) = previews[url] { shown.append(preview) }
    }
    // The setting is asked last: it costs a call of the browser.
    guard !shown.isEmpty, app.showsPreviews(in: room) else { return body }
    switch body {
    case .text(let text): return .parts([.text(text)] + shown)
    case .parts(let parts, let tone): return .parts(parts + shown, tone: tone)
    default: return body
    }
  }

  // MARK: Text

  /// nil where the plain text says it all.
  func rich(_ message: MessageContent, _ room: Room) -> RichText? {
    guard let html = message.formattedBody else { return nil }
    let app = app
    var body = FormattedBody(html) { link in
      guard link.event == nil else { return nil }
      return switch link.target {
      case .user(let user):
        Mention(id: user.string, name: room.displayName(of: user).string, isReader: user == app.userID)
      case .room(let id): Mention(id: id.string, name: app.client.room(id).map { Strings.words(for: $0.name) } ?? id.string)
      case .alias(let alias): Mention(id: alias.string, name: alias.string)
      }
    } picture: {
      app.emojiSource($0)
    }
    let text = body.read()
    if text.blocks.isEmpty { return nil }
    // What is but text is cheaper as such.
    if text.blocks.count == 1, case .paragraph(let spans) = text.blocks[0], spans.count == 1, case .text(let plain) = spans[0],
      plain.hasSameBytes(as: message.body.string)
    {
      return nil
    }
    return text
  }

  private func caption(_ message: MessageContent, _ room: Room) -> [ContentPart] {
    guard let caption = message.caption, message.kind != .sticker, !caption.isEmpty else { return [] }
    return [rich(message, room).map { .rich($0) } ?? .text(caption.string)]
  }

  // MARK: Files

  /// Who is in the file, above it.
  private func contact(_ message: MessageContent) -> [ContentPart] {
    guard let uri = message.contact, case .some(.some(let contact)) = previews[app.mediaSource(uri)] else { return [] }
    return [contact]
  }

  /// nil where there is no file to show.
  private func part(_ message: MessageContent, _ item: TimelineItem) -> ContentPart? {
    guard let file = message.attachment else { return nil }
    let progress = progress(file, item.delivery)
    switch message.kind {
    case .image, .sticker:
      guard file.isThere || file.blob != nil else { return nil }
      let image = picture(message, file, progress)
      return message.kind == .sticker ? .sticker(image) : .image(image)
    case .video:
      return .video(
        VideoBody(poster: picture(message, file, progress), durationMilliseconds: file.durationMilliseconds ?? 0))
    case .audio, .voice:
      return .audio(
        AudioBody(
          name: file.fileName.string, detail: detail(file), durationMilliseconds: file.durationMilliseconds ?? 0,
          waveform: file.waveform.map { UInt8(min(255, $0 / 4)) }, isVoice: message.kind == .voice, uploadProgress: progress))
    default:
      // An address costs more than to look whether anything is fetched.
      let fetching = app.fetches.isEmpty ? nil : app.mediaSource(file).flatMap { app.fetching($0) }
      return .file(FileBody(name: file.fileName.string, detail: fetching ?? detail(file), uploadProgress: progress))
    }
  }

  private func gallery(_ message: MessageContent, _ item: TimelineItem, _ room: Room) -> MessageRow.Body {
    var items: [GalleryBody.Item] = []
    var parts: [ContentPart] = []
    for entry in message.gallery {
      if let file = entry.attachment, entry.kind == .image || entry.kind == .video {
        items.append(GalleryBody.Item(picture(entry, file, nil), isVideo: entry.kind == .video))
      } else if let part = part(entry, item) {
        parts.append(part)
      }
    }
    if !items.isEmpty { parts.insert(.gallery(GalleryBody(items: items, layout: .grid(rows: (items.count + 2) / 3))), at: 0) }
    if !message.body.isEmpty { parts.append(rich(message, room).map { .rich($0) } ?? .text(message.body.string)) }
    return parts.isEmpty ? .unsupported(message.body.string) : .parts(parts)
  }

  /// The picture of an image, or the one that stands for a video.
  private func picture(_ message: MessageContent, _ file: Attachment, _ progress: Double?) -> ImageBody {
    let isVideo = message.kind == .video
    let name = message.kind == .sticker ? message.body : file.fileName
    return ImageBody(
      name: name.string, thumbnail: isVideo ? app.thumbnailSource(file) : source(file),
      width: Int(clamping: file.width ?? 0), height: Int(clamping: file.height ?? 0), blurHash: file.blurHash?.string ?? "",
      uploadProgress: progress)
  }

  /// Returns the file at hand for the user's own pictures, also after the server has them. Pictures without a width are those that the
  /// browser could not read; they come from the server.
  private func source(_ file: Attachment) -> String? {
    if let width = file.width, width > 0, let blob = file.blob, let url = app.effects.blobs.url(blob) { return url }
    if file.encrypted != nil { return app.thumbnailSource(file) ?? app.mediaSource(file) }
    guard let uri = file.source else { return nil }
    if let size = file.sizeBytes, size <= RowMaker.wholePictureBytes, let type = file.mimeType, RowMaker.isRaster(type) {
      return app.mediaSource(uri)
    }
    return app.thumbnailSource(file.thumbnail ?? uri)
  }

  /// A small file of another kind, such as SVG, may be a picture that takes a browser for ever.
  private static func isRaster(_ type: ByteString) -> Bool {
    switch type {
    case "image/png", "image/jpeg", "image/gif", "image/webp", "image/avif": true
    default: false
    }
  }

  private func progress(_ file: Attachment, _ delivery: Delivery) -> Double? {
    switch delivery {
    case .uploading(let sent, let total): return total > 0 ? Double(sent) / Double(total) : 0
    case .queued, .held: return file.isThere ? nil : 0
    case .received, .sending, .sent, .failed: return nil
    }
  }

  private func detail(_ file: Attachment) -> String {
    file.sizeBytes.map { Host.byteCountLabel($0) } ?? ""
  }

  // MARK: Polls and places

  private func poll(_ poll: Poll) -> PollBody {
    PollBody(
      question: poll.question.string,
      answers: poll.answers.map { answer in
        PollBody.Answer(
          id: answer.id.string, text: answer.text.string, votes: poll.showsVotes ? answer.voters.count : nil,
          isOwn: answer.isOwn)
      }, choiceLimit: poll.selectionLimit, voterCount: poll.voterCount, isEnded: poll.endedAtMilliseconds != nil)
  }

  private func place(_ uri: GeoURI, _ name: ByteString, isLive: Bool) -> LocationBody {
    // What clients that know no places would show says nothing more.
    let coordinates = String(decoding: uri.text.utf8.dropFirst(4).prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self)
    return LocationBody(name: name.hasPrefix("geo:") ? "" : name.string, detail: coordinates, isLive: isLive)
  }

  private func live(_ share: LiveLocation) -> LocationBody {
    let name = share.description ?? ByteString("")
    if let position = share.position { return place(position.uri, name, isLive: share.isLive) }
    return LocationBody(name: name.string, detail: "", isLive: share.isLive)
  }
}
