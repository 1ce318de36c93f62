import JSON
import MatrixModel
import Outbound
import Telemetry

/// What application services know of other networks, put together.
///
/// Spec: Client-Server API, "Third-party Networks"; Application Service API, "Third-party networks".
package final class ThirdPartyNetworks: Sendable {
  package enum Lookup: Sendable {
    case location, user

    fileprivate var path: String { self == .location ? "location" : "user" }
    /// What an element names.
    fileprivate var identifier: StaticString { self == .location ? "alias" : "userid" }
    fileprivate var parameter: ByteString { self == .location ? "alias" : "userid" }
  }

  static let timeout = Duration.seconds(10)
  /// Elements of one answer.
  static let resultsLimit = 500

  private let services: AppServices
  private let http: HTTPClient
  private let log: Log

  package init(_ services: AppServices, http: HTTPClient, log: Log) {
    self.services = services
    self.http = http
    self.log = log
  }

  // MARK: Protocols

  /// Writes an object of all protocols. Services that do not answer are left out.
  package func protocols() async -> [UInt8] {
    var names: [ByteString] = []
    for name in services.all.flatMap(\.registration.protocols) where !names.contains(name) { names.append(name) }
    var writer = JSONWriter(capacity: 1_024)
    writer.beginObject()
    for name in names {
      guard let metadata = await metadata(of: name) else { continue }
      writer.key(name)
      writer.raw(metadata)
    }
    writer.endObject()
    return writer.bytes
  }

  /// One protocol; the instances of all services that serve it, each with its `instance_id`. Throws `M_NOT_FOUND`.
  package func protocolMetadata(_ name: ByteString) async throws -> [UInt8] {
    guard let metadata = await metadata(of: name) else {
      throw MatrixError.notFound("No application service serves this protocol.")
    }
    return metadata
  }

  private func metadata(of name: ByteString) async -> [UInt8]? {
    var first: JSON?
    var writer = JSONWriter(capacity: 1_024)
    writer.beginArray()
    for service in services.all where service.registration.protocols.contains(name) {
      guard let answer = await get(service, "protocol/" + PercentEncoding.encode(name)), answer.isObject,
        answer["user_fields"]?.isArray ?? false, answer["location_fields"]?.isArray ?? false,
        answer["icon"]?.isString ?? false, answer["field_types"]?.isObject ?? false
      else { continue }
      if first == nil { first = answer }
      for instance in answer["instances"]?.elements.map({ $0 }) ?? [] {
        guard let networkID = instance["network_id"]?.text, instance["desc"]?.isString ?? false,
          instance["fields"]?.isObject ?? false
        else { continue }
        let instanceID = Self.instanceID(of: networkID, service)
        let whole = try? instance.replacing(["instance_id"]) { $0.member("instance_id", instanceID) }
        if let whole { writer.write(whole) }
      }
    }
    writer.endArray()
    let instances = writer.bytes
    guard let metadata = try? first?.replacing(["instances"], { $0.member("instances", raw: instances) }) else { return nil }
    return Array(metadata.bytes)
  }

  /// How a network of a service is told apart from all others of this server.
  package static func instanceID(of networkID: ByteString, _ service: AppService) -> ByteString {
    ByteString("\(service.id)|\(networkID)")
  }

  // MARK: Look-ups

  /// An array of what all services of a protocol find by its fields. Throws `M_NOT_FOUND` where that is nothing.
  package func find(
    _ lookup: Lookup, in name: ByteString, fields: [(name: ByteString, value: ByteString)]
  ) async throws -> [UInt8] {
    let serving = services.all.filter { $0.registration.protocols.contains(name) }
    return try await merged(serving, lookup, "\(lookup.path)/\(PercentEncoding.encode(name))", fields)
  }

  /// An array of what the services know of an alias or a user of Matrix. Throws `M_NOT_FOUND` where that is nothing.
  package func find(_ lookup: Lookup, of identifier: ByteString) async throws -> [UInt8] {
    try await merged(services.all, lookup, lookup.path, [(lookup.parameter, identifier)])
  }

  private func merged(
    _ services: [AppService], _ lookup: Lookup, _ path: String, _ query: [(name: ByteString, value: ByteString)]
  ) async throws -> [UInt8] {
    var writer = JSONWriter()
    var count = 0
    writer.beginArray()
    for service in services {
      guard let answer = await get(service, path, query), answer.isArray else { continue }
      for element in answer.elements where count < Self.resultsLimit {
        guard element[lookup.identifier]?.isString ?? false, element["protocol"]?.isString ?? false,
          element["fields"]?.isObject ?? false
        else { continue }
        writer.write(element)
        count += 1
      }
    }
    writer.endArray()
    guard count > 0 else { throw MatrixError.notFound("No application service knows of it.") }
    return writer.bytes
  }

  /// nil for a service that does not answer or answers no.
  private func get(
    _ service: AppService, _ path: String, _ query: [(name: ByteString, value: ByteString)] = []
  ) async -> JSON? {
    let path = AppServiceClient.Path(
      current: "/_matrix/app/v1/thirdparty/" + path, legacy: "/_matrix/app/unstable/thirdparty/" + path)
    do throws(OutboundError) {
      let answer = try await AppServiceClient(service: service, http: http).send(
        "GET", path, query: query, timeout: Self.timeout)
      guard (200..<300).contains(answer.status), !answer.isTruncated else { return nil }
      return try? JSON.parse(answer.body)
    } catch {
      if service.registration.url != nil {
        log.info("an application service did not answer", ["service": .text(service.id.string), "error": .text("\(error)")])
      }
      return nil
    }
  }
}
