import JSON
import ServerAccounts

extension Configuration.JWT {
  /// What the domain needs of these settings; nil where there is no such login. Throws `failed` for a key that is of no use.
  func login() throws(StartError) -> JSONWebTokenLogin? {
    guard let algorithm else { return nil }
    guard let key = try key(algorithm) else {
      throw .failed("the key for jwt.algorithm \(algorithm.rawValue) is no key for this algorithm, or too short")
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
      guard let secret else { throw .failed("jwt.algorithm is HS256, but there is no jwt.secret") }
      return JSONWebKey(secret: Array(secret.reveal().utf8))
    }
    guard let publicKeyFile else {
      throw .failed("jwt.algorithm is \(algorithm.rawValue), but there is no jwt.public_key_file")
    }
    do throws(FileBytes.Unreadable) {
      return JSONWebKey(pem: try FileBytes.read(publicKeyFile, limit: 64 << 10), algorithm)
    } catch {
      throw .failed("jwt.public_key_file \(publicKeyFile) cannot be read: \(error.reason)")
    }
  }
}
