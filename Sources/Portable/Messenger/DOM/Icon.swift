/// Line drawings of 24 by 24 units, in the colour of the text around them.
public enum Icon: Sendable {
  case send, attach, document, arrowDown, clock, alert, play, pause, place, smile, thread, close, reply, more, plus, microphone,
    format, shield

  /// Draws the icon as an SVG element and appends it.
  public func draw<D: DOM>(_ dom: D, in parent: Node) { dom.drawing(outline, in: parent) }

  private var outline: String {
    switch self {
    case .send: "M4 12 L20 4 L14 20 L11 13 Z M11 13 L20 4"
    case .attach:
      "M20 11.5 L12.2 19.3 a5 5 0 0 1 -7.1 -7.1 L13 4.4 a3.3 3.3 0 0 1 4.7 4.7 L9.9 16.9 a1.7 1.7 0 0 1 -2.4 -2.4 L14.6 7.4"
    case .document: "M13 3 H7 a2 2 0 0 0 -2 2 V19 a2 2 0 0 0 2 2 H17 a2 2 0 0 0 2 -2 V9 Z M13 3 V9 H19"
    case .arrowDown: "M12 5 V19 M6 13 L12 19 L18 13"
    case .clock: "M12 7 V12 L15 14 M12 3 a9 9 0 1 0 0.01 0 Z"
    case .play: "M8 5 V19 L19 12 Z"
    case .pause: "M8 5 V19 M16 5 V19"
    case .place: "M12 21 C12 21 5 14.5 5 9.8 a7 7 0 0 1 14 0 C19 14.5 12 21 12 21 Z M12 7.5 a2.4 2.4 0 1 0 0.01 0 Z"
    case .smile: "M12 3 a9 9 0 1 0 0.01 0 Z M9 9.5 V10 M15 9.5 V10 M8.3 14 a4.2 4.2 0 0 0 7.4 0"
    case .thread: "M5 5 H19 V15 H11 L7 19 V15 H5 Z"
    case .reply: "M9.5 6 L4 11.5 L9.5 17 M4 11.5 H14 a6 6 0 0 1 6 6 V19"
    case .more: "M5.5 11.4 a0.6 0.6 0 1 0 0.01 0 Z M12 11.4 a0.6 0.6 0 1 0 0.01 0 Z M18.5 11.4 a0.6 0.6 0 1 0 0.01 0 Z"
    case .plus: "M12 5 V19 M5 12 H19"
    case .microphone: "M12 3 a3 3 0 0 1 3 3 V11 a3 3 0 0 1 -6 0 V6 a3 3 0 0 1 3 -3 Z M5.5 11 a6.5 6.5 0 0 0 13 0 M12 17.5 V21"
    case .format: "M3 18 L7.5 6 L12 18 M4.6 14 H10.4 M20.5 10.5 V18 M20.5 14.3 a3.2 3.5 0 1 0 0 0.1"
    case .shield: "M12 3 L19 6 V11 C19 16 16 19.5 12 21 C8 19.5 5 16 5 11 V6 Z M12 8.5 V12.5 M12 15.5 V15.6"
    case .close: "M6 6 L18 18 M18 6 L6 18"
    case .alert: "M12 8 V13 M12 16.5 V16.6 M12 3 a9 9 0 1 0 0.01 0 Z"
    }
  }
}

/// What several programs draw.
package enum Outline {
  package static var camera: String { "M3.5 7 H14.5 V17 H3.5 Z M14.5 10.8 L20.5 7.5 V16.5 L14.5 13.2" }
}

extension DOM {
  /// A line drawing of 24 by 24 units, in the colour of the text around it.
  /// - Parameter outline: as the `d` of an SVG path.
  package func drawing(_ outline: String, in parent: Node) {
    let svg = element("svg:svg", "mg-icon", in: parent)
    setAttribute(svg, "viewBox", "0 0 24 24")
    setAttribute(svg, "aria-hidden", "true")
    setAttribute(element("svg:path", in: svg), "d", outline)
  }
}
