import ClientCore
import JSON
import MatrixModel
import Messenger
import WebHost

extension RoomScreen {
  // MARK: Writing

  func send(_ text: String) -> Bool {
    guard let room else { return false }
    app.ask(.send(room, .text(ByteString(text)))) { [self] result in
      if case .failed(let error) = result { app.notices.show(Strings.words(for: error), isTrouble: true) }
    }
    timeline.scrollToEnd()
    return true
  }

  func send(_ files: [PickedFile]) {
    guard let room else { return }
    for file in files {
      let attachment = Attachment(
        fileName: ByteString(file.name), blob: app.effects.blobs.add(file),
        mimeType: file.mediaType.utf8.isEmpty ? nil : ByteString(file.mediaType), sizeBytes: file.byteCount,
        width: file.isImage ? Int64(file.width) : nil, height: file.isImage ? Int64(file.height) : nil)
      app.ask(.send(room, .attachment(kind: kind(of: file), attachment))) { [self] result in
        if case .failed(let error) = result { app.notices.show(Strings.words(for: error), isTrouble: true) }
      }
    }
    composer.focus()
  }

  private func kind(of file: PickedFile) -> MessageContent.Kind {
    if file.isImage { return .image }
    let type = ByteString(file.mediaType)
    if type.hasPrefix("video/") { return .video }
    if type.hasPrefix("audio/") { return .audio }
    return .file
  }

  // MARK: Rows

  func act(_ action: TimelineAction) -> Bool {
    guard let room else { return false }
    switch action {
    case .retry(let row): app.ask(.retry(room, row.rawValue))
    case .cancel(let row): app.ask(.cancel(room, row.rawValue))
    case .openMedia(let row, _, _): openImage(row)
    case .openFile(let row, _): openFile(row)
    case .openLink: return false
    case .openSender(let row): openSender(row)
    case .retryGap(let row): app.ask(.fillGap(.live(room), row.rawValue))
    case .retryHead: app.ask(.paginateBack(.live(room)))
    case .menu(let row, let x, let y): return openMenu(row, x, y)
    // The messenger offers nothing of this: `TimelineOptions.actions` does not have it.
    default: return false
    }
    return true
  }

  private func item(_ row: RowID) -> TimelineItem? {
    guard let room, let timeline = app.client.room(room)?.timeline, let index = timeline.index(of: row.rawValue) else {
      return nil
    }
    return timeline.items[index]
  }

  private func attachment(_ row: RowID) -> Attachment? {
    guard case .message(let message)? = item(row)?.content else { return nil }
    return message.attachment
  }

  private func openImage(_ row: RowID) {
    guard let file = attachment(row), let source = wholePicture(file) else { return }
    show(source, name: file.fileName.string, download: file.source.map { app.mediaSource($0) })
  }

  /// The file at hand, else the one on the server.
  private func wholePicture(_ file: Attachment) -> String? {
    if let blob = file.blob, let url = app.effects.blobs.url(blob) { return url }
    return file.source.map { app.mediaSource($0) }
  }

  private func show(_ source: String, name: String, download: String?) {
    app.dialogs.open { frame in ImageViewer(app, source: source, name: name, download: download, in: frame) }
  }

  private func openFile(_ row: RowID) {
    guard let file = attachment(row), let uri = file.source else { return }
    let app = app
    Host.download(url: app.mediaSource(uri), fileName: file.fileName.string) { isDone in
      if !isDone { app.notices.show(Strings[.downloadFailed], isTrouble: true) }
    }
  }

  private func openSender(_ row: RowID) {
    guard let room, let user = item(row)?.sender else { return }
    let app = app
    app.dialogs.open { MemberDialog(app, user, in: room, at: $0) }
  }

  private func openMenu(_ row: RowID, _ x: Double, _ y: Double) -> Bool {
    guard let room, let item = item(row) else { return false }
    return menu.open(for: item, in: room, x: x, y: y)
  }
}
