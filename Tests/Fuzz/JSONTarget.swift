import JSON

/// Parses, walks, and writes canonically; what was written canonically must parse again to the same canonical bytes.
func fuzzJSON(_ bytes: UnsafeRawBufferPointer) {
  guard let value = try? JSON.parse(Array(bytes)) else { return }
  walk(value)
  guard let canonical = try? value.canonical() else { return }
  guard let again = try? JSON.parse(canonical), (try? again.canonical()) == canonical else {
    fatalError("canonical JSON is not stable")
  }
}

private func walk(_ value: JSON) {
  _ = value.bool
  _ = value.integer
  _ = value.text
  for element in value.elements { walk(element) }
  for member in value.members {
    _ = member.key
    walk(member.value)
  }
}
