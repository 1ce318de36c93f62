import Database

/// What nodes tell each other about, apart from commits. Numbers are never used for something else.
package enum NodeSubject: UInt8, Sendable { case typing = 1, presence }

extension Database {
  package func tellNodes(_ message: NoteWriter, about subject: NodeSubject) {
    tellNodes(message.bytes, about: subject.rawValue)
  }

  package func listenToNodes(about subject: NodeSubject, _ handler: @escaping @Sendable (inout NoteReader) -> Void) {
    listenToNodes(about: subject.rawValue) { bytes in
      var reader = NoteReader(bytes[...])
      handler(&reader)
    }
  }
}
