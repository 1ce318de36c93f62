/// The content repository. The names are the operation IDs of the spec's OpenAPI description.
extension Endpoint {
  public static let uploadContent = Endpoint(.post, "/_matrix/media/v3/upload", rateLimited: true)
  public static let getConfigAuthed = Endpoint(.get, "/_matrix/client/v1/media/config", rateLimited: true)
  public static let getContentAuthed = Endpoint(
    .get, "/_matrix/client/v1/media/download/{serverName}/{mediaId}", rateLimited: true)
  public static let getContentOverrideNameAuthed = Endpoint(
    .get, "/_matrix/client/v1/media/download/{serverName}/{mediaId}/{fileName}", rateLimited: true)
  public static let getContentThumbnailAuthed = Endpoint(
    .get, "/_matrix/client/v1/media/thumbnail/{serverName}/{mediaId}", rateLimited: true)
  public static let getConfig = Endpoint(.get, "/_matrix/media/v3/config", rateLimited: true)
}
