import Glibc

/// The folder of this program, and the programs beside it.
package enum ProgramFolder {
  /// nil if the system does not tell.
  package static let path: String? = {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    guard count > 0 else { return nil }
    let program = String(decoding: buffer[..<count], as: UTF8.self)
    return program.lastIndex(of: "/").map { String(program[..<$0]) }
  }()

  /// A program beside this one; nil if it is not there.
  package static func file(_ name: String) -> String? {
    guard let path, access("\(path)/\(name)", X_OK) == 0 else { return nil }
    return "\(path)/\(name)"
  }
}
