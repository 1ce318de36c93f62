import Messenger

/// The buttons of a call. Each has one element for good, whatever it says now, so that it keeps the focus.
final class CallButtons<D: DOM> {
  /// In the order of the page.
  enum Press: Int, CaseIterable {
    case back, microphone, camera, turn, screen, layout, devices, end, answerWithCamera, answer, decline
  }

  /// What a button shows: an icon with the word below it, or the word.
  struct Face {
    let press: Press
    let word: Word
    var icon: CallIcon?
  }

  private let dom: D
  private var nodes: [Node] = []
  private var words = [Word?](repeating: nil, count: Press.allCases.count)

  init(_ dom: D, _ classes: String, in parent: Node, onPress: @escaping (Press) -> Void) {
    self.dom = dom
    let root = dom.element("div", classes, in: parent)
    for press in Press.allCases {
      let node = dom.element("button", in: root)
      dom.setAttribute(node, "type", "button")
      dom.setFlag(node, "hidden", true)
      dom.on(node, .click) { _ in onPress(press) }
      nodes.append(node)
    }
  }

  /// Shows these and hides the others. Among buttons with words, the first is highlighted as the likeliest choice.
  func show(_ faces: [Face]) {
    for (i, node) in nodes.enumerated() {
      let face = faces.first { $0.press.rawValue == i }
      guard face?.word != words[i] else { continue }
      words[i] = face?.word
      dom.setFlag(node, "hidden", face == nil)
      if let face { dress(node, face, isFirst: face.press == faces[0].press) }
    }
  }

  private func dress(_ node: Node, _ face: Face, isFirst: Bool) {
    dom.releaseChildren(of: node)
    guard let icon = face.icon else {
      dom.setClass(node, isFirst ? "ma-button ma-primary" : face.press == .decline ? "ma-button ma-danger" : "ma-button")
      dom.element("span", "ma-button-text", text: face.word.text, in: node)
      return
    }
    dom.setClass(node, face.press == .end ? "rc-control rc-end" : "rc-control")
    icon.draw(dom, in: dom.element("span", "rc-icon", in: node))
    dom.element("span", "rc-word", text: face.word.text, in: node)
  }
}

extension CallButtons.Face {
  static var back: Self { Self(press: .back, word: .callBack, icon: .back) }
  static func microphone(isOff: Bool) -> Self {
    Self(press: .microphone, word: isOff ? .microphoneOn : .microphoneOff, icon: isOff ? .microphoneOff : .microphone)
  }
  static func camera(isOff: Bool) -> Self {
    Self(press: .camera, word: isOff ? .cameraOn : .cameraOff, icon: isOff ? .cameraOff : .camera)
  }
  static var turn: Self { Self(press: .turn, word: .cameraTurn, icon: .turn) }
  static func screen(isShared: Bool) -> Self {
    Self(press: .screen, word: isShared ? .stopSharing : .shareScreen, icon: .screen)
  }
  static var devices: Self { Self(press: .devices, word: .groupCallDevices, icon: .devices) }
  static var end: Self { Self(press: .end, word: .callEnd, icon: .hangUp) }
}
