/// The words of a command line after the subcommand's name: operands, the subcommand's own options, settings. What stands behind `--`
/// are operands.
struct CommandArguments: Sendable {
  private(set) var operands: [String] = []
  private(set) var settings: [String] = []
  private var values: [String: String] = [:]

  var isJSON: Bool { has("--json") }
  var isConfirmed: Bool { has("--yes") }

  /// Throws `usage` for what the command does not take.
  init(_ words: [String], for syntax: CommandSyntax) throws(ConfigurationError) {
    var rest = words[...]
    while let word = rest.popFirst() {
      if word == "--" {
        operands += rest
        break
      }
      guard word.hasPrefix("--") else {
        operands.append(word)
        continue
      }
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard let option = syntax.options.first(where: { $0.name == parts[0] }) else {
        guard syntax.takesSettings else { throw .usage("\(parts[0]) is not known; it is: martlet \(syntax.usage)") }
        // A setting: always with a value.
        settings.append(word)
        if parts.count == 1, let value = rest.popFirst() { settings.append(value) }
        continue
      }
      try take(option, value: parts.count == 2 ? parts[1] : nil, &rest)
    }
    guard syntax.operandCount.contains(operands.count) else { throw .usage("it is: martlet \(syntax.usage)") }
  }

  private mutating func take(
    _ option: CommandSyntax.Option, value: String?, _ rest: inout ArraySlice<String>
  ) throws(ConfigurationError) {
    guard values[option.name] == nil else { throw .usage("\(option.name) is given twice") }
    guard let valueName = option.value else {
      guard value == nil else { throw .usage("\(option.name) takes no value") }
      values[option.name] = ""
      return
    }
    guard let value = value ?? rest.popFirst() else {
      throw .usage("\(option.name) needs a value: \(option.name) \(valueName)")
    }
    values[option.name] = value
  }

  func has(_ option: String) -> Bool { values[option] != nil }

  func text(_ option: String) -> String? { values[option] }

  /// Throws `usage` where it is not in the range.
  func integer(_ option: String, in range: ClosedRange<Int64>) throws(ConfigurationError) -> Int64? {
    guard let text = values[option] else { return nil }
    guard let number = Int64(text), range.contains(number) else {
      throw .usage("\(option) is a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }
}
