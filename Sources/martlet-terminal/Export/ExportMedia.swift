import Glibc
import MatrixClient
import MatrixModel

/// The files of a room, each fetched once.
struct ExportMedia {
  private let folder: String
  private let client: MatrixClient
  /// nil for those the server does not have any more.
  private var names: [MediaURI: String?] = [:]
  private(set) var count = 0
  private(set) var missing = 0

  init(folder: String, client: MatrixClient) {
    self.folder = folder
    self.client = client
  }

  /// The name of the event's file in the folder; nil where it has none, or where the server refuses it. Throws where the server does not answer.
  mutating func fetch(of event: Event) async throws -> String? {
    var message = event.edit?.content
    if case .message(let content) = event.item?.content { message = content }
    guard let attachment = message?.attachment, let source = attachment.encrypted?.source ?? attachment.source else {
      return nil
    }
    if let known = names[source] { return known }
    mkdir(folder, 0o700)
    let name = Self.name(count + missing + 1, attachment.fileName.string)
    do throws(ClientError) {
      if let file = attachment.encrypted {
        try await client.download(file, to: folder + "/" + name)
      } else {
        try await client.download(source, to: folder + "/" + name)
      }
      names[source] = .some(name)
      count += 1
      return name
    } catch {
      switch error {
      case .refused, .damagedAttachment: break
      default: throw error
      }
      names[source] = .some(nil)
      missing += 1
      return nil
    }
  }

  /// `0001-cat.png`: a file that would do something when it is opened gets an ending that no program opens.
  static func name(_ number: Int, _ fileName: String) -> String {
    let digits = String(number)
    let name = ExportPlan.fileName(for: String(fileName.suffix(60)))
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "-" + name
      + (FileKind.isHarmless(name) ? "" : ".download")
  }
}
