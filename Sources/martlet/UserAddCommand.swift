import Glibc
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
      let userID = try await Accounts.add(name, password: password, loaded.configuration, in: directory)
      Program.output("\(userID)\n")
      return .success
    } catch let error as ConfigurationError {
      return Program.complain(error)
    } catch {
      Program.complain("\(error)")
      return .failure
    }
  }
}

/// Accounts made from the command line.
enum Accounts {
  /// Makes an account and returns its user ID. Throws `failed` if the name is taken or not allowed.
  static func add(
    _ localpart: String, password: Redacted<[UInt8]>, _ configuration: Configuration, in directory: DataDirectory
  ) async throws(StartError) -> String {
    throw .failed("this build has no accounts yet")
  }
}
