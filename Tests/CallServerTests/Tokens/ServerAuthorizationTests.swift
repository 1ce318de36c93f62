import JSON
import MatrixModel
import Testing

@testable import CallServer
@testable import ServerAccounts

@Suite struct ServerAuthorizationTests {
  private let fixture: ProjectFixture
  private let project: ProjectID
  private let secret: String
  private let session: SessionID
  private var seconds: Int64 { fixture.now / 1_000 }

  init() async throws {
    fixture = try ProjectFixture()
    (project, secret, session) = try await fixture.project()
  }

  private func refusal(_ claims: String, secret: String? = nil) -> ConnectionToken.Refusal? {
    let token = JSONWebToken.signed(Array(claims.utf8), secret: Array((secret ?? self.secret).utf8))
    do throws(ConnectionToken.Refusal) {
      let authorization = try ServerAuthorization(verifying: token, of: fixture.projects, now: fixture.now)
      #expect(authorization.project == project)
      return nil
    } catch { return error }
  }

  private func claims(_ more: String = "", issuer: String? = nil, end: Int64 = 180) -> String {
    #"{"iss":"\#(issuer ?? project.string)","ist":"project","iat":\#(seconds),"exp":\#(seconds + end),"jti":"1"\#(more)}"#
  }

  // Proves M28
  @Test func `a server proves its project for some minutes`() {
    #expect(refusal(claims()) == nil)
    #expect(refusal(claims(end: CallLimits.authorizationMilliseconds / 1_000)) == nil)
    #expect(refusal(claims(end: CallLimits.authorizationMilliseconds / 1_000 + 100)) == .tooLong)
    #expect(refusal(claims(end: -100)) == .expired)
    #expect(refusal(#"{"iss":"\#(project)","ist":"project"}"#) == .withoutExpiry)
    #expect(refusal(#"{"iss":"\#(project)","ist":"account","exp":\#(seconds + 60)}"#) == .wrongProject)
    #expect(refusal(claims(#","iat":\#(seconds + 600)"#)) == nil, "the first of two equal members counts")
    #expect(refusal(#"{"iss":"\#(project)","ist":"project","iat":\#(seconds + 600),"exp":\#(seconds + 660)}"#) == .notYetValid)
  }

  @Test func `a participant's token, another secret and our own project are refused`() async throws {
    #expect(refusal(claims(#","scope":"session.connect","session_id":"\#(session)""#)) == .wrongScope)
    let other = try await fixture.project()
    #expect(refusal(claims(), secret: other.secret) == .wrongSignature)
    #expect(refusal(claims(issuer: "4711")) == .unknownProject)
    let own = try #require(fixture.projects.secret(of: .rooms))
    #expect(refusal(claims(issuer: ProjectID.rooms.string), secret: own) == .unknownProject)
  }

  @Test func `a key that was removed is good no longer`() async throws {
    #expect(refusal(claims()) == nil)
    try await fixture.projects.remove(project)
    #expect(refusal(claims()) == .unknownProject)
    #expect(try await fixture.sessions.session(session) == nil)
  }
}
