/// The place an image takes in a row: fixed by its pixels and the timeline's width before anything is loaded, in whole
/// pixels, so that nothing ever shifts.
struct PictureBox: Equatable {
  static let widthLimit = 360.0
  static let heightLimit = 320.0
  /// Tiny and extreme images are cropped into at least this.
  static let minimum = 56.0
  /// What avatar, margins and the time beside the bubble need.
  static let surroundings = 136.0

  let width: Double
  let height: Double

  /// `width` and `height` in pixels of the original, 0 where unknown.
  init(width: Int, height: Int, timelineWidth: Double) {
    let room = max(PictureBox.minimum, min(PictureBox.widthLimit, timelineWidth - PictureBox.surroundings))
    guard width > 0, height > 0 else {
      self.width = min(240, room).rounded(.down)
      self.height = (self.width * 0.75).rounded(.down)
      return
    }
    let scale = min(1, room / Double(width), PictureBox.heightLimit / Double(height))
    self.width = max(PictureBox.minimum, (Double(width) * scale).rounded(.down))
    self.height = max(PictureBox.minimum, (Double(height) * scale).rounded(.down))
  }
}
