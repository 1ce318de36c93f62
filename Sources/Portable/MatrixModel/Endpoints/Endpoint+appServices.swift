/// Application services and third-party networks. The names are the operation IDs of the spec's OpenAPI description.
extension Endpoint {
  public static let pingAppservice = Endpoint(.post, "/_matrix/client/v1/appservice/{appserviceId}/ping")
  public static let getProtocols = Endpoint(.get, "/_matrix/client/v3/thirdparty/protocols")
  public static let getProtocolMetadata = Endpoint(.get, "/_matrix/client/v3/thirdparty/protocol/{protocol}")
  public static let queryLocationByProtocol = Endpoint(.get, "/_matrix/client/v3/thirdparty/location/{protocol}")
  public static let queryUserByProtocol = Endpoint(.get, "/_matrix/client/v3/thirdparty/user/{protocol}")
  public static let queryLocationByAlias = Endpoint(.get, "/_matrix/client/v3/thirdparty/location")
  public static let queryUserByID = Endpoint(.get, "/_matrix/client/v3/thirdparty/user")
}
