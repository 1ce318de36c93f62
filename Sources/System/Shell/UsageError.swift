/// Why a command line is refused. The description is one sentence that says what to do.
package struct UsageError: Error, Equatable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}
