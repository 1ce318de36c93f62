import ClientCore
import JSON
import MatrixModel
import MessageRows
import Messenger
import PageWidgets
import WebHost

/// What an address in a message leads to, as a part of the row: what the server knows of it, or the contact in a file; nil while it is
/// asked for, or where there is nothing.
struct PreviewShelf {
  private var known: [(url: String, part: ContentPart?)] = []
  /// Addresses kept in mind.
  private static let limit = 300

  var isEmpty: Bool { known.isEmpty }

  /// nil where nobody has asked; `.some(nil)` where there is nothing to show.
  subscript(url: String) -> ContentPart?? {
    get { known.first { $0.url.hasSameBytes(as: url) }.map { $0.part } }
    set {
      known.removeAll { $0.url.hasSameBytes(as: url) }
      if known.count >= PreviewShelf.limit { known.removeFirst() }
      if let newValue { known.append((url, newValue)) }
    }
  }
}

extension App {
  /// Whether the server is asked what links lead to; kept over restarts. In encrypted rooms it would learn them, so there people have to want it.
  func showsPreviews(encrypted: Bool) -> Bool {
    encrypted ? Host.setting("link-previews-encrypted") != nil : Host.setting("link-previews")?.hasSameBytes(as: "0") != true
  }

  func showPreviews(_ isWanted: Bool, encrypted: Bool) {
    if encrypted { return Host.setSetting("link-previews-encrypted", isWanted ? "1" : nil) }
    Host.setSetting("link-previews", isWanted ? nil : "0")
  }

  func showsPreviews(in room: Room?) -> Bool { room.map { showsPreviews(encrypted: $0.isEncrypted) } ?? false }
}

extension Feed {
  func previewsChanged() {
    guard let all = source?.items, all.count == folding.count else { return }
    for (index, item) in all.enumerated() where !RowMaker<D>.links(in: item).isEmpty { renew(index) }
    settle()
  }

  /// Asks for those that are in view.
  func loadPreviews(_ visible: ArraySlice<TimelineItem>) {
    for item in visible { loadContact(item) }
    guard rows.canPreview, let room else { return }
    for item in visible where item.eventID != nil {
      for url in RowMaker<D>.links(in: item) where rows.previews[url] == nil && app.showsPreviews(in: room) {
        rows.previews[url] = .some(nil)
        loadPreview(of: url, in: item.id)
      }
    }
  }

  private func loadPreview(of url: String, in item: ItemID) {
    rows.askForPreview(of: url) { [self] page in
      guard let preview = rows.preview(url, page) else { return }
      rows.previews[url] = .preview(preview)
      renew(item: item)
    }
  }

  /// Reads who is in the file of a contact.
  private func loadContact(_ item: TimelineItem) {
    guard case .message(let message) = item.content, let uri = message.contact else { return }
    let url = app.mediaSource(uri)
    guard rows.previews[url] == nil else { return }
    rows.previews[url] = .some(nil)
    app.fetchMedia(uri, limit: VCard.bytesLimit) { [self] answer in
      // Without a network it is asked for once more when the row comes into view again.
      if answer.status == 0 { rows.previews[url] = nil }
      guard answer.status == 200, let card = VCard(answer.body) else { return }
      rows.previews[url] = .contact(ContactBody(card))
      renew(item: item.id)
    }
  }
}

extension MessageContent {
  /// Its file, where that is one of a contact and small enough to be read.
  var contact: MediaURI? {
    guard kind == .file, let file = attachment, let size = file.sizeBytes, size <= VCard.bytesLimit else { return nil }
    let type = file.mimeType?.string.asciiLowercased ?? ""
    for known in ["text/vcard", "text/x-vcard", "text/directory"] where type.utf8.starts(with: known.utf8) {
      return file.source
    }
    let end = Array(".vcf".utf8)
    return Array(file.fileName.string.asciiLowercased.utf8.suffix(end.count)) == end ? file.source : nil
  }
}

extension RowMaker {
  /// Addresses in a text that somebody wrote of which a preview may be shown.
  static func links(in item: TimelineItem) -> [String] {
    guard case .message(let message) = item.content else { return [] }
    return message.previewed
  }

  func askForPreview(of url: String, _ then: @escaping (URLPreview) -> Void) {
    app.ask(.preview(of: ByteString(url))) { [self] result in
      switch result {
      case .success(let page): then(page)
      case .failure(.refused(let status, _, _, _)) where status == 404 || status == 403 || status == 405: canPreview = false
      case .failure: break
      }
    }
  }

  /// nil where the page says too little of itself.
  func preview(_ url: String, _ page: URLPreview) -> LinkPreview? {
    guard let title = page.title, !title.isEmpty else { return nil }
    var picture: ImageBody?
    if let image = page.image, let width = page.imageWidth, let height = page.imageHeight, width > 0, height > 0 {
      picture = ImageBody(name: "", thumbnail: app.thumbnailSource(image), width: width, height: height)
    }
    return LinkPreview(
      url: url, title: title.string, text: page.description?.string ?? "", site: page.siteName?.string ?? "", picture: picture)
  }
}
