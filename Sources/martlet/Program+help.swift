import Shell

/// `martlet help`, and `--help` behind any subcommand.
extension Program {
  /// A subcommand as help shows it.
  private struct Entry {
    let words: [String]
    let text: String
  }

  private static func entries() -> [Entry] {
    func entry(_ words: [String], _ usage: String, _ summary: String) -> Entry {
      Entry(words: words, text: "martlet \(usage)\n    \(summary)\n")
    }
    let own = [
      entry(["serve"], "serve [SETTING…]", "Runs the server until Ctrl-C.\n\n" + settingsHelp()),
      entry(
        ["config", "check"], "config check [SETTING…]",
        "Checks the configuration and prints each value with its origin, then a summary with warnings. 'martlet help' lists the settings."
      ),
      entry(["config", "documentation"], "config documentation", "Prints Documentation/Configuration.md."),
      entry(["version"], "version", "Prints the version.")
    ]
    let data = DataCommand.all.map { entry($0.syntax.words, $0.syntax.usage, $0.summary) }
    return own + data + AdminCommand.all.map { entry($0.syntax.words, $0.syntax.usage, $0.summary) }
  }

  /// Returns the words that a command line asks help for, none for all; nil if it does not ask for help.
  ///
  /// `-h` asks only behind the name of a command: it may also be a text.
  static func helpTopic(_ words: [String]) -> [String]? {
    guard let first = words.first, !TerminalClient.commands.contains(first) else { return nil }
    if ["help", "--help", "-h"].contains(first) { return words.dropFirst().filter { !$0.hasPrefix("-") } }
    if words.prefix(while: { $0 != "--" }).contains("--help") { return Array(words.prefix { !$0.hasPrefix("-") }) }
    let name = Array(words.dropLast())
    return words.last == "-h" && entries().contains { $0.words.starts(with: name) } ? name : nil
  }

  /// Returns the help for a command or a group of commands, such as `user`; nil if the words name neither.
  static func help(for topic: [String]) -> String? {
    let entries = entries().filter { $0.words.starts(with: topic) || topic.starts(with: $0.words) }
    return entries.isEmpty ? nil : entries.map(\.text).joined()
  }

  static func showHelp(for topic: [String]) -> ExitStatus {
    guard let first = topic.first else {
      StandardOutput.write(help())
      return TerminalClient.help()
    }
    if TerminalClient.commands.contains(first) { return TerminalClient.replaceProcess(arguments: [first, "--help"]) }
    guard let text = help(for: topic) else { return complainAboutCommand(topic) }
    StandardOutput.write(text)
    return .success
  }

  /// Says which subcommands there are, to a user who wrote the beginning of one or something else.
  static func complainAboutCommand(_ words: [String]) -> ExitStatus {
    let all = entries().map(\.words)
    func list(_ commands: [[String]]) -> String { commands.map { $0.joined(separator: " ") }.joined(separator: ", ") }
    let longer = all.filter { $0.starts(with: words) }
    if !longer.isEmpty { return complain(.usage("\(words.joined(separator: " ")) needs a subcommand: \(list(longer))")) }
    let alike = all.filter { $0.first == words.first }
    let name = alike.isEmpty ? words.prefix(1) : words.prefix(2)
    let known = alike.isEmpty ? "martlet help lists them" : "there are \(list(alike))"
    return complain(.usage("unknown subcommand \(name.joined(separator: " ")); \(known)"))
  }
}
