import Glibc

/// The environment of this process.
package func processEnvironment() -> [String: String] {
  var result: [String: String] = [:]
  var next = environ
  while let entry = next.pointee {
    let parts = String(cString: entry).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    if parts.count == 2 { result[String(parts[0])] = String(parts[1]) }
    next += 1
  }
  return result
}
