import JSON
import MatrixModel
import ServerAccounts

extension SlidingExtensions {
  /// Writes the `extensions` of an answer; those that were not asked for are left out.
  func write(to writer: inout JSONWriter, _ context: SlidingContext, _ events: EventWriting) {
    writer.object { writer in
      if let toDevice {
        writer.key("to_device")
        writer.object { writer in
          writer.member("next_batch", toDevice.next)
          writer.array("events", toDevice.messages) { $0.write(to: &$1) }
        }
      }
      if let keyCounts { writeEndToEnd(keyCounts, to: &writer) }
      if let accountData { write(accountData, to: &writer) }
      if let receipts { Self.write("receipts", receipts, to: &writer) }
      if let typing { Self.write("typing", typing, to: &writer) }
      if let threads, !threads.isEmpty { threads.write(to: &writer, key: "io.element.msc4360.threads", events) }
    }
  }

  private func writeEndToEnd(_ keyCounts: [UInt8], to writer: inout JSONWriter) {
    writer.key("e2ee")
    writer.object { writer in
      writer.rawMembers(keyCounts)
      if let deviceLists, !deviceLists.isEmpty { deviceLists.write(to: &writer) }
    }
  }

  private func write(
    _ data: (ofAccount: [AccountData.Entry], ofRooms: [(room: RoomID, entries: [AccountData.Entry])]),
    to writer: inout JSONWriter
  ) {
    writer.key("account_data")
    writer.object { writer in
      writer.array("global", data.ofAccount) { $0.write(to: &$1) }
      writer.key("rooms")
      writer.object { writer in
        for (room, entries) in data.ofRooms {
          writer.key(room)
          writer.array { writer in for entry in entries { entry.write(to: &writer) } }
        }
      }
    }
  }

  private static func write(
    _ key: StaticString, _ events: [(room: RoomID, event: [UInt8])], to writer: inout JSONWriter
  ) {
    writer.key(key)
    writer.object { writer in
      writer.key("rooms")
      writer.object { writer in
        for (room, event) in events {
          writer.key(room)
          writer.raw(event)
        }
      }
    }
  }
}
