import AdministrationCore
import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import WebHost

/// All rooms of the server, including those the administrator is not in.
struct RoomsSection<D: DOM> {
  @discardableResult
  init(_ page: AdministrationPage<D>) {
    let dom = page.dom
    let tools = page.tools()
    var order = RoomOrder.members
    let list = AdministrationList<D, AdministeredRoom>(
      page, .rooms, [.roomName, .people, .adminKind, .adminCreator], search: .adminSearchRooms, empty: .nothingFound,
      tools: tools,
      ask: { search, request in
        .administeredRooms(
          matching: search, order, from: request.from, limit: AdministrationList<D, AdministeredRoom>.pageItems)
      },
      fill: { room, row in
        let name = row.cell("", "ma-admin-who")
        let lines = dom.element("span", "ma-entry-lines", in: name)
        page.link(room.title, .rooms, room.id.text, in: lines)
        dom.element("bdi", "ma-entry-preview", text: (room.alias ?? room.id.text).string, in: lines)
        _ = row.cell("\(room.members)")
        page.chips(of: room, in: row.cell("", "ma-admin-chips"))
        _ = row.cell(room.creator?.string ?? "")
      })
    Choice(
      dom, Strings[.adminOrder], [("joined_members", Strings[.adminByMembers]), ("name", Strings[.adminByName])],
      selected: order.name.description, in: tools
    ) { chosen in
      order = RoomOrder.allCases.first { $0.name.description.hasSameBytes(as: chosen) } ?? .members
      list.reload()
    }
  }
}

extension AdministeredRoom {
  var title: String { name.flatMap { $0.isEmpty ? nil : $0.string } ?? alias?.string ?? Strings[.adminNoName] }
}

extension AdministrationPage {
  func chips(of room: AdministeredRoom, in parent: Node) {
    if room.isSpace { chip(.space, in: parent) }
    if room.isPublic { chip(.adminPublic, in: parent) }
    if room.isEncrypted { chip(.adminEncrypted, in: parent) }
  }
}
