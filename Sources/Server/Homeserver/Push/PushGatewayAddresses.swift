import JSON
import Outbound

/// Where notifications may be pushed to.
///
/// A user names the gateway: it is https and in the public Internet. The operator's own gateways may be neither.
/// Spec: Client-Server API, `PusherData`; "Security considerations" of the push module.
package struct PushGatewayAddresses: Sendable {
  static let path = "/_matrix/push/v1/notify"
  /// Bytes of a URL.
  static let urlBytesLimit = 2_048

  /// Beginnings of URLs, scheme to port, without a slash at the end: `http://127.0.0.1:5000`.
  private let own: [String]

  package init(own: [String]) { self.own = own }

  /// Where a request to a gateway may go; nil for what may not be a gateway's URL.
  func destination(of url: ByteString) -> DestinationPolicy? {
    let bytes = Array(url.utf8)
    guard bytes.count <= Self.urlBytesLimit, bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
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
}
