/// A guess of a row's height in pixels, used until the browser has measured the row. Images are exact.
enum RowEstimate {
  static func height(_ row: TimelineRow, _ decor: Decor, width: Double) -> Float {
    var height: Float = 2
    if decor.contains(.date) { height += 44 }
    if decor.contains(.divider) { height += 36 }
    guard case .message(let message) = row.content else { return height + 28 }
    if decor.contains(.first) { height += decor.contains(.own) ? 8 : 28 }
    if decor.contains(.failed) { height += 28 }
    if let around = message.surroundings { height += around.estimate }
    if decor.contains(.told), message.sendState != .failed, message.surroundings?.readerCount ?? 0 == 0 { height += 20 }
    switch message.body {
    case .parts(let parts, _): for part in parts { height += part.estimate(width) }
    case .text(let text), .notice(let text), .emote(let text), .unsupported(let text): height += 16 + lines(text, width)
    case .redacted, .undecryptable: height += 36
    }
    return height
  }

  /// Of letters that are 7.4 pixels wide, those of China, Japan and Korea and pictures twice that. A line that is full hands on
  /// half a word. Measured by `Benchmarks/Messenger`: exact for 9 of 10 rows where there is room, for 7 of 10 on a telephone.
  static func lines(_ text: String, _ width: Double) -> Float {
    if text.isFewEmoji { return 40 }
    let room = Float(max(120, min(534, width - 136)))
    var text = text
    return text.withUTF8 { bytes in
      var (lines, end): (Float, Float) = (1, 0)
      for byte in bytes where byte & 0xC0 != 0x80 {
        end += byte >= 0xE3 ? 14.8 : 7.4
        guard end > room || byte == 10 else { continue }
        lines += 1
        end = byte == 10 ? 0 : 28
      }
      return 20 * lines
    }
  }
}

extension Surroundings {
  var estimate: Float {
    (header.utf8.isEmpty ? 0 : 22) + (footer.utf8.isEmpty ? 0 : 20) + (warning == nil ? 0 : 20) + (reply == nil ? 0 : 52)
      + (reactions.isEmpty ? 0 : 34) + (thread == nil ? 0 : 34) + (readerCount > 0 ? 20 : 0)
  }
}

extension ContentPart {
  func estimate(_ width: Double) -> Float {
    switch self {
    case .text(let text): 16 + RowEstimate.lines(text, width)
    case .rich(let text): 16 + RowEstimate.lines(text.plain(limit: 2000), width) + Float(text.blocks.count - 1) * 8
    case .image(let image), .sticker(let image): PictureBox.height(image, width)
    case .video(let video): PictureBox.height(video.poster, width)
    case .gallery(let gallery): Float(GalleryPlan(gallery, timelineWidth: width).height)
    case .file, .location, .audio: 60
    case .poll(let poll): 68 + 46 * Float(min(poll.answers.count, PollBody.answersLimit))
    case .preview(let preview): 72 + (preview.picture.map { PictureBox.height($0, width) } ?? 0)
    case .contact(let contact): 68 + 20 * Float(contact.lines.count)
    case .custom(let content): content.height > 0 ? Float(content.height) : 40
    }
  }
}
