import Messenger

/// Line drawings of 24 by 24 units, in the colour of the text around them.
package enum Drawing {
  case logo, plus, back, close, more, people, eye, search, user, lock, cloudOff, check, exit, picture, chat, hash, link,
    download, fold, muted,
    phone, pin, camera, cameraOff, microphone, microphoneOff
  // Of menus
  case reply, forward, thread, smile, pencil, copy, clock, info, unread, flag, eyeOff, bin, again, calendar, keyboard, gear,
    bell,
    star, up, down, select, help, poll, place
  // Of the list
  case home, filter, clip, bookmark
  // Of settings
  case globe, key, shield, verified, unverified, device, lockOpen

  package func draw<D: DOM>(_ dom: D, in parent: Node) {
    guard case .logo = self else { return dom.drawing(outline, in: parent) }
    let svg = dom.element("svg:svg", "ma-logo", in: parent)
    dom.setAttribute(svg, "viewBox", "0 0 64 64")
    dom.setAttribute(svg, "aria-hidden", "true")
    let disc = dom.element("svg:rect", "ma-logo-disc", in: svg)
    for (name, value) in [("width", "64"), ("height", "64"), ("rx", "18")] { dom.setAttribute(disc, name, value) }
    dom.setAttribute(dom.element("svg:path", "ma-logo-bird", in: svg), "d", outline)
  }

  package var outline: String {
    switch self {
    case .logo:
      "M9 22 C20 21 27 25 32 32 C37 25 44 21 55 22 C48 26 43 31 39.5 37 L42 49 L34 42.5 L32 46 L30 42.5 L22 49 L24.5 37 C21 31 16 26 9 22 Z"
    case .plus: "M12 5 V19 M5 12 H19"
    case .back: "M14.5 5 L7.5 12 L14.5 19"
    case .close: "M6 6 L18 18 M18 6 L6 18"
    case .more: "M12 5 a0.8 0.8 0 1 0 0.01 0 Z M12 11.2 a0.8 0.8 0 1 0 0.01 0 Z M12 17.4 a0.8 0.8 0 1 0 0.01 0 Z"
    case .people:
      "M9 11 a3.5 3.5 0 1 0 -0.01 0 Z M2.5 19.5 c0.4 -3.6 3 -5.5 6.5 -5.5 s6.1 1.9 6.5 5.5 M15.5 4.3 a3.5 3.5 0 0 1 0 6.5 M17.5 14.4 c2.3 0.7 3.7 2.5 4 5.1"
    case .eye:
      "M2.5 12 C5 7.5 8.3 5.5 12 5.5 S19 7.5 21.5 12 C19 16.5 15.7 18.5 12 18.5 S5 16.5 2.5 12 Z M12 15 a3 3 0 1 0 -0.01 0 Z"
    case .search: "M10.5 17 a6.5 6.5 0 1 0 -0.01 0 Z M15.5 15.5 L20.5 20.5"
    case .user: "M12 12 a4 4 0 1 0 -0.01 0 Z M4.5 20 c0.5 -3.8 3.4 -6 7.5 -6 s7 2.2 7.5 6"
    case .lock: "M6 11 H18 V20 H6 Z M8.5 11 V8 a3.5 3.5 0 0 1 7 0 V11"
    case .lockOpen: "M6 11 H18 V20 H6 Z M8.5 11 V7.5 a3.5 3.5 0 0 1 6.8 -1.2"
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
    case .cameraOff: Drawing.camera.outline + " M4 4 L20 20"
    case .microphone: "M9 7 a3 3 0 0 1 6 0 V11.5 a3 3 0 0 1 -6 0 Z M5.5 11.5 a6.5 6.5 0 0 0 13 0 M12 18 V21"
    case .microphoneOff: Drawing.microphone.outline + " M4 4 L20 20"
    case .fold: "M7 10 L12 15 L17 10"
    case .reply: "M9.5 6 L4 11.5 L9.5 17 M4 11.5 H14 a6 6 0 0 1 6 6 V19"
    case .forward: "M14.5 6 L20 11.5 L14.5 17 M20 11.5 H10 a6 6 0 0 0 -6 6 V19"
    case .thread: "M5 5 H19 V15 H11 L7 19 V15 H5 Z M8.5 8.8 H15.5 M8.5 11.5 H13"
    case .smile: "M12 3 a9 9 0 1 0 0.01 0 Z M9 9.5 V10 M15 9.5 V10 M8.3 14 a4.2 4.2 0 0 0 7.4 0"
    case .pencil: "M4.5 19.5 L5.5 15.5 L16 5 a2.1 2.1 0 0 1 3 3 L8.5 18.5 Z M14 7 L17 10"
    case .copy: "M9 8 H19 V20 H9 Z M15.5 8 V4.5 H5 V16 H9"
    case .clock: "M12 7 V12 L15 14 M12 3 a9 9 0 1 0 0.01 0 Z"
    case .info: "M12 11 V16.5 M12 7.6 V7.7 M12 3 a9 9 0 1 0 0.01 0 Z"
    case .unread: "M13.5 6 H4 V18 H20 V11.5 M4 7.5 L12 13 L15.5 10.6 M19 3.5 a2.5 2.5 0 1 0 0.01 0 Z"
    case .flag: "M6 21 V4 M6 5 H18 L15.5 9 L18 13 H6"
    case .eyeOff:
      "M4 4 L20 20 M9.5 5.8 A9 9 0 0 1 12 5.5 C15.7 5.5 19 7.5 21.5 12 A14 14 0 0 1 18.6 15.7 M6.3 7.3 A14 14 0 0 0 2.5 12 C5 16.5 8.3 18.5 12 18.5 A9 9 0 0 0 15.8 17.6 M9.9 10.1 A3 3 0 0 0 14 14.2"
    case .bin: "M4.5 7 H19.5 M9 7 V4.5 H15 V7 M6.5 7 L7.5 20 H16.5 L17.5 7 M10.3 11 V16 M13.7 11 V16"
    case .again: "M19 12 a7 7 0 1 1 -2.2 -5.1 M17.5 3 V7.2 H13.3"
    case .calendar: "M4.5 6 H19.5 V20 H4.5 Z M4.5 10.5 H19.5 M8.5 3.5 V7.5 M15.5 3.5 V7.5"
    case .keyboard: "M3 7 H21 V17 H3 Z M6.5 10.3 V10.4 M10.2 10.3 V10.4 M13.9 10.3 V10.4 M17.5 10.3 V10.4 M8 13.8 H16"
    case .gear:
      "M12 8.8 a3.2 3.2 0 1 0 0.01 0 Z M12 3.5 V6 M12 18 V20.5 M3.5 12 H6 M18 12 H20.5 M6 6 L7.8 7.8 M16.2 16.2 L18 18 M18 6 L16.2 7.8 M7.8 16.2 L6 18"
    case .bell: "M6 16.5 V11 a6 6 0 0 1 12 0 V16.5 Z M4.5 16.5 H19.5 M10 20 H14"
    case .star: "M12 4 L14.5 9.2 L20 9.9 L16 13.8 L17 19.5 L12 16.8 L7 19.5 L8 13.8 L4 9.9 L9.5 9.2 Z"
    case .up: "M12 19 V5 M6 11 L12 5 L18 11"
    case .down: "M12 5 V19 M6 13 L12 19 L18 13"
    case .select: "M4 6.5 L5.5 8 L8.5 5 M4 12.5 L5.5 14 L8.5 11 M4 18.5 L5.5 20 L8.5 17 M12 6.5 H20 M12 12.5 H20 M12 18.5 H20"
    case .help: "M12 3 a9 9 0 1 0 0.01 0 Z M9.5 9.6 a2.6 2.6 0 1 1 3.6 2.4 C12.4 12.4 12 12.9 12 13.8 M12 16.6 V16.7"
    case .poll: "M5 20 V12 H8.5 V20 M10.25 20 V5 H13.75 V20 M15.5 20 V9 H19 V20 M3.5 20 H20.5"
    case .home: "M4 11.5 L12 4.5 L20 11.5 M6 10 V19.5 H18 V10 M10 19.5 V14 H14 V19.5"
    case .globe: "M12 3 a9 9 0 1 0 0.01 0 Z M3.5 12 H20.5 M12 3 C7.5 8 7.5 16 12 21 C16.5 16 16.5 8 12 3"
    case .key: "M8 12.5 a3.8 3.8 0 1 0 0.01 0 Z M10.7 13.3 L19 5 M16 8 L18.8 10.8 M13.6 10.4 L15.6 12.4"
    case .shield: "M12 3.5 L19 6 V11.5 C19 16 16 19 12 20.5 C8 19 5 16 5 11.5 V6 Z"
    case .verified: Drawing.shield.outline + " M8.5 12 L11 14.5 L15.5 9.5"
    case .unverified: Drawing.shield.outline + " M12 8 V12.5 M12 15.8 V15.9"
    case .device: "M7 3.5 H17 V20.5 H7 Z M11 17.6 H13"
    case .clip: "M8 12.5 L14.2 6.3 a2.8 2.8 0 0 1 4 4 L10.4 18 a4.6 4.6 0 0 1 -6.5 -6.5 L11.5 4"
    case .bookmark: "M7 4.5 H17 V20 L12 16 L7 20 Z"
    case .filter: "M4 7 H20 M7 12 H17 M10 17 H14"
    case .place: "M12 21 C12 21 5 14.5 5 9.8 a7 7 0 0 1 14 0 C19 14.5 12 21 12 21 Z M12 7.5 a2.4 2.4 0 1 0 0.01 0 Z"
    case .download: "M12 4 V15 M7 10.5 L12 15.5 L17 10.5 M5 20 H19"
    }
  }
}
