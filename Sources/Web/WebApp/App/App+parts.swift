import Messenger
import PageWidgets
import WebHost

/// A part of the program that lies in a file of its own. Web/program-parts.txt says what is in it.
enum Part {
  /// A room that is open.
  case room
  /// What is opened over the rooms or beside one.
  case more
  /// The page for administrators of the server.
  case administration

  var name: String {
    switch self {
    case .room: "room"
    case .more: "more"
    case .administration: "administration"
    }
  }

  /// It is not used without that one. Also said in Web/program-parts.txt.
  var base: Part? { self == .more ? .room : nil }
}

extension App {
  /// Runs `then` once the part is there: at once, where it has been loaded. It is not run if the part cannot be had; the page says so then.
  ///
  /// - Parameter isQuiet: whether nobody waits for it.
  func need(_ part: Part, isQuiet: Bool = false, _ then: @escaping () -> Void) {
    if let base = part.base, !Host.hasPart(base.name) {
      return need(base, isQuiet: isQuiet) { [self] in need(part, isQuiet: isQuiet, then) }
    }
    if Host.hasPart(part.name) { return then() }
    // In the place of a room that is to come stands that it comes.
    let isOver = part == .room || isQuiet ? {} : notices.showWhile(.opening)
    Host.loadPart(part.name) { [self] in
      isOver()
      then()
      dom.flush()
    }
  }
}
