import JSON
import MatrixModel

/// Requests for media: the host carries them out itself, their answers are no inputs.
extension Client {
  /// The file as it was uploaded.
  public func download(_ uri: MediaURI) -> HTTPRequest {
    media(Endpoint.getContentAuthed.path(uri.serverName.text, uri.mediaID))
  }

  /// A smaller picture of at least that size in pixels; `crops` cuts it to exactly that shape.
  public func thumbnail(_ uri: MediaURI, width: Int, height: Int, crops: Bool) -> HTTPRequest {
    let path = Endpoint.getContentThumbnailAuthed.path(uri.serverName.text, uri.mediaID)
    return media(path + "?width=\(width)&height=\(height)&method=" + (crops ? "crop" : "scale"))
  }

  private func media(_ target: String) -> HTTPRequest {
    HTTPRequest(
      method: .get, target: target, body: nil, contentType: nil, accessToken: session?.accessToken,
      timeoutMilliseconds: 60_000)
  }
}
