/// Devices and their end-to-end keys. The names are the operation IDs of the spec's OpenAPI description.
extension Endpoint {
  public static let getDevices = Endpoint(.get, "/_matrix/client/v3/devices")
  public static let getDevice = Endpoint(.get, "/_matrix/client/v3/devices/{deviceId}")
  public static let updateDevice = Endpoint(.put, "/_matrix/client/v3/devices/{deviceId}")
  public static let deleteDevice = Endpoint(.delete, "/_matrix/client/v3/devices/{deviceId}")
  public static let deleteDevices = Endpoint(.post, "/_matrix/client/v3/delete_devices")
  public static let uploadKeys = Endpoint(.post, "/_matrix/client/v3/keys/upload")
  public static let queryKeys = Endpoint(.post, "/_matrix/client/v3/keys/query")
  public static let claimKeys = Endpoint(.post, "/_matrix/client/v3/keys/claim")
  public static let getKeysChanges = Endpoint(.get, "/_matrix/client/v3/keys/changes")
  public static let uploadCrossSigningKeys = Endpoint(.post, "/_matrix/client/v3/keys/device_signing/upload")
  public static let uploadCrossSigningSignatures = Endpoint(.post, "/_matrix/client/v3/keys/signatures/upload")
  public static let sendToDevice = Endpoint(.put, "/_matrix/client/v3/sendToDevice/{eventType}/{txnId}")
}
