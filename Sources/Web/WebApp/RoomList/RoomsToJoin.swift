import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import WebHost

/// Below the rooms of a space that is chosen: those of its rooms that the user can join. Hidden if there are none.
final class RoomsToJoin<D: DOM> {
  /// Whether there are some.
  private(set) var isShown = false
  /// Called when there are some now, or none any more.
  var onChange: () -> Void = {}
  private let app: App<D>
  private let dom: D
  private let node: Node
  private let place: Node
  private var directory: RoomDirectory<D>?
  private var space: RoomID?

  init(_ app: App<D>, in parent: Node) {
    self.app = app
    dom = app.dom
    node = dom.element("section", "ma-outside-rooms", in: parent)
    dom.element("h2", "ma-found-title", text: .roomsToJoin, in: node)
    place = dom.element("div", in: node)
    dom.setFlag(node, "hidden", true)
  }

  /// - Parameter space: that is chosen; nil hides this.
  @inline(never)
  func show(_ space: RoomID?) {
    guard space != self.space else { return update() }
    self.space = space
    directory?.close()
    directory = nil
    dom.releaseChildren(of: place)
    setShown(false)
    guard let space else { return }
    let directory = RoomDirectory(app, .toJoin(space), at: place)
    self.directory = directory
    directory.onLoad = { [self] count in if self.space == space { setShown(count > 0) } }
    directory.setHidden(false)
  }

  private func setShown(_ isShown: Bool) {
    dom.setFlag(node, "hidden", !isShown)
    guard isShown != self.isShown else { return }
    self.isShown = isShown
    onChange()
  }

  /// The space has other rooms, or the user has joined one of them.
  @inline(never)
  func update() { directory?.followSpace() }
}
