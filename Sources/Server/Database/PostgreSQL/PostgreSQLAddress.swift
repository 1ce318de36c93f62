import CPostgreSQL
import Glibc

/// Where a PostgreSQL database is and who asks for it. The description has neither user nor password.
package struct PostgreSQLAddress: Sendable, Equatable, CustomStringConvertible {
  /// libpq's connection parameters by their names, as the URL says them.
  let parameters: [String: String]

  /// - Parameters:
  ///   - url: `postgres://` or `postgresql://`, as libpq takes it: several hosts, `sslmode` and the like are possible.
  ///   - password: takes the place of the URL's.
  /// nil if it is no such URL. Why is not said: libpq's words would repeat a part of it, which may be the password.
  package init?(_ url: String, password: String? = nil) {
    guard url.hasPrefix("postgres://") || url.hasPrefix("postgresql://") else { return nil }
    var message: UnsafeMutablePointer<CChar>?
    guard let options = PQconninfoParse(url, &message) else {
      PQfreemem(message)
      return nil
    }
    defer { PQconninfoFree(options) }
    var parameters: [String: String] = [:]
    var option = options
    while let keyword = option.pointee.keyword {
      if let value = option.pointee.val { parameters[String(cString: keyword)] = String(cString: value) }
      option += 1
    }
    if let password { parameters["password"] = password }
    self.parameters = parameters
  }

  package var description: String {
    let host = parameters["host"] ?? parameters["hostaddr"] ?? ""
    let port = parameters["port"].map { ":" + $0 } ?? ""
    return "postgres://\(host)\(port)/\(parameters["dbname"] ?? parameters["user"] ?? "")"
  }

  /// All parameters of a connection: what the URL leaves open has our defaults.
  var connectionParameters: [(name: String, value: String)] {
    var all = [
      "connect_timeout": "5", "keepalives_idle": "2", "keepalives_interval": "2", "keepalives_count": "3",
      // What was sent and not acknowledged, in milliseconds; keepalives ask only where nothing is under way.
      "tcp_user_timeout": "8000",
      // Of several hosts, the one that is no standby.
      "target_session_attrs": "read-write",
      "application_name": Self.applicationName
    ]
    all.merge(parameters) { $1 }
    all["client_encoding"] = "UTF8"
    return all.map { ($0.key, $0.value) }
  }

  /// By which the operator, and a second server, know who is connected.
  private static var applicationName: String {
    var name = [CChar](repeating: 0, count: 256)
    gethostname(&name, name.count - 1)
    let host = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return "martlet, process \(getpid()) on \(host.prefix(30))"
  }
}
