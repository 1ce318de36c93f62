import Messenger

/// Line drawings of 24 by 24 units, in the colour of the text around them.
enum Drawing {
  case logo, plus, back, close, more, people, eye, search, user, lock, cloudOff, check, exit, picture, chat, hash, link,
    download, fold, muted,
    phone, pin, camera

  func draw<D: DOM>(_ dom: D, in parent: Node) {
    guard case .logo = self else { return dom.drawing(outline, in: parent) }
    let svg = dom.element("svg:svg", "ma-logo", in: parent)
    dom.setAttribute(svg, "viewBox", "0 0 64 64")
    dom.setAttribute(svg, "aria-hidden", "true")
    let disc = dom.element("svg:rect", "ma-logo-disc", in: svg)
    for (name, value) in [("width", "64"), ("height", "64"), ("rx", "18")] { dom.setAttribute(disc, name, value) }
    dom.setAttribute(dom.element("svg:path", "ma-logo-bird", in: svg), "d", outline)
  }

  var outline: String {
    switch self {
    case .logo:
      "M9 22 C20 21 27 25 32 32 C37 25 44 21 55 22 C48 26 43 31 39.5 37 L42 49 L34 42.5 L32 46 L30 42.5 L22 49 L24.5 37 C21 31 16 26 9 22 Z"
    case .plus: "M12 5 V19 M5 12 H19"
    case .back: "M14.5 5 L7.5 12 L14.5 19"
    case .close: "M6 6 L18 18 M18 6 L6 18"
    case .more: "M12 5.5 V5.6 M12 12 V12.1 M12 18.4 V18.5"
    case .people:
      "M9 11 a3.5 3.5 0 1 0 -0.01 0 Z M2.5 19.5 c0.4 -3.6 3 -5.5 6.5 -5.5 s6.1 1.9 6.5 5.5 M15.5 4.3 a3.5 3.5 0 0 1 0 6.5 M17.5 14.4 c2.3 0.7 3.7 2.5 4 5.1"
    case .eye:
      "M2.5 12 C5 7.5 8.3 5.5 12 5.5 S19 7.5 21.5 12 C19 16.5 15.7 18.5 12 18.5 S5 16.5 2.5 12 Z M12 15 a3 3 0 1 0 -0.01 0 Z"
    case .search: "M10.5 17 a6.5 6.5 0 1 0 -0.01 0 Z M15.5 15.5 L20.5 20.5"
    case .user: "M12 12 a4 4 0 1 0 -0.01 0 Z M4.5 20 c0.5 -3.8 3.4 -6 7.5 -6 s7 2.2 7.5 6"
    case .lock: "M6 11 H18 V20 H6 Z M8.5 11 V8 a3.5 3.5 0 0 1 7 0 V11"
    case .cloudOff: "M4 4 L20 20 M8 8.2 A5 5 0 0 0 6.5 18 H17 M19.6 16.8 A4 4 0 0 0 16.7 10 A5.5 5.5 0 0 0 11 6.6"
    case .check: "M5 12.5 L10 17.5 L19 7"
    case .exit: "M14 4 H6 V20 H14 M11 12 H21 M17.5 8.5 L21 12 L17.5 15.5"
    case .picture: "M4 5 H20 V19 H4 Z M4 16 L9 11 L14 16 M13 15 L16 12 L20 16 M15.5 9 V9.1"
    case .chat: "M4 5.5 H20 V16.5 H11 L6.5 20 V16.5 H4 Z"
    case .hash: "M9.5 4 L7.5 20 M16.5 4 L14.5 20 M4.5 9 H20 M4 15 H19.5"
    case .link:
      "M10 14 a4 4 0 0 0 5.7 0 l3 -3 a4 4 0 0 0 -5.7 -5.7 l-1 1 M14 10 a4 4 0 0 0 -5.7 0 l-3 3 a4 4 0 0 0 5.7 5.7 l1 -1"
    case .muted: "M6 16.5 V11 a6 6 0 0 1 9.5 -4.9 M18 12 V16.5 H8 M10 20 H14 M4 4 L20 20"
    case .phone:
      "M5 4.5 H9 L10.5 9 L8 10.8 a11.5 11.5 0 0 0 5.2 5.2 L15 13.5 L19.5 15 V19 a1.5 1.5 0 0 1 -1.6 1.5 C10.5 20 4 13.5 3.5 6.1 A1.5 1.5 0 0 1 5 4.5 Z"
    case .pin: "M9 4 H15 L14.4 10.5 L17.5 14 H6.5 L9.6 10.5 Z M12 14 V20"
    case .camera: Outline.camera
    case .fold: "M7 10 L12 15 L17 10"
    case .download: "M12 4 V15 M7 10.5 L12 15.5 L17 10.5 M5 20 H19"
    }
  }
}
