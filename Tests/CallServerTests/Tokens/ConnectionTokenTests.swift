import JSON
import MatrixModel
import RoomRules
import Testing

@testable import CallServer
@testable import ServerAccounts
@testable import ServerCore

@Suite struct ConnectionTokenTests {
  private let fixture: ProjectFixture
  private let project: ProjectID
  private let secret: String
  private let session: SessionID
  private var seconds: Int64 { fixture.now / 1_000 }

  init() async throws {
    fixture = try ProjectFixture()
    (project, secret, session) = try await fixture.project()
  }

  /// OpenTok's claims; `change` replaces the JSON of some, nil leaves one out.
  private func claims(_ change: [String: String?] = [:]) -> String {
    var claims: [String: String] = [
      "iss": #""\#(project)""#, "ist": #""project""#, "iat": "\(seconds)", "exp": "\(seconds + 3_600)", "nonce": "17",
      "scope": #""session.connect""#, "session_id": #""\#(session)""#, "role": #""moderator""#
    ]
    for (name, value) in change { claims[name] = value }
    return "{" + claims.map { "\"\($0)\":\($1)" }.sorted().joined(separator: ",") + "}"
  }

  private func token(_ change: [String: String?] = [:], secret: String? = nil) -> ByteString {
    JSONWebToken.signed(Array(claims(change).utf8), secret: Array((secret ?? self.secret).utf8))
  }

  private func refusal(_ token: ByteString, for other: SessionID? = nil) -> ConnectionToken.Refusal? {
    do throws(ConnectionToken.Refusal) {
      _ = try ConnectionToken(verifying: token, for: other ?? session, of: fixture.projects, now: fixture.now)
      return nil
    } catch { return error }
  }

