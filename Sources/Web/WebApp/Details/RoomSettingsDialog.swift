import ClientCore
import MatrixModel
import Messenger
import PageWidgets

/// How a room is set up, in chapters. Each is saved line by line.
final class RoomSettingsDialog<D: DOM> {
  private let app: App<D>
  private let frame: DialogFrame<D>
  private let room: RoomID
  private var title: RoomTitle<D>?
  private var access: AccessForm<D>?
  private var addresses: AddressList<D>?
  private var roles: RolesPage<D>?
  private var groups: GroupsPage<D>?
  private var advanced: AdvancedPage<D>?

  /// - Parameter frame: opened with the style `page`.
  init(_ app: App<D>, _ state: Room, in frame: DialogFrame<D>) {
    self.app = app
    self.frame = frame
    room = state.id
    let room = state.id
    if state.directUserID != nil {
      makeChat(state)
      return
    }
    frame.setTitle(state.isSpace ? .spaceSettings : .roomSettings)
    var chapters: [Chapters<D>.Chapter] = [
      .init(.general, .info) { [self] page in
        title = RoomTitle(app, isEditable: true, in: page)
        title?.update(state)
      },
      .init(.access, .lock) { [self] page in
        access = AccessForm(app, in: page)
        access?.update(state)
        addresses = AddressList(app, state, frame, in: page)
      },
      .init(.roles, .shield) { [self] in roles = RolesPage(app, state, in: $0) },
      .init(.notifications, .bell) { [frame] in NotificationChoice(app, room, in: $0) { frame.isOpen } }
    ]
    if !state.isSpace { chapters.append(.init(.groups, .people) { [self] in groups = GroupsPage(app, state, in: $0) }) }
    chapters.append(.init(.advanced, .gear) { [self] in advanced = AdvancedPage(app, state, frame, in: $0) })
    _ = Chapters(chapters, in: frame)
  }

  /// Two people have no roles, and nobody else comes.
  private func makeChat(_ state: Room) {
    frame.setTitle(.chatSettings)
    _ = Chapters(
      [
        .init(.notifications, .bell) { [app, room, frame] in NotificationChoice(app, room, in: $0) { frame.isOpen } },
        .init(.encryptionTab, .lock) { [self] page in
          access = AccessForm(app, in: page)
          access?.update(state)
        },
        .init(.advanced, .gear) { [self] in advanced = AdvancedPage(app, state, frame, in: $0) }
      ], in: frame)
  }

  /// The room is set up otherwise.
  func update() {
    guard frame.isOpen, let state = app.client.room(room) else { return }
    guard state.membership == .join else { return frame.close() }
    title?.update(state)
    access?.update(state)
    addresses?.update(state)
    roles?.update(state)
    groups?.update(state)
    advanced?.update(state)
  }
}
