import JSON
import MatrixModel
import WebHost

/// Where a reader was in a room, kept by the browser over reloads: by event, since rows live no longer than the page.
struct SavedPlace {
  /// Events to look through for the place before giving up.
  static let itemsLimit = 20_000

  let event: EventID
  /// Pixels of the row above the top of the view.
  let offset: Double

  init(event: EventID, offset: Double) {
    self.event = event
    self.offset = offset
  }

  /// `EVENT OFFSET`, the offset in 64ths of a pixel.
  init?(text: String) {
    let parts = Array(text.utf8).split(separator: 0x20)
    guard parts.count == 2, let event = EventID(ByteString(decoding: parts[0])) else { return nil }
    var number = 0
    for digit in parts[1] where digit >= 0x30 && digit <= 0x39 {
      let (shifted, overflow) = number.multipliedReportingOverflow(by: 10)
      guard !overflow, shifted < 1 << 30 else { return nil }
      number = shifted + Int(digit - 0x30)
    }
    self.event = event
    offset = Double(parts[1].first == 0x2D ? -number : number) / 64
  }

  var text: String {
    let units = offset * 64
    let bounded = max(-1e9, min(1e9, units < 0 ? units - 0.5 : units + 0.5))
    return event.string + " \(Int(bounded))"
  }

  static func of(_ room: RoomID) -> SavedPlace? {
    Host.setting(Settings.place(in: room)).flatMap { SavedPlace(text: $0) }
  }

  func save(_ room: RoomID) { Host.setSetting(Settings.place(in: room), text) }

  static func forget(_ room: RoomID) { Host.setSetting(Settings.place(in: room), nil) }
}
