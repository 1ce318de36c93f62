import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// GIFs that the server looks for; a click takes one.
final class GifPicker<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let frame: DialogFrame<D>
  private let field: Field<D>
  private let note: Node
  private let grid: Node
  /// Says that they are on their way, brings more, or tries again.
  private let more: SubmitButton<D>
  private let picked: (Attachment) -> Void
  private var next: Int64?
  /// What is answered after another question was asked is not shown.
  private var round = 0
  private var isTaking = false

  /// - Parameter provider: who has them.
  init(
    _ app: App<D>, _ provider: ByteString, in frame: DialogFrame<D>, at parent: Node, _ picked: @escaping (Attachment) -> Void
  ) {
    self.app = app
    self.frame = frame
    self.picked = picked
    dom = app.dom
    field = Field(dom, .gifSearch, in: parent)
    note = dom.element("p", "ma-note", in: parent)
    dom.setAttribute(note, "role", "status")
    let list = dom.element("div", "ma-sticker-packs", in: parent)
    grid = dom.element("div", "ma-sticker-grid", in: list)
    more = SubmitButton(dom, .showMore, busy: .loadingGifs, kind: "ma-wide", in: list)
    dom.setAttribute(more.node, "type", "button")
    dom.element("p", "ma-note", text: Strings[.gifsFrom, provider.string], in: parent)
    dom.on(more.node, .click) { [self] _ in if !more.isBusy { load(from: next) } }
    field.onInput = { [self] in
      round += 1
      let asked = round
      Host.after(milliseconds: 300) { [self] in if asked == round { load() } }
    }
    load()
  }

  /// - Parameter from: nil for the first page.
  private func load(from: Int64? = nil) {
    guard frame.isOpen else { return }
    round += 1
    let asked = round
    if from == nil { dom.releaseChildren(of: grid) }
    dom.setText(note, "")
    setMore(.showMore)
    more.setBusy(true)
    app.ask(.gifs(matching: ByteString(field.text.trimmed), from: from, language: ByteString(Host.language))) { [self] result in
      guard frame.isOpen, asked == round else { return }
      more.setBusy(false)
      switch result {
      case .success(let json):
        let page = GifPage(json)
        next = page.next
        for (index, gif) in page.gifs.enumerated() {
          let button = add(gif)
          // The button that has the focus may go.
          if index == 0, from != nil { dom.focus(button) }
        }
        if page.gifs.isEmpty, from == nil { dom.setText(note, .nothingFound) }
        setMore(next == nil ? nil : .showMore)
      case .failure(let error):
        next = from
        dom.setText(note, Strings.words(for: error))
        setMore(.retry)
      }
      dom.flush()
    }
    dom.flush()
  }

  private func setMore(_ words: Strings.Key?) {
    if let words { more.set(words, busy: .loadingGifs) }
    dom.setFlag(more.node, "hidden", words == nil)
  }

  private func add(_ gif: ImagePack.Image) -> Node {
    let button = dom.button("ma-sticker ma-gif", label: gif.file.fileName.string, in: grid)
    let picture = dom.element("img", in: button)
    dom.setAttribute(picture, "alt", "")
    if let source = gif.file.source {
      // Who wants no motion sees them still.
      dom.setImage(picture, Host.pageState.contains(.reducedMotion) ? app.thumbnailSource(source) : app.mediaSource(source))
    }
    dom.on(button, .click) { [self] _ in if !isTaking { take(gif) } }
    return button
  }

  private func take(_ gif: ImagePack.Image) {
    isTaking = true
    // A page that is on its way comes no more.
    round += 1
    more.setBusy(true)
    dom.setText(note, .loadingGifs)
    app.ask(.takeGif(gif.shortcode)) { [self] result in
      guard frame.isOpen else { return }
      isTaking = false
      more.setBusy(false)
      switch result {
      case .success(let json): picked(Attachment(gif: json, of: gif))
      case .failure(let error): dom.setText(note, Strings.words(for: error))
      }
      dom.flush()
    }
    dom.flush()
  }
}
