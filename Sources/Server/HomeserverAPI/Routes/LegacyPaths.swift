import MatrixModel

/// The paths of the API's last revision before it had versions, for clients and bridges that still use them.
///
/// What version 3 of a path had in r0.6.1 is also answered under `r0`: everything but what the specification marks as added in
/// v1.1 or later. Spec: Client-Server API r0.6.1; the `added-in` marks of later versions.
enum LegacyPaths {
  /// The path under `r0` that means the same; nil where there was none.
  static func path(_ path: String, of endpoint: Endpoint) -> String? {
    for api in ["/_matrix/client/", "/_matrix/media/"] where path.hasPrefix(api + "v3/") {
      return isYounger(path, endpoint.method) ? nil : api + "r0/" + path.dropFirst(api.utf8.count + 3)
    }
    return nil
  }

  private static func isYounger(_ path: String, _ method: Endpoint.Method) -> Bool {
    if younger.contains(where: { path.hasPrefix("/_matrix/client/v3/" + $0) }) { return true }
    return youngerOperations.contains { $0.method == method && $0.path == path }
  }

  /// Whole families. `login/sso/redirect` without a provider was there before.
  private static let younger = [
    "keys/device_signing/", "keys/signatures/", "knock/", "login/sso/redirect/", "refresh", "room_keys/"
  ]

  private static let youngerOperations: [(method: Endpoint.Method, path: String)] = [
    (.delete, "/_matrix/client/v3/profile/{userId}/{keyName}"),
    (.post, "/_matrix/client/v3/rooms/{roomId}/report"),
    (.post, "/_matrix/client/v3/users/{userId}/report"),
    (.put, "/_matrix/media/v3/upload/{serverName}/{mediaId}")
  ]
}
