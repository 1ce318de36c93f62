import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets

/// What one looks for among messages; what is nil, empty or `.all` does not narrow.
struct SoughtMessages {
  /// The numbers are values of a choice.
  enum Kind: Int, CaseIterable {
    case all, pictures, files, links

    var words: Strings.Key {
      switch self {
      case .all: .anyMessage
      case .pictures: .picturesAndVideos
      case .files: .files
      case .links: .links
      }
    }

    /// Where nothing of the kind was shared.
    var emptyNote: Strings.Key {
      switch self {
      case .all: .nothingFound
      case .pictures: .noPictures
      case .files: .noFiles
      case .links: .noLinks
      }
    }
  }

  var words = ""
  /// nil for all rooms.
  var room: RoomID?
  var sender: UserID?
  var kind = Kind.all
  /// Milliseconds since 1970: from the first on, before the second. The server's search knows no dates, so they are cut here.
  var since = Int64.min
  var until = Int64.max

  var isNarrowed: Bool { sender != nil || kind != .all || hasDates }
  private var hasDates: Bool { since != .min || until != .max }
  /// Whether the server sends what is thrown away here.
  var isCutHere: Bool { hasDates || kind != .all }
  /// What the server can be asked for: whether there is a file.
  var containsURL: Bool? { kind == .all ? nil : kind != .links }

  /// What of a message is wanted: itself, or those files of a gallery that are of the kind. Empty where it does not fit.
  func parts(of message: MessageContent, at milliseconds: Int64) -> [MessageContent] {
    guard milliseconds >= since, milliseconds < until else { return [] }
    if case .all = kind { return [message] }
    return (message.kind == .gallery ? message.gallery : [message]).filter { part in
      switch kind {
      case .pictures: part.isPicture && part.attachment?.isThere ?? false
      case .files: !part.isPicture && part.kind != .sticker && part.attachment?.isThere ?? false
      default: part.link != nil
      }
    }
  }
}

extension MessageContent {
  /// The first link in the text that leads out of Matrix, or nil.
  var link: String? { links.first }

  /// The first three of the links, without duplicates and without those that the sender wants no preview of.
  var previewed: [String] {
    var urls: [String] = []
    let vetoed = unpreviewed
    for url in links where urls.count < 3 && !vetoed.contains(ByteString(url)) {
      if !urls.contains(where: { $0.hasSameBytes(as: url) }) { urls.append(url) }
    }
    return urls
  }

  /// All links in the text that lead out of Matrix.
  var links: [String] {
    guard kind == .text, body.utf8.contains(UInt8(ascii: ":")) else { return [] }
    return (LinkScanner.segments(of: body.string) ?? []).map { $0.url }.filter { url in
      let bytes = ByteString(url)
      return bytes.hasPrefix("http") && Permalink(bytes) == nil
    }
  }
}
