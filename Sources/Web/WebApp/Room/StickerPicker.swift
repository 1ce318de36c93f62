import ClientCore
import ClientHost
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// The stickers of the account and of a room, to pick one, to add some to the own ones and to take them away.
final class StickerPicker<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let room: RoomID
  private let frame: DialogFrame<D>
  private let list: Node
  private let note: Node
  private let again: MoreButton<D>
  /// Gets a sticker, and whether nobody is notified of it.
  private let picked: (ImagePack.Image, Bool) -> Void
  private var isRemoving = false
  private var isSilent = false

  init(
    _ app: App<D>, _ room: RoomID, in frame: DialogFrame<D>, at parent: Node,
    _ picked: @escaping (ImagePack.Image, Bool) -> Void
  ) {
    self.app = app
    self.room = room
    self.frame = frame
    self.picked = picked
    dom = app.dom
    let bar = dom.element("div", "ma-sticker-bar", in: parent)
    let add = dom.button("ma-button", .addSticker, icon: .plus, in: bar)
    note = dom.element("p", "ma-note", in: parent)
    dom.setAttribute(note, "role", "status")
    list = dom.element("div", "ma-sticker-packs", in: parent)
    again = MoreButton(dom, busy: .loadingStickers, in: parent)
    again.onPress = { [self] in load() }
    dom.check(Strings[.removeStickers], isOn: false, in: bar) { [self] in isRemoving = $0 }
    dom.check(Strings[.sendSilently], isOn: false, in: bar) { [self] in isSilent = $0 }
    dom.on(add, .click) { [self] _ in Host.pickFiles(accept: "image/*") { self.take($0) } }
    load()
  }

  // MARK: Showing

  private func load() {
    dom.setText(note, again.isShown ? "" : Strings[.loadingStickers])
    again.begin()
    load([room], isFirst: true)
    dom.flush()
  }

  /// - Parameter isFirst: of the room and the account; rooms whose packs the account wants everywhere come behind.
  private func load(_ rooms: [RoomID], isFirst: Bool) {
    app.ask(.imagePacks(in: rooms)) { [self] result in
      guard frame.isOpen else { return }
      switch result {
      case .success(let found):
        show(found.packs, isFirst)
        let others = found.rooms.filter { $0 != room }
        if isFirst, !others.isEmpty { load(others, isFirst: false) }
      case .failure(let error):
        say(error)
        again.fail()
      }
    }
  }

  private func say(_ error: ClientError) {
    guard frame.isOpen else { return }
    dom.setText(note, Strings.words(for: error))
    dom.flush()
  }

  private func show(_ packs: [ImagePack], _ isFirst: Bool) {
    if isFirst {
      again.end(hasMore: false)
      dom.releaseChildren(of: list)
      dom.setText(note, packs.allSatisfy { $0.images.isEmpty } ? Strings[.noStickers] : "")
    }
    for pack in packs where !pack.images.isEmpty && (isFirst || pack.room != nil) {
      dom.element("h3", "ma-field-label", text: app.title(of: pack), in: list)
      let grid = dom.element("div", "ma-sticker-grid", in: list)
      for image in pack.images { add(image, isOwn: pack.room == nil, in: grid) }
    }
    dom.flush()
  }

  private func add(_ image: ImagePack.Image, isOwn: Bool, in grid: Node) {
    let button = dom.button("ma-sticker", label: image.file.fileName.string, in: grid)
    let picture = dom.element("img", in: button)
    dom.setAttribute(picture, "alt", "")
    if let source = image.file.source { dom.setImage(picture, app.thumbnailSource(source)) }
    dom.on(button, .click) { [self] _ in
      guard isRemoving else { return picked(image, isSilent) }
      if isOwn { app.changeStickers(removing: image.shortcode) { [self] in changed($0) } }
    }
  }

  private func changed(_ result: Result<Void, ClientError>) {
    if case .failure(let error) = result { say(error) } else if frame.isOpen { load() }
  }

  // MARK: Adding

  /// One after the other: each changes what the one before left.
  private func take(_ files: [PickedFile]) {
    guard let file = files.first(where: { $0.isImage }), frame.isOpen else { return }
    let blob = app.effects.blobs.add(file)
    let type = ByteString(file.mediaType)
    dom.setText(note, .uploading)
    dom.flush()
    app.ask(.upload(blob, mimeType: type)) { [self] result in
      app.effects.blobs.release(blob)
      guard case .success(let uri) = result else {
        if case .failure(let error) = result { say(error) }
        return
      }
      var uploaded = Attachment(
        fileName: ByteString(file.name), mimeType: type, sizeBytes: file.byteCount, width: Int64(file.width),
        height: Int64(file.height))
      uploaded.source = uri
      app.changeStickers(adding: ImagePack.Image(uploaded)) { [self] result in
        changed(result)
        if case .success = result { take(files.filter { $0 !== file }) }
      }
    }
  }
}

extension App {
  /// Changes the account's own pack as it is on the server now.
  func changeStickers(
    adding image: ImagePack.Image? = nil, removing shortcode: ByteString? = nil,
    _ then: @escaping (Result<Void, ClientError>) -> Void
  ) {
    guard let user = userID else { return }
    ask(.accountData(ImagePack.ownType, of: user)) { [self] result in
      var content: JSON?
      switch result {
      case .success(let json): content = json
      // The account has no stickers yet.
      case .failure(.refused(404, _, _, _)): break
      case .failure(let error): return then(.failure(error))
      }
      let changed = ImagePack.own(content, adding: image, removing: shortcode)
      ask(.setAccountData(ImagePack.ownType, changed, of: user)) { [self] result in
        emoticons.forget()
        then(result)
      }
    }
  }
}
