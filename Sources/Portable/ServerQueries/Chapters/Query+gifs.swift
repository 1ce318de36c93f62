import EventContent
import JSON
import MatrixModel

/// Moving pictures to look for and to send: the server's extension `martlet.gifs`, see `Capabilities.gifProvider`.
extension Query {
  /// A page of them, for `GifPage`.
  /// - Parameters:
  ///   - words: empty for those that are much sent now; of more than 100 bytes those at the beginning count.
  ///   - from: `GifPage.next` of the page before.
  ///   - language: as `en` or `en-GB`.
  public static func gifs(matching words: ByteString, from: Int64? = nil, language: ByteString? = nil) -> Query<JSON> {
    let all = Array(words.utf8)
    var end = min(all.count, 100)
    while end < all.count, end > 0, all[end] & 0xC0 == 0x80 { end -= 1 }
    let parameters = URLQuery().adding("q", ByteString(decoding: all[..<end])).adding("from", from).adding("lang", language)
    return Query<JSON>(.searchGifs, Endpoint.searchGifs.path(), parameters: parameters) { $0 }
  }

  /// Makes one an upload of the account, for `Attachment.init(gif:of:)`.
  public static func takeGif(_ id: ByteString) -> Query<JSON> {
    Query<JSON>(.takeGif, Endpoint.takeGif.path(), body: JSONWriter.object { $0.member("id", id) }) { $0 }
  }
}

/// What was found, in the provider's order.
public struct GifPage: Sendable {
  /// The shortcode is what `Query.takeGif(_:)` wants; the file is a small picture, named as the whole.
  public private(set) var gifs: [ImagePack.Image] = []
  /// nil at the end.
  public let next: Int64?

  public init(_ json: JSON) {
    next = json["next"]?.natural
    guard let listed = json["gifs"] else { return }
    for gif in listed.elements {
      guard let id = gif.text("id"), let title = gif.text("title"), let preview = MediaURI(gif["preview"]) else { continue }
      var file = Attachment(fileName: title)
      file.source = preview
      gifs.append(ImagePack.Image(file, shortcode: id))
    }
  }
}

extension Attachment {
  /// The picture that was taken; without a source where the answer is not what it should be.
  public init(gif json: JSON, of image: ImagePack.Image) {
    var body = image.file.fileName
    self.init(json, body: &body)
    source = MediaURI(json["content_uri"])
  }
}

extension Capabilities {
  /// The provider that the server asks for GIFs; nil if it has none.
  public var gifProvider: ByteString? {
    guard let gifs = all["martlet.gifs"], gifs.bool("enabled") ?? false else { return nil }
    return gifs.text("provider")
  }
}
