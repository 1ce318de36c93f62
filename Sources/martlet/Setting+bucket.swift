import ObjectStore
import Telemetry

extension Setting {
  /// The bucket where files of users lie, if not in the data folder.
  static let bucket: [Setting] = [
    .one(
      "media.s3.endpoint", \.bucket.endpoint,
      "The S3-compatible service that keeps the files of users, in place of data_dir; media.s3.bucket and the keys must be set, too. "
        + "See [Cluster](Cluster.md#media-in-a-bucket) for moving files there. All nodes need the same.",
      allowed: "https:// or http://, a host name and optionally a port, such as https://s3.eu-central-1.amazonaws.com",
      defaultText: "none (files are in data_dir)", parse: { endpoint($0) }, show: { $0 }),
    .one(
      "media.s3.region", \.bucket.region, "The region of the service.", allowed: "letters, digits and hyphens",
      parse: { isWord($0, "-") ? $0 : nil }, show: { $0 }),
    .one(
      "media.s3.bucket", \.bucket.bucket, "The name of the bucket, which must exist and be private.",
      allowed: "letters, digits, hyphens, dots and underscores", parse: { isWord($0, "-._") ? .some($0) : nil }, show: { $0 }),
    .one(
      "media.s3.prefix", \.bucket.prefix,
      "What the names of all objects begin with. Homeservers that share a bucket need different ones.",
      allowed: "letters, digits, hyphens, dots, underscores and slashes",
      parse: { isWord($0, "-._/") && !$0.hasPrefix("/") ? ($0.hasSuffix("/") ? $0 : $0 + "/") : nil },
      show: { $0.isEmpty ? nil : $0 }),
    .choice(
      "media.s3.addressing", \.bucket.addressing,
      "Whether the name of the bucket is in the path of URLs or before the host name. Amazon wants the latter.",
      words: BucketConfiguration.Addressing.allCases.map { ($0.rawValue, $0) }, show: { $0.rawValue }),
    .one(
      "media.s3.access_key", \.bucket.accessKey,
      "The ID of the access key, which may list the bucket and get, put and delete objects.", allowed: "1 to 255 bytes",
      parse: { (1...255).contains($0.utf8.count) && isWord($0, "-._/+=@:") ? .some($0) : nil }, show: { $0 }),
    .one(
      "media.s3.secret_key", \.bucket.secretKey, "The secret of the access key.", allowed: "1 to 1024 bytes",
      isSecret: true, parse: { (1...1_024).contains($0.utf8.count) ? .some(Redacted($0)) : nil }, show: { $0?.reveal() }),
    .one(
      "media.s3.secret_key_file", \.bucket.secretKeyFile, "A file whose first line is that secret.",
      allowed: "the path of a file", parse: { $0.isEmpty ? nil : .some($0) }, show: { $0 }),
    .one(
      "media.s3.ca_file", \.bucket.certificatesFile,
      "A file with the certificates, in PEM, that the service's certificate is checked against.",
      allowed: "the path of a file", defaultText: "the certificates of the system", parse: { $0.isEmpty ? nil : .some($0) },
      show: { $0 }),
    .integer(
      "media.cache_bytes", \.bucket.cacheBytes,
      "The space in data_dir for copies of files that are in the bucket. The least recently used go first.", 1...(1 << 50))
  ]

  private static func isWord(_ text: String, _ others: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: others.utf8.contains(byte)
        }
      }
  }

  private static func endpoint(_ text: String) -> String?? {
    guard let url = baseURL(text), let url else { return nil }
    return isWord(String(url.dropFirst(url.hasPrefix("https://") ? 8 : 7)), "-.:[]") ? .some(url) : nil
  }
}

extension Configuration {
  /// The bucket where files of users lie. `endpoint` is nil if they lie in the data folder.
  struct MediaBucket: Sendable {
    var endpoint: String?
    var region = "us-east-1"
    var bucket: String?
    var prefix = ""
    var addressing = BucketConfiguration.Addressing.path
    var accessKey: String?
    var secretKey: Redacted<String>?
    var secretKeyFile: String?
    var certificatesFile: String?
    var cacheBytes = 1 << 30

    var isUsed: Bool { endpoint != nil }

    /// nil if files lie in the data folder. Throws `failed` if the secret's file cannot be read.
    func configuration() throws(StartError) -> BucketConfiguration? {
      guard let endpoint, let bucket, let accessKey else { return nil }
      return BucketConfiguration(
        endpoint: endpoint, region: region, bucket: bucket, prefix: prefix, addressing: addressing, accessKey: accessKey,
        secretKey: try secret(), certificatesFile: certificatesFile)
    }

    private func secret() throws(StartError) -> Redacted<String> {
      if let secretKey { return secretKey }
      let path = secretKeyFile ?? ""
      let line = try SecretLine.read(path, setting: "media.s3.secret_key_file")
      guard !line.isEmpty else { throw .failed("the first line of media.s3.secret_key_file \(path) is empty") }
      return Redacted(line)
    }

    /// Describes a contradiction between these settings; nil if there is none.
    var contradiction: String? {
      guard endpoint != nil else {
        let isSet = bucket != nil || accessKey != nil || secretKey != nil || secretKeyFile != nil
        return isSet ? "media.s3 is set up, but media.s3.endpoint is not set" : nil
      }
      if bucket == nil { return "media.s3.endpoint is set, but media.s3.bucket is not" }
      if accessKey == nil { return "media.s3.endpoint is set, but media.s3.access_key is not" }
      switch (secretKey, secretKeyFile) {
      case (nil, nil): return "media.s3.endpoint is set, but neither media.s3.secret_key nor media.s3.secret_key_file is"
      case (_?, _?): return "media.s3.secret_key and media.s3.secret_key_file cannot both be set"
      default: return nil
      }
    }
  }
}
