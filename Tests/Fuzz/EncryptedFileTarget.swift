import EventContent
import JSON
import MatrixModel
import Olm

/// Messages with encrypted files, as anybody in a room writes them. What is read is written the same, and no file is opened with keys that somebody made up.
func fuzzEncryptedFile(_ bytes: UnsafeRawBufferPointer) {
  guard let json = try? JSON.parse(Array(bytes)) else { return }
  if let message = try? MessageContent(json, type: .message) {
    if let attachment = message.attachment, json["file"] != nil { precondition(attachment.source == nil) }
    let edited = message.content(with: FormattedText("other"), own: UserID(trusted: "@me:one.example"))
    let again = (try? JSON.parse(edited)).flatMap { try? MessageContent($0, type: .message) }
    precondition(again?.attachment?.encrypted == message.attachment?.encrypted)
  }
  guard let file = EncryptedFile(json) else { return }
  var writer = JSONWriter()
  file.write(to: &writer)
  precondition((try? JSON.parse(writer.bytes)).flatMap { EncryptedFile($0) } == file)
  let keys = file.keys
  guard
    var reader = try? AttachmentReader(
      keyText: Array(keys.key.utf8), counter: Array(keys.counter.utf8), digest: Array(keys.digest.utf8))
  else { return }
  var content: [UInt8] = [1, 2, 3]
  reader.decrypt(&content)
  precondition((try? reader.verify()) == nil)
}
