/// A guess of a row's height in pixels, used until the browser has measured the row. Images are exact.
enum RowEstimate {
  static func height(_ row: TimelineRow, _ decor: Decor, width: Double) -> Float {
    var height: Float = 2
    if decor.contains(.date) { height += 44 }
    if decor.contains(.divider) { height += 36 }
    guard case .message(let message) = row.content else { return height + 28 }
    if decor.contains(.first) { height += decor.contains(.own) ? 8 : 30 }
    if decor.contains(.failed) { height += 28 }
    switch message.body {
    case .image(let image):
      height += Float(PictureBox(width: image.width, height: image.height, timelineWidth: width).height)
      if !image.caption.utf8.isEmpty { height += 16 + lines(image.caption, width) }
    case .file: height += 64
    case .text(let text), .notice(let text), .emote(let text), .unsupported(let text): height += 16 + lines(text, width)
    case .redacted, .undecryptable: height += 36
    }
    return height
  }

  private static func lines(_ text: String, _ width: Double) -> Float {
    let room = max(120, min(560, width - 140))
    return 20 * Float(1 + Int(Double(text.utf8.count) * 7.2 / room))
  }
}
