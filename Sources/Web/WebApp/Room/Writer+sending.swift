import ClientCore
import ClientHost
import JSON
import MatrixModel
import Messenger
import PageWidgets
import WebHost

/// What is sent besides text.
extension Writer {
  func openMenu() {
    guard key != nil else { return }
    app.dialogs.open(as: .menu) { frame in
      let menu = Menu(Strings[.sendMore], in: frame)
      menu.add(.sendPhoto, .picture) { [self] in Host.pickFiles(accept: "image/*,video/*") { self.took($0) } }
      menu.add(.attach, .clip) { [self] in Host.pickFiles { self.took($0) } }
      menu.divide()
      menu.add(.takePicture, .camera) { [self] in
        app.dialogs.open { next in CameraDialog(dom, in: next) { [self] in took([$0]) } }
      }
      menu.add(.newPoll, .poll) { [self] in
        app.dialogs.open { next in PollDialog(dom, in: next) { [self] in send(.poll($0), isSilent: $1) } }
      }
      menu.add(.sendPlace, .place) { [self] in
        app.dialogs.open { next in PlaceDialog(dom, in: next) { [self] in send(.location($0), isSilent: $1) } }
      }
      if app.embedding == nil {
        menu.add(.sendContact, .user) { [self] in
          app.dialogs.open { next in ContactDialog(app, in: next) { [self] in send($0) } }
        }
      }
    }
  }

  /// How else than usual what is written can be sent.
  func openSendMenu() {
    guard !composer.text.trimmed.utf8.isEmpty else { return }
    app.offerSilence { [self] in composer.submit(with: "/silent ") }
  }

  func pickEmoji() {
    guard key != nil else { return }
    app.dialogs.open(as: .popover) { frame in
      let tabs = Tabbed(dom, [.emoji, .stickers], in: frame.body)
      var parts: [Node] = []
      func addPart() {
        parts.append(dom.element("div", "ma-form ma-picker", in: frame.body))
        dom.setFlag(parts[parts.count - 1], "hidden", parts.count > 1)
      }
      addPart()
      addPart()
      EmojiPicker(app, .emoji, in: frame, at: parts[0], picturesOf: key?.room) { [self] emoji in
        frame.close()
        // Behind a word a colon is a colon.
        let before = Array(composer.text.utf8.prefix(composer.caret)).last ?? 0x20
        let isJoined = emoji.utf8.first == UInt8(ascii: ":") && before > 0x20
        composer.replace(composer.caret..<composer.caret, with: isJoined ? " " + emoji : emoji)
        composer.focus()
        dom.flush()
      }
      var stickers: StickerPicker<D>?
      var gifs: GifPicker<D>?
      var provider: ByteString?
      tabs.onChange = { [self] index in
        for (number, part) in parts.enumerated() { dom.setFlag(part, "hidden", number != index) }
        if index == 1, stickers == nil, let key {
          stickers = StickerPicker(app, key.room, in: frame, at: parts[1]) { [self] in
            frame.close()
            send(.sticker($0.file, body: $0.file.fileName), isSilent: $1)
          }
        }
        if index == 2, gifs == nil, let provider {
          gifs = GifPicker(app, provider, in: frame, at: parts[2]) { [self] gif in
            frame.close()
            send(.attachment(kind: .image, gif))
          }
        }
      }
      app.ask(.capabilities()) { [dom] result in
        guard frame.isOpen, case .success(let found) = result, let named = found.gifProvider else { return }
        provider = named
        addPart()
        tabs.add(.gifs)
        dom.flush()
      }
    }
  }

  private func send(_ message: OutgoingMessage, isSilent: Bool = false) {
    guard let key else { return }
    var message = addressed(message)
    message.isSilent = isSilent
    app.askOrSay(.sending(.send(key.room, message)))
    if case .reply = kind { reset(clearing: false) }
    onSent?()
  }

  // MARK: Voice

  /// A finger on the microphone's button: see `EventKind.hold`.
  func held(_ phase: Double) {
    switch phase {
    case 0: recordVoice(isHeld: true)
    case 1: recorder?.letGo()
    case 2: recorder?.close()
    default: recorder?.lock()
    }
  }

  func recordVoice(isHeld: Bool = false) {
    guard key != nil, recorder == nil else { return }
    dom.setFlag(composer.root, "hidden", true)
    recorder = VoiceRecorder(app, isHeld: isHeld, in: box) { [self] recorded, isSilent in
      recorder = nil
      dom.setFlag(composer.root, "hidden", false)
      composer.focus()
      if let recorded { send(.attachment(kind: .voice, recorded), isSilent: isSilent) }
    }
    dom.flush()
  }

  // MARK: Files

  func took(_ files: [PickedFile]) {
    guard key != nil, !files.isEmpty else { return }
    let media = files.map { OutgoingMedia(Writer.kind(of: $0), attachment($0), thumbnail: $0.poster.map { attachment($0) }) }
    app.dialogs.open { FilesDialog(app, media, in: $0) { [self] in send($0, $1, isGallery: $2, isSilent: $3) } }
  }

  private func attachment(_ file: PickedFile) -> Attachment {
    var attachment = Attachment(
      fileName: ByteString(file.name), blob: app.effects.blobs.add(file),
      mimeType: file.mediaType.utf8.isEmpty ? nil : ByteString(file.mediaType), sizeBytes: file.byteCount,
      width: file.width > 0 ? Int64(file.width) : nil, height: file.height > 0 ? Int64(file.height) : nil)
    if file.durationMilliseconds > 0 { attachment.durationMilliseconds = file.durationMilliseconds }
    return attachment
  }

  private func send(_ media: [OutgoingMedia], _ words: String, isGallery: Bool, isSilent: Bool) {
    guard let room else { return }
    let caption = markdown(words, room)
    if isGallery {
      send(.gallery(media, caption: caption), isSilent: isSilent)
    } else {
      for (index, var media) in media.enumerated() {
        if index == 0, !words.utf8.isEmpty { media.caption = caption }
        send(.media(media), isSilent: isSilent)
      }
    }
    composer.focus()
  }

  private static func kind(of file: PickedFile) -> MessageContent.Kind {
    let type = ByteString(file.mediaType)
    if file.isImage || isPhoto(type) { return .image }
    if type.hasPrefix("video/") { return .video }
    if type.hasPrefix("audio/") { return .audio }
    return .file
  }

  /// Pictures that few browsers can show, but of which servers make thumbnails.
  private static func isPhoto(_ type: ByteString) -> Bool {
    switch type {
    case "image/heic", "image/heif", "image/avif", "image/tiff", "image/bmp": true
    default: false
    }
  }
}

extension App {
  /// The menu of a button that sends.
  func offerSilence(_ then: @escaping () -> Void) {
    dialogs.open(as: .menu) { Menu(Strings[.send], in: $0).add(.sendSilently, .muted, then) }
  }
}
