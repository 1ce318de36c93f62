import Addresses
import JSON
import Outbound
import ServerAccounts

/// Where notifications may be pushed to.
///
/// A user names the gateway or push service: it is https and in the public Internet. The operator's own may be neither.
/// Spec: Client-Server API, `PusherData`; "Security considerations" of the push module.
package struct PushGatewayAddresses: Sendable {
  static let path = "/_matrix/push/v1/notify"
  /// Bytes of a URL.
  static let urlBytesLimit = 2_048

  /// Beginnings of URLs, scheme to port, without a slash at the end: `http://127.0.0.1:5000`.
  private let own: [String]

  private let policy: AddressPolicy

  package init(own: [String], policy: AddressPolicy) {
    self.own = own
    self.policy = policy
  }

  /// Where a request to a gateway may go; nil for what may not be a gateway's URL.
  func destination(of url: ByteString) -> DestinationPolicy? {
    let bytes = Array(url.utf8)
    guard Self.isPlain(bytes) else { return nil }
    if own.contains(where: { bytes == Array($0.utf8) + Array(Self.path.utf8) }) { return .any }
    let scheme = Array("https://".utf8)
    guard bytes.starts(with: scheme) else { return nil }
    let rest = bytes.dropFirst(scheme.count)
    guard let slash = rest.firstIndex(of: UInt8(ascii: "/")), slash > rest.startIndex else { return nil }
    guard !rest[..<slash].contains(where: { $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "?") }) else { return nil }
    let path = rest[slash...].prefix { $0 != UInt8(ascii: "?") }
    guard path.elementsEqual(Self.path.utf8), !rest.contains(UInt8(ascii: "#")) else { return nil }
    return .publicAddresses
  }

  /// Where a request to the push resource of a Web Push subscription may go; nil for what may not be one.
  ///
  /// An address is looked at here, so that who subscribes learns of it; where a name leads is looked at with each connection.
  /// Spec: MSC4174, RFC 8030 §5.
  func destination(ofPushResource url: ByteString) -> DestinationPolicy? {
    let bytes = Array(url.utf8)
    guard Self.isPlain(bytes), !bytes.contains(UInt8(ascii: "#")), let origin = WebOrigin(of: url.string)?.description else {
      return nil
    }
    if own.contains(where: { $0.lowercased() == origin }) { return .any }
    guard origin.hasPrefix("https://") else { return nil }
    return Self.address(in: origin.dropFirst("https://".count)).map { policy.permits($0) } ?? true ? .publicAddresses : nil
  }

  private static func isPlain(_ url: [UInt8]) -> Bool {
    url.count <= urlBytesLimit && url.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }

  /// nil where the host is a name.
  private static func address(in authority: Substring) -> IPAddress? {
    if authority.hasPrefix("[") { return IPAddress(String(authority.dropFirst().prefix { $0 != "]" })) }
    return IPAddress(String(authority.prefix { $0 != ":" }))
  }
}
