import Files
import Glibc
import Shell

enum ExportFormat: String, Sendable {
  case html, jsonl

  init(name: String) throws(TerminalError) {
    guard let format = ExportFormat(rawValue: name) else { throw .usage("--format is html or jsonl") }
    self = format
  }

  fileprivate init?(ending path: String) {
    switch path.split(separator: ".").last?.lowercased() {
    case "html", "htm": self = .html
    case "jsonl", "ndjson": self = .jsonl
    default: return nil
    }
  }
}

/// Where an export goes. Everything is written beside it under names that end in `.part…` and renamed at the end.
struct ExportPlan: Sendable {
  let path: String
  let format: ExportFormat
  let overwrites: Bool

  /// The folder of the files that the page does not hold itself.
  var mediaPath: String { stem + "-files" }
  /// As the page names it.
  var mediaName: String { FileKind.name(of: mediaPath) }
  var part: String { path + ".part" }
  var eventsPart: String { path + ".part-events" }
  var mediaPart: String { path + ".part-files" }

  private var stem: String {
    let name = FileKind.name(of: path)
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return path }
    return String(path.dropLast(name.distance(from: dot, to: name.endIndex)))
  }

  /// - Parameter to: a file, or a folder for a file named like the room.
  init(to target: String, format: ExportFormat?, roomName: String, overwrites: Bool) throws(TerminalError) {
    let isFolder = target.hasSuffix("/") || Self.isFolder(target)
    self.format = format ?? (isFolder ? .html : ExportFormat(ending: target) ?? .html)
    if target.hasSuffix("/") {
      do throws(FolderOnDisk.Failure) { try FolderOnDisk.make(target) } catch { throw .failed(error.description) }
    }
    let folder = target.hasSuffix("/") ? String(target.dropLast()) : target
    path = isFolder ? "\(folder)/\(Self.fileName(for: roomName)).\(self.format.rawValue)" : target
    self.overwrites = overwrites
    guard overwrites || (access(path, F_OK) != 0 && access(mediaPath, F_OK) != 0) else {
      throw .failed("\(access(path, F_OK) == 0 ? path : mediaPath) is there already; name another file or add --overwrite")
    }
  }

  private static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// A name that is one part of a path, for what strangers call their rooms and files.
  static func fileName(for text: String, limit: Int = 60) -> String {
    var name = ""
    for scalar in text.unicodeScalars {
      guard name.utf8.count < limit else { break }
      let isPlain =
        scalar.properties.isAlphabetic || scalar.properties.numericType != nil || "-_.".unicodeScalars.contains(scalar)
      if isPlain { name.unicodeScalars.append(scalar) } else if name.last != "-" { name += "-" }
    }
    while let first = name.first, first == "." || first == "-" { name.removeFirst() }
    while let last = name.last, last == "." || last == "-" { name.removeLast() }
    return name.isEmpty ? "room" : name
  }
}
