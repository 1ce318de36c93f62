import ClientCore
import Foundation
import JSON
import Synchronization
import Testing

@testable import MatrixClient

/// Commands about the identity against a server that lists no keys. The rest of recovery is in Tests/EndToEnd/test_encryption.py.
@Suite struct EncryptionFaceTests {
  private static let password = "correct horse"
  private static let needed =
    #"{"session":"s","flows":[{"stages":["m.login.password"]}],"params":{}}"#

  /// Takes cross-signing keys from those who give the password.
  private func server(wantsPassword: Bool) -> ScriptedServer {
    ScriptedServer { request in
      if request.target.contains("keys/query") { return (200, #"{"device_keys":{}}"#) }
      if request.target.contains("keys/upload") { return (200, #"{"one_time_key_counts":{"signed_curve25519":50}}"#) }
      guard request.target.contains("device_signing"), wantsPassword else { return nil }
      let given = (try? JSON.parse(Array(request.body.utf8)))?["auth"]?["password"]?.string
      return given == Self.password ? (200, "{}") : (401, Self.needed)
    }
  }

  private func withClient(
    of server: ScriptedServer, store: any Store = MemoryStore(), encrypts: Bool = true,
    _ body: (MatrixClient) async throws -> Void
  ) async throws {
    let fixture = FixtureServer { server.answer($0) }
    defer { fixture.stop() }
    server.push("")
    let client = try await MatrixClient.logIn(
      to: fixture.url, user: "@me:test", password: Self.password, store: store, encrypts: encrypts)
    do {
      try await body(client)
      await client.stop()
    } catch {
      await client.stop()
      throw error
    }
  }

  private func uploads(_ server: ScriptedServer) -> Int { server.requests("device_signing").count }

  private func failure(_ body: @Sendable () async throws(EncryptionError) -> Void) async -> EncryptionError? {
    do throws(EncryptionError) {
      try await body()
      return nil
    } catch { return error }
  }

  @Test func `a client has diagnostics as long as it encrypts`() async throws {
    try await withClient(of: server(wantsPassword: false)) { client in
      let diagnostics = try #require(await client.encryption.diagnostics)
      #expect(diagnostics.unread.isEmpty && diagnostics.everUnread == 0 && diagnostics.late.count == 0)
      #expect(diagnostics.repairedSessions == 0 && diagnostics.refusedDevices == 0)
      #expect(diagnostics.english.hasPrefix("device: ") && diagnostics.english.hasSuffix("fault: none"))
    }
    try await withClient(of: server(wantsPassword: false), encrypts: false) { client in
      #expect(await client.encryption.diagnostics == nil)
    }
  }

  // MARK: The identity

  @Test(arguments: [false, true])
  func `a password is given only if the server asks for it, and a refusal says what the server wants`(
    _ wantsPassword: Bool
  ) async throws {
    let server = server(wantsPassword: wantsPassword)
    try await withClient(of: server) { client in
      let encryption = client.encryption
      #expect(uploads(server) == 0, "a client in memory makes no identity by itself")
      for authenticator in wantsPassword ? [nil, Authenticator.password("wrong", user: "@me:test")] : [] {
        let failure = await failure { () throws(EncryptionError) in try await encryption.setUpIdentity(by: authenticator) }
        #expect(failure?.neededStages == ["m.login.password"])
        #expect(await !encryption.status.hasIdentity)
      }
      try await encryption.setUpIdentity(by: .password(Self.password, user: "@me:test"))
      #expect(await encryption.status.hasIdentity)
      let last = try #require(server.requests("device_signing").last)
      #expect(last.body.contains(Self.password) == wantsPassword)
    }
  }

  @Test func `the login of a client with a lasting store makes the identity, with the password of the login`() async throws {
    let (server, folder) = (server(wantsPassword: true), TemporaryFolder())
    let store = try SQLiteStore(path: folder.path + "/store")
    try await withClient(of: server, store: store) { client in
      for await status in await client.encryption.statuses() where status.hasIdentity { break }
    }
    #expect(uploads(server) == 2)
  }

  // MARK: Ends

  @Test func `a client without encryption says so`() async throws {
    try await withClient(of: server(wantsPassword: false), encrypts: false) { client in
      let encryption = client.encryption
      let failure = await failure { () throws(EncryptionError) in _ = try await encryption.setUpRecovery() }
      #expect(failure?.isUnavailable == true)
      #expect(await encryption.status == EncryptionStatus())
    }
  }

  @Test func `a command that is cancelled ends at once, and so does one whose client stops`() async throws {
    let queries = Mutex(0)
    let server = ScriptedServer { request in
      guard request.target.contains("keys/query") else { return nil }
      // Only the first is answered.
      return queries.withLock { count in
        count += 1
        return count == 1 ? (200, #"{"device_keys":{}}"#) : (500, "{}")
      }
    }
    try await withClient(of: server) { client in
      let encryption = client.encryption
      let cancelled = Task {
        await failure { () throws(EncryptionError) in try await encryption.setUpIdentity() }
      }
      while await client.encryptionCommands.isEmpty { await Task.yield() }
      cancelled.cancel()
      #expect(await cancelled.value?.isCancelled == true)
      let statuses = await encryption.statuses()
      let stopped = Task {
        await failure { () throws(EncryptionError) in try await encryption.setUpIdentity() }
      }
      while await client.encryptionCommands.isEmpty { await Task.yield() }
      await client.stop()
      #expect(await stopped.value?.isCancelled == true)
      var all: [EncryptionStatus] = []
      for await status in statuses { all.append(status) }
      #expect(all == [EncryptionStatus()])
    }
  }

  @Test func `every error says what happened`() {
    let errors: [EncryptionError] = [.client(.network), .unavailable, .wrongRecoveryKey, .noRecovery, .unverified, .noBackup]
    for error in errors { #expect(error.english.hasSuffix(".") && error.english.count > 15) }
    #expect(Set(errors.map(\.english)).count == errors.count)
  }
}

extension EncryptionError {
  fileprivate var isCancelled: Bool { if case .client(.cancelled) = self { true } else { false } }
  fileprivate var isUnavailable: Bool { if case .unavailable = self { true } else { false } }
  fileprivate var neededStages: [ByteString]? {
    if case .client(.authenticationNeeded(let needed)) = self { needed.nextStages } else { nil }
  }
}
