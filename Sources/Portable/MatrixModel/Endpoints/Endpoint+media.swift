/// The content repository. The names are the operation IDs of the spec's OpenAPI description.
extension Endpoint {
  public static let uploadContent = Endpoint(.post, "/_matrix/media/v3/upload", rateLimited: true)
  public static let createContent = Endpoint(.post, "/_matrix/media/v1/create", rateLimited: true)
  public static let uploadContentToMXC = Endpoint(
    .put, "/_matrix/media/v3/upload/{serverName}/{mediaId}", rateLimited: true)
  public static let getConfigAuthed = Endpoint(.get, "/_matrix/client/v1/media/config", rateLimited: true)
  public static let getContentAuthed = Endpoint(
    .get, "/_matrix/client/v1/media/download/{serverName}/{mediaId}", rateLimited: true)
  public static let getContentOverrideNameAuthed = Endpoint(
    .get, "/_matrix/client/v1/media/download/{serverName}/{mediaId}/{fileName}", rateLimited: true)
  public static let getContentThumbnailAuthed = Endpoint(
    .get, "/_matrix/client/v1/media/thumbnail/{serverName}/{mediaId}", rateLimited: true)
  public static let getUrlPreviewAuthed = Endpoint(.get, "/_matrix/client/v1/media/preview_url", rateLimited: true)
}

// Deprecated since v1.11, and without a token but for the first two.
extension Endpoint {
  public static let getConfig = Endpoint(.get, "/_matrix/media/v3/config", rateLimited: true)
  public static let getUrlPreview = Endpoint(.get, "/_matrix/media/v3/preview_url", rateLimited: true)
  public static let getContent = Endpoint(
    .get, "/_matrix/media/v3/download/{serverName}/{mediaId}", .anyone, rateLimited: true)
  public static let getContentOverrideName = Endpoint(
    .get, "/_matrix/media/v3/download/{serverName}/{mediaId}/{fileName}", .anyone, rateLimited: true)
  public static let getContentThumbnail = Endpoint(
    .get, "/_matrix/media/v3/thumbnail/{serverName}/{mediaId}", .anyone, rateLimited: true)
}
