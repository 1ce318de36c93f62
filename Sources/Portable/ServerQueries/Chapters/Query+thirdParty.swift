import JSON
import MatrixModel

/// Other networks that the server has bridges to. Spec: Client-Server API, "Third-party Networks".
extension Query {
  public static func thirdPartyProtocols() -> Query<[ThirdPartyProtocol]> {
    Query<[ThirdPartyProtocol]>(.getProtocols, Endpoint.getProtocols.path()) { json in
      guard json.isObject else { return nil }
      return json.members.compactMap { ThirdPartyProtocol(id: $0.key, $0.value) }
    }
  }

  public static func thirdPartyProtocol(_ id: ByteString) -> Query<ThirdPartyProtocol> {
    Query<ThirdPartyProtocol>(.getProtocolMetadata, Endpoint.getProtocolMetadata.path(id)) {
      ThirdPartyProtocol(id: id, $0)
    }
  }

  /// - Parameter fields: by the names in `ThirdPartyProtocol.userFields`.
  public static func thirdPartyUsers(
    _ protocolID: ByteString, fields: [(name: ByteString, value: ByteString)] = []
  ) -> Query<[ThirdPartyUser]> {
    Query<[ThirdPartyUser]>(
      .queryUserByProtocol, Endpoint.queryUserByProtocol.path(protocolID), parameters: URLQuery().adding(fields: fields)
    ) { $0.isArray ? $0.elements.compactMap { ThirdPartyUser($0) } : nil }
  }

  /// The third-party user that a Matrix user stands for.
  public static func thirdPartyUsers(of user: UserID) -> Query<[ThirdPartyUser]> {
    Query<[ThirdPartyUser]>(.queryUserByID, Endpoint.queryUserByID.path(), parameters: URLQuery().adding("userid", user)) {
      $0.isArray ? $0.elements.compactMap { ThirdPartyUser($0) } : nil
    }
  }

  /// - Parameter fields: by the names in `ThirdPartyProtocol.locationFields`.
  public static func thirdPartyLocations(
    _ protocolID: ByteString, fields: [(name: ByteString, value: ByteString)] = []
  ) -> Query<[ThirdPartyLocation]> {
    Query<[ThirdPartyLocation]>(
      .queryLocationByProtocol, Endpoint.queryLocationByProtocol.path(protocolID),
      parameters: URLQuery().adding(fields: fields)
    ) { $0.isArray ? $0.elements.compactMap { ThirdPartyLocation($0) } : nil }
  }

  /// What a room stands for.
  public static func thirdPartyLocations(of alias: RoomAlias) -> Query<[ThirdPartyLocation]> {
    Query<[ThirdPartyLocation]>(
      .queryLocationByAlias, Endpoint.queryLocationByAlias.path(), parameters: URLQuery().adding("alias", alias)
    ) { $0.isArray ? $0.elements.compactMap { ThirdPartyLocation($0) } : nil }
  }
}

/// A network that can be reached through the server.
public struct ThirdPartyProtocol: Sendable {
  /// One server or workspace of the network.
  public struct Instance: Sendable {
    public let networkID: ByteString
    public let instanceID: ByteString?
    public let description: ByteString
    public let icon: MediaURI?
    /// Values of the fields that are the same for all of this instance.
    public let fields: JSON?
  }

  public let id: ByteString
  public let icon: MediaURI?
  /// What names a user and a location there, the widest first.
  public let userFields: [ByteString]
  public let locationFields: [ByteString]
  /// `regexp` and `placeholder` of each field.
  public let fieldTypes: JSON?
  public let instances: [Instance]

  init?(id: ByteString, _ json: JSON) {
    guard json.isObject else { return nil }
    self.id = id
    icon = MediaURI(json["icon"])
    userFields = json["user_fields"]?.elements.compactMap { $0.text } ?? []
    locationFields = json["location_fields"]?.elements.compactMap { $0.text } ?? []
    fieldTypes = json["field_types"]
    instances =
      json["instances"]?.elements.compactMap { instance in
        guard let network = instance.text("network_id") else { return nil }
        return Instance(
          networkID: network, instanceID: instance.text("instance_id"), description: instance.text("desc") ?? "",
          icon: MediaURI(instance["icon"]), fields: instance["fields"])
      } ?? []
  }
}

/// Somebody of another network.
public struct ThirdPartyUser: Sendable {
  public let userID: UserID
  public let protocolID: ByteString
  public let fields: JSON?

  init?(_ json: JSON) {
    guard let user = UserID(json["userid"]), let id = json.text("protocol") else { return nil }
    userID = user
    protocolID = id
    fields = json["fields"]
  }
}

/// A place of another network.
public struct ThirdPartyLocation: Sendable {
  public let alias: RoomAlias
  public let protocolID: ByteString
  public let fields: JSON?

  init?(_ json: JSON) {
    guard let alias = RoomAlias(json["alias"]), let id = json.text("protocol") else { return nil }
    self.alias = alias
    protocolID = id
    fields = json["fields"]
  }
}
