import FilesTesting
import Testing

@testable import martlet

@Suite("Configuration: texts")
struct ConfigurationTextTests {
  @Test("Documentation/Configuration.md says what martlet config documentation prints")
  func page() throws {
    let folder = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let page = try readFile("/\(folder)/Documentation/Configuration.md")
    #expect(page == ConfigurationText.page(), "run: martlet config documentation > Documentation/Configuration.md")
  }

  @Test("The help text names every setting by flag and variable")
  func help() {
    let help = Program.help()
    for setting in Setting.all {
      #expect(help.contains("  \(setting.flag), \(setting.variable)\n"))
    }
    for word in ["serve", "user add", "config check", "version"] { #expect(help.contains("martlet \(word)")) }
  }

  @Test("The effective configuration hides secrets and says where values come from")
  func effective() throws {
    let yaml = "registration_shared_secret: \"hunter2 hunter2\"\nlog:\n  level: debug\n"
    let (loaded, path) = try withTemporaryFile(yaml) { path in
      let flags = ["--config", path, "--registration-tokens=swordfish,xyzzy"]
      return (try ConfigurationLoader.load(flags: flags, environment: ["MARTLET_SERVER_NAME": "a.example"]), path)
    }
    let text = ConfigurationText.effective(loaded)
    #expect(text.contains("registration_shared_secret: \"[redacted]\"  # from \(path), line 1\n"))
    #expect(text.contains("registration_tokens: [\"[redacted]\", \"[redacted]\"]  # from flag --registration-tokens\n"))
    #expect(text.contains("server_name: a.example  # from environment variable MARTLET_SERVER_NAME\n"))
    #expect(text.contains("log:\n  level: debug  # from \(path), line 3\n  format: text  # default\n"))
    for secret in ["hunter2", "swordfish", "xyzzy"] { #expect(!text.contains(secret)) }
    var dumped = ""
    dump(loaded, to: &dumped)
    for secret in ["hunter2", "swordfish", "xyzzy"] { #expect(!dumped.contains(secret)) }
  }

  @Test("What is printed as effective is a valid file with the same meaning")
  func roundTrip() throws {
    let first = try ConfigurationLoader.load(
      flags: ["--bind", "[::1]:1,127.0.0.1:2", "--web-dir", "a \"quoted\"\n\\ name", "--max-upload-bytes", "7"],
      environment: [:])
    let second = try withTemporaryFile(ConfigurationText.effective(first)) { path in
      try ConfigurationLoader.load(flags: ["--config", path], environment: [:])
    }
    for setting in Setting.all {
      #expect(setting.values(first.configuration) == setting.values(second.configuration), "\(setting.name)")
    }
  }

  @Test("The summary of a check says who can reach the server and create accounts, and warns")
  func summary() throws {
    let flags = ["--public-base-url=https://a.example", "--registration=open", "--server-name=a.example"]
    let environment = ["MARTLET_SERVER_NAM": "x"]
    let summary = ConfigurationText.summary(
      try ConfigurationLoader.load(flags: flags, environment: environment, defaultPaths: []))
    for part in [
      "The settings are valid", "none; flags and environment only", "@name:a.example", "127.0.0.1:8008 (this machine only)",
      "Clients use: https://a.example", "by a reverse proxy", "anyone can create one (registration is open)",
      "Warning: registration is open", "Warning: trusted_proxies is not set", "did you mean MARTLET_SERVER_NAME?"
    ] {
      #expect(summary.contains(part), "\(part) is not in:\n\(summary)")
    }
    #expect(summary.split(separator: "\n").allSatisfy { $0.hasPrefix("#") }, "the whole output stays a valid file")
  }

  private func readFile(_ path: String) throws -> String {
    let bytes = try #require(fileBytes(path), "\(path) cannot be read")
    return String(decoding: bytes, as: UTF8.self)
  }
}
