/// The words of a command line after the subcommand's name: operands, the subcommand's own options, settings. What stands behind `--`
/// are operands.
package struct CommandArguments: Sendable {
  package private(set) var operands: [String] = []
  package private(set) var settings: [String] = []
  private var values: [String: String] = [:]

  package var isJSON: Bool { has("--json") }
  package var isConfirmed: Bool { has("--yes") }

  /// Throws for words that the command does not take.
  package init(_ words: [String], for syntax: CommandSyntax) throws(UsageError) {
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
        guard syntax.takesSettings else { throw UsageError("unknown option \(parts[0]); usage: martlet \(syntax.usage)") }
        // A setting: always with a value.
        settings.append(word)
        if parts.count == 1, let value = rest.popFirst() { settings.append(value) }
        continue
      }
      try take(option, value: parts.count == 2 ? parts[1] : nil, &rest)
    }
    if operands.count < syntax.operandCount.lowerBound {
      throw UsageError("\(syntax.operands[operands.count]) is missing; usage: martlet \(syntax.usage)")
    }
    if operands.count > syntax.operandCount.upperBound {
      throw UsageError("\(operands[syntax.operandCount.upperBound]) is one word too many; usage: martlet \(syntax.usage)")
    }
  }

  private mutating func take(
    _ option: CommandSyntax.Option, value: String?, _ rest: inout ArraySlice<String>
  ) throws(UsageError) {
    guard values[option.name] == nil else { throw UsageError("\(option.name) is given twice") }
    guard let valueName = option.value else {
      guard value == nil else { throw UsageError("\(option.name) takes no value") }
      values[option.name] = ""
      return
    }
    guard let value = value ?? rest.popFirst() else {
      throw UsageError("\(option.name) needs a value: \(option.name) \(valueName)")
    }
    values[option.name] = value
  }

  package func has(_ option: String) -> Bool { values[option] != nil }

  package func text(_ option: String) -> String? { values[option] }

  /// Throws if the number is not in the range.
  package func integer(_ option: String, in range: ClosedRange<Int64>) throws(UsageError) -> Int64? {
    guard let text = values[option] else { return nil }
    guard let number = Int64(text), range.contains(number) else {
      throw UsageError("\(option) must be a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }
}
