import AdministrationCore
import JSON
import MatrixModel

/// Where a person is in the program; also the part of the page's address after `#`.
enum Place: Equatable {
  case list
  case room(RoomID)
  /// The room with its members and settings.
  case details(RoomID)
  /// The page for administrators, in place of the rooms.
  case administration(AdministrationAddress)

  /// `room/ID`, `room/ID/details` or `/admin/SECTION`, percent-encoded.
  var fragment: String {
    if case .administration(let address) = self { return address.fragment }
    guard let room else { return "" }
    return "room/" + PercentEncoding.encode(room.text) + (showsDetails ? Place.details : "")
  }

  fileprivate static let details = "/details"

  var room: RoomID? {
    switch self {
    case .list, .administration: nil
    case .room(let id), .details(let id): id
    }
  }

  var isAdministration: Bool {
    if case .administration = self { return true }
    return false
  }

  var showsDetails: Bool {
    if case .details = self { return true }
    return false
  }
}

/// What the page's address, or a link, asks for.
struct Destination: Equatable {
  var link: Permalink
  var showsDetails = false

  init(_ link: Permalink) { self.link = link }

  /// `room/ROOM_OR_ALIAS`, with `/details` or `/EVENT?via=SERVER` behind it, as the address has it. nil for anything else.
  init?(fragment: String) {
    var rest = ByteString(fragment)
    if rest.hasPrefix("/") { rest = ByteString(decoding: rest.utf8.dropFirst()) }
    guard rest.hasPrefix("room/") else { return nil }
    rest = ByteString(decoding: rest.utf8.dropFirst(5))
    showsDetails = rest.utf8.suffix(Place.details.utf8.count).elementsEqual(Place.details.utf8)
    if showsDetails { rest = ByteString(decoding: rest.utf8.dropLast(Place.details.utf8.count)) }
    guard let link = Permalink(ByteString("https://matrix.to/#/" + rest.string)) else { return nil }
    if case .user = link.target { return nil }
    self.link = link
  }
}
