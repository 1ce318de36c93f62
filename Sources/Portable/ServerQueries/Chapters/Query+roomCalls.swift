import JSON
import MatrixModel

/// Calls of rooms.
extension Query {
  /// Whether the server has a call server of its own (`martlet.call`).
  public static var offersRoomCalls: Query<Bool> {
    Query<Bool>(.getCapabilities, Endpoint.getCapabilities.path()) { json in
      json["capabilities"]?["martlet.call"]?.bool("enabled") ?? false
    }
  }

  /// A request of somebody who knows the API, with the session of this client.
  /// - Parameters:
  ///   - method: `GET`, `PUT`, or else it is a POST.
  ///   - path: with its query, percent-encoded.
  ///   - body: a JSON object; nothing is made of it in a GET.
  public static func passedOn(_ method: ByteString, _ path: String, _ body: ArraySlice<UInt8>) -> Query<JSON> {
    let endpoint: Endpoint = method == "GET" ? .getTurnServer : method == "PUT" ? .sendMessage : .createCallToken
    var query = Query<JSON>(endpoint, path, body: method == "GET" ? nil : Array(body)) { $0 }
    query.request.isPassedOn = true
    return query
  }
}
