/// Where the pictures of a gallery stand: whole pixels, known before anything is loaded.
struct GalleryPlan {
  static let spacing = 4.0
  static let rowHeight = 180.0
  static let rowsLimit = 4

  private(set) var width: Double
  private(set) var height: Double
  private(set) var cells: [(width: Double, height: Double)] = []

  init(_ gallery: GalleryBody, timelineWidth: Double) {
    let count = min(gallery.items.count, GalleryBody.itemsLimit)
    width = PictureBox.room(timelineWidth)
    height = GalleryPlan.rowHeight
    switch gallery.layout {
    case .row:
      for item in gallery.items.prefix(count) {
        let (w, h) = (Double(item.picture.width), Double(item.picture.height))
        let natural = w > 0 && h > 0 ? GalleryPlan.rowHeight * w / h : GalleryPlan.rowHeight
        cells.append((PictureBox.whole(max(64, min(width, natural))), GalleryPlan.rowHeight))
      }
    case .grid where count == 1:
      // Nothing stands beside it that it would have to match: it is shown whole.
      let picture = gallery.items[0].picture
      let box = PictureBox(width: picture.width, height: picture.height, timelineWidth: timelineWidth)
      cells = [(width: box.width, height: box.height)]
      (width, height) = (box.width, box.height)
    case .grid(let rows):
      let rows = max(1, min(rows, GalleryPlan.rowsLimit, max(1, count)))
      let columns = max(1, (count + rows - 1) / rows)
      let used = (count + columns - 1) / columns
      let side = PictureBox.whole(
        max(24, min(GalleryPlan.rowHeight, (width - GalleryPlan.spacing * Double(columns - 1)) / Double(columns))))
      cells = [(width: Double, height: Double)](repeating: (side, side), count: count)
      width = side * Double(columns) + GalleryPlan.spacing * Double(columns - 1)
      height = side * Double(used) + GalleryPlan.spacing * Double(max(0, used - 1))
    }
  }
}