  // Proves A20
  @Test func `a token says role, data and layout classes`() throws {
    let token = token(["connection_data": #""Ann & Bob""#, "initial_layout_class_list": #""focus full""#])
    let verified = try ConnectionToken(verifying: token, for: session, of: fixture.projects, now: fixture.now)
    #expect(verified.role == .moderator && verified.data == "Ann & Bob" && verified.layoutClasses == ["focus", "full"])
    let plain = try ConnectionToken(
      verifying: self.token(["role": nil]), for: session, of: fixture.projects, now: fixture.now)
    #expect(plain.role == .publisher && plain.data.isEmpty)
  }

  // Proves A20
  @Test(arguments: Role.allCases) func `every role has its name`(role: Role) throws {
    let token = token(["role": #""\#(role.rawValue)""#])
    #expect(try ConnectionToken(verifying: token, for: session, of: fixture.projects, now: fixture.now).role == role)
  }

  @Test func `what is not right in a claim is refused`() {
    let month = CallLimits.tokenMilliseconds / 1_000
    let cases: [([String: String?], ConnectionToken.Refusal?)] = [
      ([:], nil), (["exp": nil], .withoutExpiry), (["exp": "\(seconds - 100)"], .expired), (["exp": "\(seconds + month)"], nil),
      (["exp": "\(seconds + month + 100)"], .tooLong), (["exp": "99999999999999999999"], .malformed),
      (["iat": "\(seconds + 300)"], .notYetValid), (["nbf": "\(seconds + 300)"], .notYetValid), (["iat": nil], nil),
      (["iss": nil], .wrongProject), (["iss": #""4711""#], .wrongProject), (["ist": #""account""#], .wrongProject),
      (["ist": nil], .wrongProject), (["scope": nil], .wrongScope), (["scope": #""session.admin""#], .wrongScope),
      (["session_id": nil], .wrongSession), (["session_id": #""other""#], .wrongSession), (["role": #""admin""#], .unknownRole),
      (["role": "1"], .unknownRole),
      (["connection_data": "\"\(String(repeating: "ä", count: CallLimits.connectionDataCharacters))\""], nil),
      (["connection_data": "\"\(String(repeating: "a", count: CallLimits.connectionDataCharacters + 1))\""], .tooMuchData)
    ]
    for (change, expected) in cases { #expect(refusal(token(change)) == expected, "\(change)") }
  }

  @Test func `the algorithm is the key's, never the token's`() {
    let body = UnpaddedBase64.encode(Array(claims().utf8), .urlSafe)
    for header in [#"{"alg":"none"}"#, #"{"alg":"RS256"}"#, #"{"alg":"HS512"}"#, #"{"typ":"JWT"}"#] {
      let message = UnpaddedBase64.encode(Array(header.utf8), .urlSafe) + [UInt8(ascii: ".")] + body
      let signature = KeyedHash.sha256.digest(of: message, key: Array(secret.utf8))
      let signed = ByteString(decoding: message + [UInt8(ascii: ".")] + UnpaddedBase64.encode(signature, .urlSafe))
      #expect(refusal(signed) != nil)
      #expect(refusal(ByteString(decoding: message + [UInt8(ascii: ".")])) != nil)
    }
  }

  // Proves Q13
  @Test func `a token of another project or secret is refused whatever it says`() async throws {
    let other = try await fixture.project()
    #expect(refusal(token(secret: other.secret)) == .wrongSignature)
    // Signed rightly by the other project, naming our session: refused for ours, and for the other's session.
    let foreign = token(["iss": #""\#(other.id)""#], secret: other.secret)
    #expect(refusal(foreign) == .wrongSignature)
    #expect(refusal(foreign, for: other.session) == .wrongSession)
    #expect(refusal(token(), for: SessionID(trusted: "1_made-up")) == .unknownProject)
  }

  @Test func `no byte of a token can be changed or left out`() {
    let whole = token().utf8
    for index in whole.indices {
      var changed = whole
      changed[index] = changed[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
      #expect(refusal(ByteString(decoding: changed)) != nil)
      #expect(refusal(ByteString(decoding: whole[..<index])) != nil)
    }
    #expect(refusal(token()) == nil)
  }

  // MARK: The old form

  private func legacy(_ change: [String: String?] = [:], secret: String? = nil, partner: String? = nil) -> ByteString {
    var form = [
      "session_id": session.string, "create_time": "\(seconds)", "nonce": "5", "role": "publisher",
      "expire_time": "\(seconds + 60)", "connection_data": "a%3D1%26b"
    ]
    for (name, value) in change { form[name] = value }
    let body = form.map { "\($0)=\($1)" }.sorted().joined(separator: "&")
    let signature = KeyedHash.hexadecimal(KeyedHash.sha1.digest(of: Array(body.utf8), key: Array((secret ?? self.secret).utf8)))
    let content = "partner_id=\(partner ?? project.string)&sig=\(signature):\(body)"
    return ByteString(decoding: Array("T1==".utf8) + UnpaddedBase64.encode(Array(content.utf8)))
  }

  @Test func `the old form says the same`() throws {
    let verified = try ConnectionToken(verifying: legacy(), for: session, of: fixture.projects, now: fixture.now)
    #expect(verified.role == .publisher && verified.data == "a=1&b")
  }

  /// Limits are a holder's.
  @Test func `what is not signed makes no other holder`() throws {
    let content = try #require(UnpaddedBase64.decode(legacy().utf8.dropFirst(4)))
    let rewritten = ByteString(decoding: Array("T1==".utf8) + UnpaddedBase64.encode(Array("x=1&".utf8) + content))
    let holders = try [legacy(), rewritten, legacy(["nonce": "6"])].map {
      try ConnectionToken(verifying: $0, for: session, of: fixture.projects, now: fixture.now).holder
    }
    #expect(holders[0] == holders[1] && holders[0] != holders[2])
  }

  @Test func `the old form is held to the same`() async throws {
    let month = CallLimits.tokenMilliseconds / 1_000
    let cases: [([String: String?], ConnectionToken.Refusal?)] = [
      ([:], nil), (["expire_time": nil], nil), (["expire_time": ""], nil), (["expire_time": "\(seconds - 100)"], .expired),
      (["expire_time": "\(seconds + month + 100)"], .tooLong), (["expire_time": "soon"], .malformed),
      (["expire_time": "9223372036854775807"], .malformed), (["create_time": nil], .malformed),
      (["create_time": "\(seconds + 300)"], .notYetValid),
      (["create_time": "\(seconds - 90_000)", "expire_time": nil], .expired),
      (["session_id": nil], .malformed), (["session_id": "other"], .wrongSession), (["role": "admin"], .unknownRole)
    ]
    for (change, expected) in cases { #expect(refusal(legacy(change)) == expected, "\(change)") }
    let other = try await fixture.project()
    #expect(refusal(legacy(secret: other.secret)) == .wrongSignature)
    #expect(refusal(legacy(partner: other.id.string)) == .wrongProject)
    for text in ["T1==", "T1==!!", "T1==YQ==", "T1==cGFydG5lcl9pZD0x", "", ".", "..", "a.b.c"] {
      #expect(refusal(ByteString(text)) != nil)
    }
  }
}
