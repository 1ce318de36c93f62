import EncryptionLink
import JSON
import Messenger
import PageWidgets

/// Whether earlier messages can be read by now: their keys come from the backup, and from the device without a client that took them while the user was signed out
/// everywhere.
package final class KeyArrivals<D: DOM> {
  private let dom: D
  private let backup: Node
  private let away: Node

  package init(_ dom: D, in parent: Node) {
    self.dom = dom
    backup = dom.element("p", "ma-note", in: parent)
    away = dom.element("p", "ma-note", in: parent)
    for node in [backup, away] { dom.setAttribute(node, "role", "status") }
  }

  /// - Parameter state: nil while the machine is not there.
  package func show(_ state: EncryptionReport.State?, isBuilding: Bool) {
    guard let state else {
      dom.setText(backup, isBuilding ? Strings[.encryptionBuilding] : "")
      return dom.setText(away, "")
    }
    let isRestoring = state.restoring > state.restored
    dom.setText(backup, isRestoring ? Strings[.keysRestored, "\(state.restored)", "\(state.restoring)"] : "")
    dom.setText(away, Self.wordsOfAway(state))
  }

  private static func wordsOfAway(_ state: EncryptionReport.State) -> String {
    switch state.dehydratedFailure {
    case .wrongKey, .malformed: return Strings[.awayUnreadable]
    case .unknownFormat: return Strings[.awayNewer]
    case .tooManyMessages: return Strings[.awayTooMany]
    case nil: break
    }
    return switch state.dehydrated {
    case .none, .reading(messages: 0, _): ""
    case .reading: Strings[.awayReading]
    case .ready(keys: 0): Strings[.awayReady]
    case .ready: Strings[.awayRead]
    }
  }
}
