import ClientCore
import ClientHost
import JSON
import MatrixModel
import Messenger
import PageWidgets
import WebHost

/// Takes the composer's place while the user records, and until they have listened and sent or discarded the recording.
final class VoiceRecorder<D: DOM> {
  /// Loudness values that are shown, and that are sent.
  private static var barsLimit: Int { 60 }
  /// There are about ten a second.
  private static var levelsToSend: Int { 5 }
  /// Pixels of the highest bar.
  private static var barHeight: Double { 26 }

  private let app: App<D>
  private let dom: D
  private let root: Node
  private let wave: Node
  private let time: Node
  private let button: Node
  /// Stands there while the browser asks.
  private let asks: Node
  private var hint = Node.none
  private let then: (Attachment?, Bool) -> Void
  private var recorder: Recorder?
  private var levels: [Double] = []
  private var recorded: Attachment?
  private var player: Player?
  private var isPlaying = false
  /// Of a finger; what is recorded is sent when it lets go.
  private var hold = Hold.none

  private enum Hold { case none, held, ended }

  /// - Parameter then: the recording, or nil where it was given up, and whether nobody is notified of it; the recorder is gone then.
  init(_ app: App<D>, isHeld: Bool, in parent: Node, _ then: @escaping (Attachment?, Bool) -> Void) {
    self.app = app
    dom = app.dom
    self.then = then
    root = dom.element("div", "ma-voice", in: parent)
    dom.setAttribute(root, "role", "group")
    dom.setLabel(root, .voiceMessage)
    let cancel = dom.button("ma-round", icon: .close, label: .cancel, in: root)
    wave = dom.element("div", "ma-voice-wave", in: root)
    time = dom.element("span", "ma-voice-time", text: "0:00", in: root)
    dom.setAttribute(time, "role", "timer")
    asks = dom.element("span", "ma-voice-asks ma-asks", text: .askMicrophone, in: root)
    button = dom.button("ma-button ma-primary", .stopRecording, in: root)
    if isHeld {
      hold = .held
      hint = dom.element("span", "ma-voice-hint", text: .slideToCancel, in: root)
      dom.setFlag(button, "hidden", true)
    }
    dom.on(cancel, .click) { [self] _ in end(nil) }
    dom.on(button, .click) { [self] _ in if recorded == nil { recorder?.finish() } else { end(recorded) } }
    dom.listen(button, .contextMenu) { [self] _ in
      guard let recorded else { return .pass }
      app.offerSilence { [self] in end(recorded, isSilent: true) }
      return .preventDefault
    }
    dom.listen(root, .keyDown) { [self] event in
      guard case .escape = event.key else { return .pass }
      end(nil)
      return .preventDefault
    }
    if !isHeld { dom.focus(button) }
    recorder = Recorder { [self] in heard($0) }
  }

  /// The finger is gone: what was said is sent; what is too short to say anything is given up.
  func letGo() {
    guard hold == .held else { return }
    guard levels.count >= VoiceRecorder.levelsToSend else { return end(nil) }
    hold = .ended
    recorder?.finish()
  }

  /// It goes on without the finger.
  func lock() {
    guard hold == .held else { return }
    hold = .none
    dom.release(hint)
    dom.setFlag(button, "hidden", false)
    dom.focus(button)
    dom.flush()
  }

  private func setTime(_ milliseconds: Int64) {
    dom.setText(time, milliseconds < 500 ? "0:00" : ClockText.minutes(milliseconds))
  }

  /// Gives it up.
  func close() { end(nil) }

  private func heard(_ event: Recorder.Event) {
    dom.setFlag(asks, "hidden", true)
    switch event {
    case .level(let level, let milliseconds):
      levels.append(level)
      setTime(milliseconds)
      showWave()
    case .done(let file, let milliseconds): finished(file, milliseconds)
    case .refused: fail(.microphoneRefused)
    case .failed: fail(.microphoneMissing)
    }
    dom.flush()
  }

  private func fail(_ words: Strings.Key) {
    app.notices.show(Strings[words], isTrouble: true)
    end(nil)
  }

  /// The last of them while it is recorded, all of them once it is.
  private func showWave() {
    let shown = recorded == nil ? Array(levels.suffix(VoiceRecorder.barsLimit)) : VoiceRecorder.summary(levels)
    dom.releaseChildren(of: wave)
    for level in shown { dom.setLength(dom.element("i", in: wave), .height, 2 + level * (VoiceRecorder.barHeight - 2)) }
  }

  /// At most `barsLimit` values, each the loudest of its part.
  static func summary(_ levels: [Double]) -> [Double] {
    let count = min(barsLimit, levels.count)
    return (0..<count).map { part in
      levels[part * levels.count / count..<(part + 1) * levels.count / count].reduce(0) { max($0, $1) }
    }
  }

  private func finished(_ file: PickedFile, _ milliseconds: Int64) {
    recorder = nil
    var attachment = Attachment(
      fileName: ByteString(file.name), blob: app.effects.blobs.add(file), mimeType: ByteString(file.mediaType),
      sizeBytes: file.byteCount)
    attachment.durationMilliseconds = milliseconds
    attachment.waveform = VoiceRecorder.summary(levels).map { UInt16($0 * 1024) }
    recorded = attachment
    if hold == .ended { return end(attachment) }
    showWave()
    let play = dom.button("ma-round", label: Strings[.play], in: root)
    Icon.play.draw(dom, in: play)
    dom.insert(play, into: root, before: wave)
    dom.on(play, .click) { [self] _ in self.play() }
    setTime(milliseconds)
    dom.setText(button, .send)
    dom.focus(button)
  }

  private func play() {
    if let player { return isPlaying ? player.pause() : player.play() }
    guard let blob = recorded?.blob, let url = app.effects.blobs.url(blob) else { return }
    player = Player(url: url) { [self] event in
      if case .moved(let isPlaying, let position, let duration) = event {
        self.isPlaying = isPlaying
        setTime(position == 0 ? duration : position)
        dom.flush()
      }
    }
  }

  private func end(_ result: Attachment?, isSilent: Bool = false) {
    recorder = nil
    player = nil
    if result == nil, let blob = recorded?.blob { app.effects.blobs.release(blob) }
    dom.release(root)
    then(result, isSilent)
    dom.flush()
  }
}
