import MatrixModel

/// Where a person is in the program; also the part of the page's address after `#`.
enum Place: Equatable {
  case list
  case room(RoomID)
  /// The room with its members and settings.
  case details(RoomID)

  /// `room/ID` or `room/ID/details`; anything else is the list.
  init(fragment: String) {
    let bytes = Array(fragment.utf8)
    let prefix = Array("room/".utf8)
    self = .list
    guard bytes.starts(with: prefix) else { return }
    var id = bytes[prefix.count...]
    let suffix = Array("/details".utf8)
    let hasDetails = id.count > suffix.count && id.suffix(suffix.count).elementsEqual(suffix)
    if hasDetails { id = id.dropLast(suffix.count) }
    guard let room = RoomID(String(decoding: id, as: UTF8.self)) else { return }
    self = hasDetails ? .details(room) : .room(room)
  }

  var fragment: String {
    switch self {
    case .list: ""
    case .room(let id): "room/" + id.string
    case .details(let id): "room/" + id.string + "/details"
    }
  }

  var room: RoomID? {
    switch self {
    case .list: nil
    case .room(let id), .details(let id): id
    }
  }

  var showsDetails: Bool {
    if case .details = self { return true }
    return false
  }
}
