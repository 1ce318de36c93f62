import ClientCore
import JSON
import MatrixModel
import Messenger
import WebHost

/// What is sent besides text.
extension Writer {
  func openMenu() {
    guard key != nil else { return }
    app.dialogs.open { frame in
      frame.setTitle(Strings[.sendMore], classes: "ma-dialog ma-menu")
      for (index, words) in [Strings[.newPoll], Strings[.sendPlace]].enumerated() {
        let button = dom.button("ma-menu-item", words, in: frame.body)
        if index == 0 { frame.setFirst(button) }
        dom.on(button, .click) { [self] _ in
          frame.close()
          app.dialogs.open { next in
            if index == 0 {
              PollDialog(dom, in: next) { [self] in send(.poll($0)) }
            } else {
              PlaceDialog(dom, in: next) { [self] in send(.location($0)) }
            }
          }
        }
      }
    }
  }

  private func send(_ message: OutgoingMessage) {
    guard let key else { return }
    app.askOrSay(.send(key.room, addressed(message)))
    if case .reply = kind { reset(clearing: false) }
    onSent?()
  }

  // MARK: Voice

  func recordVoice() {
    guard key != nil, recorder == nil else { return }
    dom.setFlag(composer.root, "hidden", true)
    recorder = VoiceRecorder(app, in: box) { [self] recorded in
      recorder = nil
      dom.setFlag(composer.root, "hidden", false)
      composer.focus()
      if let recorded { send(.attachment(kind: .voice, recorded)) }
    }
    dom.flush()
  }

  // MARK: Files

  func took(_ files: [PickedFile]) {
    guard key != nil, !files.isEmpty else { return }
    let media = files.map { file in
      OutgoingMedia(
        Writer.kind(of: file),
        Attachment(
          fileName: ByteString(file.name), blob: app.effects.blobs.add(file),
          mimeType: file.mediaType.utf8.isEmpty ? nil : ByteString(file.mediaType), sizeBytes: file.byteCount,
          width: file.isImage ? Int64(file.width) : nil, height: file.isImage ? Int64(file.height) : nil))
    }
    app.dialogs.open { FilesDialog(app, media, in: $0) { [self] in send($0, $1, isGallery: $2) } }
  }

  private func send(_ media: [OutgoingMedia], _ words: String, isGallery: Bool) {
    guard let room else { return }
    let caption = FormattedText.markdown(ByteString(MentionWriting.linked(words, names(in: words, room))))
    if isGallery {
      send(.gallery(media, caption: caption))
    } else {
      for (index, var media) in media.enumerated() {
        if index == 0, !words.utf8.isEmpty { media.caption = caption }
        send(.media(media))
      }
    }
    composer.focus()
  }

  private static func kind(of file: PickedFile) -> MessageContent.Kind {
    if file.isImage { return .image }
    let type = ByteString(file.mediaType)
    if type.hasPrefix("video/") { return .video }
    if type.hasPrefix("audio/") { return .audio }
    return .file
  }
}
