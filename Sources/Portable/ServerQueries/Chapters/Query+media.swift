import EventContent
import JSON
import MatrixModel

/// What the content repository takes and knows. Spec: Client-Server API, "Content repository".
extension Query {
  /// Returns the size in bytes of the largest file that the user may upload, or nil if the server does not say.
  public static func uploadLimit() -> Query<Int64?> {
    Query<Int64?>(.getConfigAuthed, Endpoint.getConfigAuthed.path()) { .some($0.integer("m.upload.size")) }
  }

  /// A URI for content that is uploaded later.
  public static func reserveMedia() -> Query<ReservedMedia> {
    Query<ReservedMedia>(.createContent, Endpoint.createContent.path()) { json in
      guard let uri = MediaURI(json["content_uri"]) else { return nil }
      return ReservedMedia(uri: uri, expiresAtMilliseconds: json.integer("unused_expires_at"))
    }
  }

  /// - Parameters:
  ///   - blob: the host's file.
  ///   - reserved: where it goes (`reserveMedia`); nil for a new place.
  public static func upload(
    _ blob: BlobHandle, mimeType: ByteString, fileName: ByteString? = nil, into reserved: MediaURI? = nil
  ) -> Query<MediaURI> {
    let parameters = URLQuery().adding("filename", fileName)
    guard let reserved else {
      return Query<MediaURI>(
        .uploadContent, Endpoint.uploadContent.path(), parameters: parameters, blob: blob, mimeType: mimeType
      ) { MediaURI($0["content_uri"]) }
    }
    let path = Endpoint.uploadContentToMXC.path(reserved.serverName.text, reserved.mediaID)
    return Query<MediaURI>(.uploadContentToMXC, path, parameters: parameters, blob: blob, mimeType: mimeType) { _ in reserved }
  }

  /// The same for bytes that are no file of the host, such as ciphertext.
  package static func upload(_ bytes: [UInt8]) -> Query<MediaURI> {
    var query = Query<MediaURI>(.uploadContent, Endpoint.uploadContent.path(), body: bytes) { MediaURI($0["content_uri"]) }
    query.request.contentType = "application/octet-stream"
    return query
  }

  /// What a page on the web says of itself. The server fetches it: it learns which links are looked at.
  /// - Parameter timestampMilliseconds: as it was then, since 1970; nil for now.
  public static func preview(of url: ByteString, at timestampMilliseconds: Int64? = nil) -> Query<URLPreview> {
    let parameters = URLQuery().adding("url", url).adding("ts", timestampMilliseconds)
    return Query<URLPreview>(.getUrlPreviewAuthed, Endpoint.getUrlPreviewAuthed.path(), parameters: parameters) {
      URLPreview($0)
    }
  }
}

/// A place for content to come.
public struct ReservedMedia: Sendable, Hashable {
  public let uri: MediaURI
  /// By when it has to be there, in milliseconds since 1970; nil where the server does not say.
  public let expiresAtMilliseconds: Int64?
}

/// Open Graph data of a page. Spec: `GET /preview_url`.
public struct URLPreview: Sendable {
  public let title: ByteString?
  public let description: ByteString?
  public let siteName: ByteString?
  public let image: MediaURI?
  /// Pixels and bytes of the picture, as far as they are known.
  public let imageWidth: Int?
  public let imageHeight: Int?
  public let imageBytes: Int64?
  /// Everything, `og:…` and `matrix:…`.
  public let all: JSON

  init?(_ json: JSON) {
    guard json.isObject else { return nil }
    title = json.text("og:title")
    description = json.text("og:description")
    siteName = json.text("og:site_name")
    image = MediaURI(json["og:image"])
    imageWidth = json["og:image:width"]?.count32
    imageHeight = json["og:image:height"]?.count32
    imageBytes = json.integer("matrix:image:size")
    all = json
  }
}
