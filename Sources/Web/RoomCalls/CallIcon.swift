import Messenger

/// Line drawings of 24 by 24 units, in the colour of the text around them.
enum CallIcon {
  case camera, cameraOff, turn, microphone, microphoneOff, screen, hangUp, grid, speaker, devices, ear, earOff, remove, back,
    float, lock

  func draw<D: DOM>(_ dom: D, in parent: Node) {
    dom.drawing(isCrossed ? outline + " M4 4 L20 20" : outline, in: parent)
  }

  private var isCrossed: Bool { self == .cameraOff || self == .microphoneOff }

  private var outline: String {
    switch self {
    case .camera, .cameraOff: Outline.camera
    case .turn:
      "M4 8 H8 L9.5 5.5 H14.5 L16 8 H20 V19 H4 Z M15 12.3 A3.3 3.3 0 0 0 9 12 M9 14.7 A3.3 3.3 0 0 0 15 15 M9 10.3 V12.3 H11 M15 16.7 V14.7 H13"
    case .microphone, .microphoneOff: "M9 7 a3 3 0 0 1 6 0 V11.5 a3 3 0 0 1 -6 0 Z M5.5 11.5 a6.5 6.5 0 0 0 13 0 M12 18 V21"
    case .screen: "M3.5 5 H20.5 V16 H3.5 Z M12 13.5 V8 M9.2 10.6 L12 7.8 L14.8 10.6 M8.5 20 H15.5"
    case .hangUp:
      "M3 13.5 C5 10.8 8.2 9.5 12 9.5 S19 10.8 21 13.5 L19 16.5 L15.5 15.2 V12.6 a12 12 0 0 0 -7 0 V15.2 L5 16.5 Z"
    case .grid: "M4 4 H10.5 V10.5 H4 Z M13.5 4 H20 V10.5 H13.5 Z M4 13.5 H10.5 V20 H4 Z M13.5 13.5 H20 V20 H13.5 Z"
    case .speaker: "M4 4 H20 V14 H4 Z M4 17 H8 V20 H4 Z M10 17 H14 V20 H10 Z M16 17 H20 V20 H16 Z"
    case .devices: "M4 7 H13 M17 7 H20 M15 5 V9 M4 17 H7 M11 17 H20 M9 15 V19"
    case .back: "M9 5 H19 V15 M19 5 L6 18 M6 10 V18 H14"
    case .float: "M4 5 H20 V11 M4 5 V18 H10 M13 14 H21 V20 H13 Z"
    case .ear: "M4 9.5 H7.5 L12 5.5 V18.5 L7.5 14.5 H4 Z M15 9 a4.5 4.5 0 0 1 0 6 M17.5 6.5 a8 8 0 0 1 0 11"
    case .earOff: "M4 9.5 H7.5 L12 5.5 V18.5 L7.5 14.5 H4 Z M15.5 9.5 L20.5 14.5 M20.5 9.5 L15.5 14.5"
    case .lock: "M6 11 H18 V20 H6 Z M8.5 11 V8 a3.5 3.5 0 0 1 7 0 V11"
    case .remove: "M12 12 a4 4 0 1 0 -0.01 0 Z M4.5 20 c0.5 -3.8 3.4 -6 7.5 -6 M15 16 L20 21 M20 16 L15 21"
    }
  }
}
