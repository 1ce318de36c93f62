import Glibc
import Homeserver
import JSON
import MatrixModel
import Telemetry

/// `martlet user add NAME`: makes an account while no server runs on the same data.
enum UserAddCommand {
  static func run(_ words: [String]) async -> Program.Status {
    guard let name = words.first, !name.hasPrefix("--") else {
      return Program.complain(.usage("user add needs the name of the new user"))
    }
    do {
      let loaded = try ConfigurationLoader.load(flags: Array(words.dropFirst()), environment: processEnvironment())
      let directory = try DataDirectory(loaded.configuration.dataDirectory)
      let password = try PasswordPrompt.read()
      let homeserver = try Homeserver(
        try loaded.configuration.homeserver(in: directory), log: Log("homeserver"))
      let userID = try await homeserver.accounts.create(
        ByteString(name), password: Redacted(String(decoding: password.reveal(), as: UTF8.self))
      ).userID
      await homeserver.shutdown()
      Program.output("\(userID)\n")
      return .success
    } catch let error as ConfigurationError {
      return Program.complain(error)
    } catch let error as MatrixError {
      Program.complain(error.message)
      return .failure
    } catch {
      Program.complain("\(error)")
      return .failure
    }
  }
}
