// Takes each step of `Olm` under valgrind, which reports where a branch or an index depends on a secret. Scripts/test-constant-time runs it.
import CMemcheck
import Foundation

/// - Returns: whether valgrind found what it had to find, or nothing.
func take(_ step: Step, isFaulty: Bool) -> Bool {
  let before = memcheck_errors()
  var reason: String?
  do { try step.run() } catch { reason = "\(error)" }
  let found = memcheck_errors() - before
  let words =
    reason ?? (found == step.publicResults ? "nothing depends on a secret" : "\(found) branches or indices depend on a secret")
  print("\(isFaulty ? "has to be found: " : "")\(step.name): \(words)")
  return reason == nil && isFaulty == (found != step.publicResults)
}

guard memcheck_is_running() == 1 else {
  print("This program works under valgrind only, and only if valgrind/memcheck.h was there when it was built.")
  exit(2)
}
let results = faulty.map { take($0, isFaulty: true) } + steps.map { take($0, isFaulty: false) }
let passed = results.count { $0 }
print("\(passed) passed, \(results.count - passed) failed")
exit(passed == results.count ? 0 : 1)
