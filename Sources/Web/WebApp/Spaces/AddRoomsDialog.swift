import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords

/// Adds rooms that the user is in to a space.
struct AddRoomsDialog<D: DOM> {
  private final class Choice {
    var rooms: [RoomID] = []
  }

  @discardableResult
  init(_ app: App<D>, to space: RoomID, in frame: DialogFrame<D>) {
    let dom = app.dom
    frame.setTitle(.existingRoom)
    let form = dom.element("form", "ma-form", in: frame.body)
    let children = app.client.spaces.children(of: space)
    let rooms = app.client.roomIDs.compactMap { app.client.room($0) }.filter {
      $0.membership == .join && !$0.isDirect && $0.id != space && !children.contains($0.id)
    }
    guard !rooms.isEmpty else {
      dom.element("p", "ma-note", text: .noRoomToAdd, in: form)
      return
    }
    let choice = Choice()
    let trouble = frame.trouble(in: form)
    let list = dom.element("div", "ma-directory", in: form)
    let button = SubmitButton(dom, .add, busy: .saving, in: dom.element("div", "ma-buttons", in: form))
    button.setEnabled(false)
    for room in rooms {
      CheckBox(dom, Strings.words(for: room.name), isOn: false, in: list) { isOn in
        choice.rooms.removeAll { $0 == room.id }
        if isOn { choice.rooms.append(room.id) }
        button.setEnabled(!choice.rooms.isEmpty)
        dom.flush()
      }
    }
    dom.on(form, .submit) { _ in
      guard !button.isBusy else { return }
      button.setBusy(true)
      app.put(choice.rooms, into: space) { error in
        guard frame.isOpen else { return }
        guard let error else { return frame.close() }
        button.setBusy(false)
        dom.setText(trouble, Strings.words(for: error))
      }
      dom.flush()
    }
  }
}

extension App {
  /// One after the other, until the server refuses one.
  fileprivate func put(_ rooms: [RoomID], into space: RoomID, _ then: @escaping (ClientError?) -> Void) {
    guard let room = rooms.first else { return then(nil) }
    let servers = userID.map { [$0.serverName] } ?? []
    save(.spaces(.setChild(room, in: space, SpaceChildChange(servers: servers)))) { [self] error in
      if let error { then(error) } else { put(Array(rooms.dropFirst()), into: space, then) }
    }
  }
}
