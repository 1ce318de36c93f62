/// The place an image takes in a row: fixed by its pixels and the timeline's width before anything is loaded, in whole
/// pixels, so that nothing ever shifts.
struct PictureBox: Equatable {
  static let widthLimit = 320.0
  static let heightLimit = 320.0
  /// Tiny and extreme images are cropped into at least this.
  static let minimum = 56.0
  /// What avatar, margins and the time beside the bubble need.
  static let surroundings = 136.0

  let width: Double
  let height: Double

  /// `width` and `height` in pixels of the original, 0 where unknown.
  init(width: Int, height: Int, timelineWidth: Double) {
    let room = PictureBox.room(timelineWidth)
    guard width > 0, height > 0 else {
      self.width = PictureBox.whole(min(240, room))
      self.height = PictureBox.whole(self.width * 0.75)
      return
    }
    let scale = min(1, room / Double(width), PictureBox.heightLimit / Double(height))
    self.width = max(PictureBox.minimum, PictureBox.whole(Double(width) * scale))
    self.height = max(PictureBox.minimum, PictureBox.whole(Double(height) * scale))
  }

  static func height(_ image: ImageBody, _ width: Double) -> Float {
    Float(PictureBox(width: image.width, height: image.height, timelineWidth: width).height)
  }

  /// The width a picture may have, a whole number.
  static func room(_ timelineWidth: Double) -> Double {
    whole(max(minimum, min(widthLimit, timelineWidth - surroundings)))
  }

  /// Without its fraction (`rounded` would want the C mathematics library).
  static func whole(_ pixels: Double) -> Double { Double(Int(pixels)) }
}
