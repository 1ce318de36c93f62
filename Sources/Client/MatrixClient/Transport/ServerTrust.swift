#if canImport(Darwin)
  import CryptoKit
  import Foundation
  import Security

  /// Whether a server's certificate is one that the settings allow.
  enum ServerTrust {
    static func isTrusted(_ trust: SecTrust, _ settings: TransportSettings) -> Bool {
      if let path = settings.rootCertificates {
        let roots = certificates(inFile: path)
        guard !roots.isEmpty, SecTrustSetAnchorCertificates(trust, roots as CFArray) == errSecSuccess,
          SecTrustSetAnchorCertificatesOnly(trust, true) == errSecSuccess
        else { return false }
      }
      guard SecTrustEvaluateWithError(trust, nil) else { return false }
      guard !settings.pinnedPublicKeys.isEmpty else { return true }
      guard let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate], let leaf = chain.first,
        let key = CertificateKey.publicKey(inDER: Array(SecCertificateCopyData(leaf) as Data))
      else { return false }
      return settings.pinnedPublicKeys.contains(Data(SHA256.hash(data: key)).base64EncodedString())
    }

    private static func certificates(inFile path: String) -> [SecCertificate] {
      guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return [] }
      return text.components(separatedBy: "-----BEGIN CERTIFICATE-----").dropFirst().compactMap { part in
        let base64 = part.components(separatedBy: "-----END CERTIFICATE-----")[0]
        guard let der = Data(base64Encoded: base64, options: .ignoreUnknownCharacters) else { return nil }
        return SecCertificateCreateWithData(nil, der as CFData)
      }
    }
  }

  /// `http://host:port` or `socks5h://host:port` in the words of CFNetwork.
  enum ProxySettings {
    static func dictionary(_ proxy: String) -> [AnyHashable: Any] {
      guard let url = URLComponents(string: proxy), let host = url.host else { return [:] }
      if url.scheme?.hasPrefix("socks") ?? false {
        return ["SOCKSEnable": 1, "SOCKSProxy": host, "SOCKSPort": url.port ?? 1080]
      }
      let port = url.port ?? 8080
      return [
        "HTTPEnable": 1, "HTTPProxy": host, "HTTPPort": port, "HTTPSEnable": 1, "HTTPSProxy": host, "HTTPSPort": port
      ]
    }
  }
#endif
