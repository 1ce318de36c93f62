import JSON
import MatrixModel
import Olm

/// Keys of rooms that leave in key files and come back. Spec: Client-Server API, "Key exports".
extension EncryptionMachine {
  /// The keys of a store are exported in so many parts. Other work goes on in between.
  package static let keySlices: ClosedRange<UInt8> = 0...255

  /// The records of one slice. What is in memory is in them: all that came before is written.
  mutating func takeSlice(_ records: [EncryptionRecord]) {
    var keys: [RoomKey] = []
    for record in records where RecordNames.isSession(record.key) {
      do throws(RecordRefusal) { keys += try RoomKeys.Entry([record]).keys } catch {
        guard error == .unreadable else { return stop(.newerStore) }
      }
    }
    exportedSlice = keys
  }

  mutating func exportKeys(_ number: UInt64, of room: RoomID?) {
    let keys = (exportedSlice ?? []).filter { key in room.map { key.room == $0 } ?? true }
    exportedSlice = nil
    output.results.append(.exportedKeys(number, keys))
  }

  mutating func importKeys(_ keys: [RoomKey], _ number: UInt64, at now: Int64) {
    let changed = keep(keys, fromBackup: false, at: now)
    readLate(changed, at: now)
    output.results.append(.importedKeys(number, new: changed.count))
  }
}
