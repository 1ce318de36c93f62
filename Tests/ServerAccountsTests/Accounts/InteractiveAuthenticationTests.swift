import JSON
import MatrixModel
import Synchronization
import Testing

@testable import ServerAccounts
@testable import ServerCore

@Suite struct InteractiveAuthenticationTests {
  private static let flows: [[InteractiveAuthentication.Stage]] = [[.registrationToken, .password], [.dummy]]
  private static let operation = InteractiveAuthentication.Operation("test")

  private let authentication = InteractiveAuthentication(clock: WallClock { 0 })

  /// nil when authentication is complete.
  private func attempt(_ auth: String?, succeeds: Bool = true) async throws -> InteractiveAuthenticationChallenge? {
    let json = try auth.map { try JSON.parse(Array($0.utf8)) }
    do {
      try await authentication.require(Self.flows, for: Self.operation, auth: json) { _, _ in succeeds }
      return nil
    } catch let challenge as InteractiveAuthenticationChallenge {
      return challenge
    }
  }

  private func auth(_ stage: String, _ session: ByteString) -> String {
    #"{"type":"\#(stage)","session":"\#(session)"}"#
  }

  @Test func `a registration token shown is remembered to the end, and counted until then`() async throws {
    let time = Atomic<Int64>(0)
    let authentication = InteractiveAuthentication(clock: WallClock { time.load(ordering: .relaxed) })
    func attempt(_ auth: String?) async throws -> (challenge: InteractiveAuthenticationChallenge?, shown: ByteString?) {
      let json = try auth.map { try JSON.parse(Array($0.utf8)) }
      do {
        let completion = try await authentication.require(Self.flows, for: Self.operation, auth: json) { _, _ in true }
        return (nil, completion.registrationToken)
      } catch let challenge as InteractiveAuthenticationChallenge {
        return (challenge, nil)
      }
    }
    let first = try await attempt(#"{"type":"m.login.registration_token","token":"a"}"#)
    let session = try #require(first.challenge).session
    // Again in the same session counts once, and another token does not take its place.
    _ = try await attempt(#"{"type":"m.login.registration_token","token":"b","session":"\#(session)"}"#)
    _ = try await attempt(#"{"type":"m.login.registration_token","token":"a"}"#)
    #expect(authentication.registrationTokens == ["a": 2])
    let done = try await attempt(auth("m.login.password", session))
    #expect(done.challenge == nil && done.shown == "a")
    #expect(authentication.registrationTokens == ["a": 1])
    time.store(InteractiveAuthentication.sessionMilliseconds, ordering: .relaxed)
    #expect(authentication.registrationTokens.isEmpty)
  }

  @Test func `stages of a flow are completed in order`() async throws {
    let session = try #require(try await attempt(nil)).session
    let early = try await attempt(auth("m.login.password", session))
    #expect(early?.error != nil)
    #expect(early?.completed == [])
    let first = try await attempt(auth("m.login.registration_token", session))
    #expect(first?.error == nil)
    #expect(first?.completed == [.registrationToken])
    #expect(first?.session == session)
    let other = try await attempt(auth("m.login.dummy", session))
    #expect(other?.error != nil)
    let failed = try await attempt(auth("m.login.password", session), succeeds: false)
    #expect(failed?.error?.code == .forbidden)
    #expect(try await attempt(auth("m.login.password", session)) == nil)
    #expect(try await attempt(auth("m.login.password", session)) != nil)
  }

  @Test func `a completed stage is not tried again, and a session alone tells how far it is`() async throws {
    let session = try #require(try await attempt(nil)).session
    _ = try await attempt(auth("m.login.registration_token", session))
    let again = try await attempt(auth("m.login.registration_token", session), succeeds: false)
    #expect(again?.error == nil)
    #expect(again?.completed == [.registrationToken])
    let asked = try await attempt(#"{"session":"\#(session)"}"#)
    #expect(asked?.completed == [.registrationToken])
  }

  @Test func `a session of another operation or user is refused, and stays good for its own`() async throws {
    let ann = UserID(trusted: "@ann:example.org"), bob = UserID(trusted: "@bob:example.org")
    func attempt(_ operation: InteractiveAuthentication.Operation, _ auth: String?) async throws {
      let json = try auth.map { try JSON.parse(Array($0.utf8)) }
      try await authentication.require([[.password]], for: operation, auth: json) { _, _ in true }
    }
    let own = InteractiveAuthentication.Operation("devices/A", of: ann)
    let challenge = await #expect(throws: InteractiveAuthenticationChallenge.self) { try await attempt(own, nil) }
    let auth = self.auth("m.login.password", try #require(challenge).session)
    for other in [
      InteractiveAuthentication.Operation("devices/B", of: ann), .init("devices/A", of: bob), .init("devices/A")
    ] {
      let error = await #expect(throws: MatrixError.self) { try await attempt(other, auth) }
      #expect(error?.status == 403 && error?.code == .forbidden)
    }
    try await attempt(own, auth)
  }

  @Test func `sessions are bounded; the newest survive`() async throws {
    let time = Atomic<Int64>(0)
    let clock = WallClock { time.wrappingAdd(1, ordering: .relaxed).newValue }
    let authentication = InteractiveAuthentication(clock: clock)
    func challenge(_ auth: JSON?) async -> InteractiveAuthenticationChallenge? {
      do {
        try await authentication.require([[.password, .dummy]], for: Self.operation, auth: auth) { _, _ in true }
        return nil
      } catch { return error as? InteractiveAuthenticationChallenge }
    }
    let first = try #require(await challenge(nil)).session
    var last = first
    for _ in 0..<InteractiveAuthentication.sessionsLimit { last = try #require(await challenge(nil)).session }
    func isKnown(_ session: ByteString) async throws -> Bool {
      let auth = try JSON.parse(Array(#"{"session":"\#(session)"}"#.utf8))
      return await challenge(auth)?.session == session
    }
    #expect(try await isKnown(last))
    #expect(try await isKnown(first) == false)
  }
}
