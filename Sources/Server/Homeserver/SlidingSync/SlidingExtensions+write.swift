import JSON
import MatrixModel

extension SlidingExtensions {
  /// Writes the `extensions` of an answer; those that were not asked for are left out.
  func write(to writer: inout JSONWriter, _ context: SlidingContext, _ events: EventWriting) {
    writer.object { writer in
      if let toDevice {
        writer.key("to_device")
        writer.object { writer in
          writer.member("next_batch", toDevice.next)
          writer.key("events")
          writer.array { writer in for message in toDevice.messages { message.write(to: &writer) } }
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
      guard let deviceLists, !deviceLists.isEmpty else { return }
      writer.key("device_lists")
      writer.object { writer in
        writer.key("changed")
        writer.array { writer in for user in deviceLists.changed.sorted() { writer.write(user) } }
        writer.key("left")
        writer.array { writer in for user in deviceLists.left.sorted() { writer.write(user) } }
      }
    }
  }

  private func write(
    _ data: (ofAccount: [AccountData.Entry], ofRooms: [(room: RoomID, entries: [AccountData.Entry])]),
    to writer: inout JSONWriter
  ) {
    writer.key("account_data")
    writer.object { writer in
      writer.key("global")
      writer.array { writer in for entry in data.ofAccount { entry.write(to: &writer) } }
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
