import JSON
import ObjectStore
import ServerMedia
import Shell
import Telemetry

extension DataCommand {
  static let mediaCopy = DataCommand(
    "media copy", options: [CommandSyntax.Option(name: "--to", value: "PLACE")],
    "Copies all files of users to the bucket of media.s3 (--to s3), or from there to data_dir (--to folder), while the server runs or not. Files that are there already are passed over, so a copy that was stopped goes on. Each file is compared with its hash; ends with 2 if some are damaged, which are not copied.",
    needsFolder: false
  ) { arguments, configuration in
    guard let place = arguments.text("--to"), place == "s3" || place == "folder" else {
      throw UsageError("--to is s3 or folder")
    }
    guard let bucket = try configuration.bucket.configuration() else {
      throw UsageError("media.s3.endpoint is not set")
    }
    if place == "s3" { try DataDirectory.requireMedia(in: configuration.dataDirectory) }
    let copy = try MediaCopy(Bucket(bucket), dataDirectory: configuration.dataDirectory)
    let copied: MediaCopy.Progress
    do {
      copied = try await place == "s3" ? copy.toBucket(tell) : copy.toFolder(tell)
    } catch {
      await copy.shutdown()
      throw error
    }
    await copy.shutdown()
    if !copied.damaged.isEmpty {
      Program.complain("damaged and not copied:\n" + copied.damaged.joined(separator: "\n"))
    }
    show(arguments, "\(text(of: copied)); damaged: \(copied.damaged.count)") { writer in
      writer.member("files", Int64(copied.files))
      writer.member("copied_files", Int64(copied.copiedFiles))
      writer.member("copied_bytes", copied.copiedBytes)
      writer.member("damaged_files", Int64(copied.damaged.count))
    }
    return copied.damaged.isEmpty ? .success : .incomplete
  }

  /// Says how far the copy is.
  private static func tell(_ progress: MediaCopy.Progress) {
    guard progress.part < MediaCopy.Progress.parts else { return }
    let percent = progress.part * 100 / MediaCopy.Progress.parts
    LogSink.standardError(Array("\(percent) %: \(text(of: progress))\n".utf8))
  }

  private static func text(of progress: MediaCopy.Progress) -> String {
    "\(count(progress.files, "file")); copied \(count(progress.copiedFiles, "file")), \(progress.copiedBytes) bytes"
  }
}
