import JSON
import ServerPush
import Shell

/// Reads the file that registers an application service. Ignores members that this server does not know.
///
/// Spec: Application Service API, "Registration".
enum AppServiceFile {
  static let byteLimit = 1 << 20

  /// Returns the registration in the file. Throws `failed` with the path and the problem.
  static func read(_ path: String) throws(StartError) -> AppServiceRegistration {
    let bytes = try bytes(path)
    do throws(YAMLError) {
      return try registration(try YAMLTree(bytes), path)
    } catch {
      let excerpt = error.column == nil ? "" : "\n" + SourceLines(bytes).excerpt(around: error.line)
      throw .failed("app_services: \(path), \(error.place): \(error.problem)\(excerpt)")
    }
  }

  static func bytes(_ path: String) throws(StartError) -> [UInt8] {
    do throws(FileBytes.Unreadable) { return try FileBytes.read(path, limit: byteLimit) } catch {
      throw .failed("app_services: cannot read \(path): \(error.reason)")
    }
  }

  private static func registration(_ file: YAMLTree, _ path: String) throws(YAMLError) -> AppServiceRegistration {
    func wrong(_ problem: String) -> YAMLError { YAMLError(line: 1, problem: problem) }
    func required(_ name: String) throws(YAMLError) -> String {
      guard let text = file[name]?.text, !text.isEmpty else { throw wrong("\(name) is missing or not plain text") }
      return text
    }
    func flag(_ name: String) throws(YAMLError) -> Bool? {
      guard let value = file[name], !value.isNull else { return nil }
      guard let bool = value.bool else { throw wrong("\(name) must be true or false") }
      return bool
    }
    guard case .mapping = file else { throw wrong("the file must be a mapping, name: value") }
    var url: String?
    if let value = file["url"], !value.isNull {
      guard let text = value.text else { throw wrong("url must be plain text") }
      url = text.isEmpty ? nil : text.hasSuffix("/") ? String(text.dropLast()) : text
    }
    var registration = AppServiceRegistration(
      id: ByteString(try required("id")), url: url, serviceToken: try required("as_token"),
      serverToken: try required("hs_token"), senderLocalpart: ByteString(try required("sender_localpart")))
    if let namespaces = file["namespaces"], !namespaces.isNull {
      registration.users = try list(namespaces["users"], "users")
      registration.aliases = try list(namespaces["aliases"], "aliases")
      registration.rooms = try list(namespaces["rooms"], "rooms")
    }
    registration.isRateLimited = try flag("rate_limited") ?? true
    // Some bridges still use the name from the proposal.
    let (current, proposed) = (try flag("receive_ephemeral"), try flag("de.sorunome.msc2409.push_ephemeral"))
    registration.receivesEphemeral = current ?? proposed ?? false
    if let protocols = file["protocols"], !protocols.isNull {
      guard let names = protocols.elements?.map(\.text), !names.contains(nil) else {
        throw wrong("protocols must be a list of plain texts")
      }
      registration.protocols = names.compactMap { $0.map { ByteString($0) } }
    }
    return registration
  }

  private static func list(
    _ value: YAMLTree?, _ name: String
  ) throws(YAMLError) -> [AppServiceRegistration.Namespace] {
    guard let value, !value.isNull else { return [] }
    func wrong(_ problem: String) -> YAMLError { YAMLError(line: 1, problem: problem) }
    guard let elements = value.elements else { throw wrong("namespaces.\(name) must be a list") }
    var namespaces: [AppServiceRegistration.Namespace] = []
    for element in elements {
      guard let expression = element["regex"]?.text else { throw wrong("a namespace in \(name) has no regex") }
      guard let isExclusive = element["exclusive"]?.bool else {
        throw wrong("a namespace in \(name) needs exclusive: true or exclusive: false")
      }
      namespaces.append(.init(isExclusive: isExclusive, expression: ByteString(expression)))
    }
    return namespaces
  }
}
