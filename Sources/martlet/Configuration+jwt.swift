import JSON
import ServerAccounts
import Shell

extension Configuration.JWT {
  /// Returns the settings as the homeserver takes them; nil if `algorithm` is nil. Throws `failed` if the key is missing, unreadable or not valid.
  func login() throws(StartError) -> JSONWebTokenLogin? {
    guard let algorithm else { return nil }
    guard let key = try key(algorithm) else {
      throw .failed("the key for jwt.algorithm \(algorithm.rawValue) is not a valid key for this algorithm, or it is too short")
    }
    var login = JSONWebTokenLogin(keys: [key])
    login.expectation.issuer = issuer.map { ByteString($0) }
    login.expectation.audiences = audiences.map { ByteString($0) }
    login.subjectClaim = ByteString(subjectClaim)
    login.displayNameClaim = ByteString(displayNameClaim)
    login.pictureClaim = ByteString(pictureClaim)
    return login
  }

  private func key(_ algorithm: JSONWebKey.Algorithm) throws(StartError) -> JSONWebKey? {
    if algorithm == .hs256 {
      guard let secret else { throw .failed("jwt.algorithm is HS256, but jwt.secret is not set") }
      return JSONWebKey(secret: Array(secret.reveal().utf8))
    }
    guard let publicKeyFile else {
      throw .failed("jwt.algorithm is \(algorithm.rawValue), but jwt.public_key_file is not set")
    }
    do throws(FileBytes.Unreadable) {
      return JSONWebKey(pem: try FileBytes.read(publicKeyFile, limit: 64 << 10), algorithm)
    } catch {
      throw .failed("cannot read jwt.public_key_file \(publicKeyFile): \(error.reason)")
    }
  }
}
