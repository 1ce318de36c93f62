import EncryptionLink
import JSON
import Messenger
import PageWidgets
import QRCodes
import WebHost

/// What the dialog shows of each stage.
extension VerificationDialog {
  func show(_ stage: EncryptionReport.Stage) {
    switch stage {
    case .requested: say(name.utf8.isEmpty ? Strings[.verifyWaitDevice] : Strings[.verifyWaitPerson, name], isBusy: true)
    case .ready(let canCompare, let code, let canScan):
      // There is nothing to choose: who has asked begins.
      if canCompare, code.isEmpty, !canScan, isOurs {
        say(Strings[.verifyAgreeing], isBusy: true)
        act(.compare)
      } else {
        choose(canCompare: canCompare, code, canScan: canScan && CodeReader.isPossible)
      }
    case .agreeing: say(Strings[.verifyAgreeing], isBusy: true)
    case .comparing(let emoji, let decimals): compare(emoji, decimals)
    case .scanned:
      ask(name.utf8.isEmpty ? Strings[.codeScannedDevice] : Strings[.codeScannedPerson, name], yes: .yes, no: .no)
    case .confirmed: say(Strings[.verifyConfirmed], isBusy: true)
    case .done: finish(doneWords, .verified)
    case .cancelled(let reason, let isByUs): finish(Strings.words(for: reason, isByUs: isByUs), .unverified)
    }
  }

  private var doneWords: String {
    if !name.utf8.isEmpty { return Strings[.personVerified, name] }
    return Strings[wasVerified ? .deviceVerified : .recovered]
  }

  // MARK: Words and questions

  /// The sentence of a stage. It gets the focus, so that a screen reader says it.
  @discardableResult
  func say(_ words: String, isBusy: Bool = false) -> Node {
    let line = dom.element("p", isBusy ? "ma-verify-lead ma-verify-busy" : "ma-verify-lead", in: place)
    if isBusy { dom.setAttribute(dom.element("span", "mg-spinner", in: line), "aria-hidden", "true") }
    dom.element("span", text: words, in: line)
    dom.setAttribute(line, "tabindex", "-1")
    frame.setFirst(line)
    dom.focus(line)
    return line
  }

  private func ask(_ words: String, yes: Strings.Key, no: Strings.Key) {
    say(words)
    addAnswers(yes: yes, no: no)
  }

  private func addAnswers(yes: Strings.Key, no: Strings.Key) {
    let buttons = dom.element("div", "ma-buttons", in: place)
    let differ = SubmitButton(dom, no, busy: .checking, kind: "", in: buttons)
    let match = SubmitButton(dom, yes, busy: .checking, in: buttons)
    let choices: [(SubmitButton<D>, VerificationAction)] = [(differ, .mismatch), (match, .confirm)]
    for (button, action) in choices {
      dom.on(button.node, .click) { [self] _ in
        guard !differ.isBusy, !match.isBusy else { return }
        button.setBusy(true)
        act(action)
        dom.flush()
      }
    }
  }

  private func finish(_ words: String, _ sign: Drawing) {
    let isDone = sign == .verified
    let line = say("")
    dom.setClass(line, isDone ? "ma-verify-lead ma-verify-end ma-is-verified" : "ma-verify-lead ma-verify-end")
    dom.releaseChildren(of: line)
    sign.draw(dom, in: line)
    dom.element("span", text: words, in: line)
    let close = dom.button("ma-button ma-primary", .close, in: dom.element("div", "ma-buttons", in: place))
    dom.on(close, .click) { [frame] _ in frame.close() }
  }

  // MARK: Choosing

  private func choose(canCompare: Bool, _ code: [UInt8], canScan: Bool) {
    let drawn = code.isEmpty ? nil : QRCode(code)
    guard canCompare || drawn != nil || canScan else {
      say(Strings[.verifyNoWay])
      return
    }
    say(Strings[drawn == nil ? .verifyChoose : .scanThisCode])
    if let drawn { draw(drawn) }
    let buttons = dom.element("div", "ma-buttons", in: place)
    if canScan {
      dom.on(dom.button("ma-button", .scanOtherCode, icon: .camera, in: buttons), .click) { [self] _ in
        scan(canCompare: canCompare)
        dom.flush()
      }
    }
    if canCompare { addCompare(in: buttons) }
  }

  private func addCompare(in buttons: Node) {
    let compare = SubmitButton(dom, .compareEmoji, busy: .verifyAgreeing, in: buttons)
    dom.on(compare.node, .click) { [self] _ in
      guard !compare.isBusy else { return }
      compare.setBusy(true)
      act(.compare)
      dom.flush()
    }
  }

  private func draw(_ code: QRCode) {
    let side = code.size + 2 * QRCode.quietModules
    let picture = dom.element("svg:svg", "ma-qr-code", in: place)
    dom.setAttribute(picture, "viewBox", "0 0 \(side) \(side)")
    dom.setAttribute(picture, "role", "img")
    dom.setLabel(picture, .verifyCode)
    dom.setAttribute(dom.element("svg:path", in: picture), "d", code.path)
  }

  private func scan(canCompare: Bool) {
    clear()
    say(Strings[.scanHold])
    let view = dom.element("video", "ma-camera", in: place)
    dom.setFlag(view, "playsinline", true)
    dom.setLabel(view, .scanHold)
    camera = CodeReader(view) { [self] event in
      guard frame.isOpen else { return }
      switch event {
      case .found(let bytes): act(.scanned(bytes))
      case .unreadable: dom.setText(trouble, .scanUnreadable)
      case .refused: dom.setText(trouble, .cameraRefused)
      case .failed: dom.setText(trouble, .cameraMissing)
      }
      dom.flush()
    }
    if canCompare { addCompare(in: dom.element("div", "ma-buttons", in: place)) }
  }

  // MARK: Comparing

  private func compare(_ emoji: [EncryptionReport.Emoji], _ decimals: [UInt32]) {
    say(name.utf8.isEmpty ? Strings[.compareWithDevice] : Strings[.compareWithPerson, name])
    if emoji.isEmpty {
      showNumbers(decimals, in: place)
    } else {
      let list = dom.element("ol", "ma-sas", in: place)
      for one in emoji {
        let entry = dom.element("li", "ma-sas-entry", in: list)
        dom.setAttribute(dom.element("span", "ma-sas-sign", text: one.symbol.string, in: entry), "aria-hidden", "true")
        dom.element("span", text: Strings.name(of: one), in: entry)
      }
    }
    // The other side may show those only.
    if !emoji.isEmpty, !decimals.isEmpty {
      let fold = dom.element("details", "ma-fold", in: place)
      dom.element("summary", text: .compareNumbers, in: fold)
      showNumbers(decimals, in: fold)
    }
    addAnswers(yes: .theyMatch, no: .theyDiffer)
  }

  private func showNumbers(_ decimals: [UInt32], in parent: Node) {
    let numbers = dom.element("p", "ma-sas-numbers", text: decimals.map { "\($0)" }.joined(separator: " – "), in: parent)
    dom.setAttribute(numbers, "dir", "ltr")
  }
}
