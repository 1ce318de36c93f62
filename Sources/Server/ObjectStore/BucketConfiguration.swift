import Telemetry

/// A bucket of an S3-compatible service, as the operator describes it.
package struct BucketConfiguration: Sendable {
  /// Where the bucket's name stands in URLs.
  package enum Addressing: String, Sendable, CaseIterable {
    /// `https://endpoint/bucket/key`
    case path
    /// `https://bucket.endpoint/key`
    case host
  }

  /// `https://` or `http://`, a host and perhaps a port; nothing behind it.
  package var endpoint: String
  package var region: String
  package var bucket: String
  /// What all keys begin with: empty, or with a slash at its end.
  package var prefix: String
  package var addressing: Addressing
  package var accessKey: String
  package var secretKey: Redacted<String>
  /// Certificates in PEM that are trusted in place of the system's.
  package var certificatesFile: String?

  package init(
    endpoint: String, region: String, bucket: String, prefix: String = "", addressing: Addressing = .path,
    accessKey: String, secretKey: Redacted<String>, certificatesFile: String? = nil
  ) {
    self.endpoint = endpoint
    self.region = region
    self.bucket = bucket
    self.prefix = prefix
    self.addressing = addressing
    self.accessKey = accessKey
    self.secretKey = secretKey
    self.certificatesFile = certificatesFile
  }

  /// For people.
  package var name: String { "bucket \(bucket) at \(endpoint)" }

  private var scheme: String { String(endpoint.prefix { $0 != ":" }) + "://" }

  /// The host as requests name it, without the scheme's own port.
  var host: String {
    var host = String(endpoint.dropFirst(scheme.utf8.count))
    for (start, port) in [("https://", ":443"), ("http://", ":80")] where scheme == start && host.hasSuffix(port) {
      host.removeLast(port.utf8.count)
    }
    return addressing == .host ? "\(bucket).\(host)" : host
  }

  /// The path of a key, or of the bucket itself, encoded.
  func path(of key: String?) -> String {
    let path = (addressing == .path ? "/" + bucket : "") + (key.map { "/" + prefix + $0 } ?? "")
    return path.isEmpty ? "/" : RequestSignature.encode(path, keepsSlashes: true)
  }

  func url(_ path: String, _ query: String) -> String { scheme + host + path + (query.isEmpty ? "" : "?" + query) }
}
