import Messenger

/// A durable key-value store of the browser (IndexedDB, `Web/store.js`). Keys are ASCII. Batches are atomic; reads and
/// batches happen in the order of the calls.
public final class KeyValueStore {
  private let handle: JSHandle
  init(handle: JSHandle) { self.handle = handle }

  public enum Change {
    case put(String, [UInt8])
    case delete(String)
    case deletePrefix(String)
  }

  /// Entries whose key begins with `prefix` and lies between the bounds, which do not belong to it; empty ones are none.
  public struct Range {
    public var prefix: String
    public var after: String
    public var before: String
    /// Whether the last key comes first.
    public var isDescending: Bool
    /// 0 for all of them.
    public var limit: Int

    public init(prefix: String, after: String = "", before: String = "", isDescending: Bool = false, limit: Int = 0) {
      self.prefix = prefix
      self.after = after
      self.before = before
      self.isDescending = isDescending
      self.limit = limit
    }

    /// 1 or 0 for the direction, the limit and the counts of the texts as little-endian 32 bit, the texts.
    var bytes: [UInt8] {
      var bytes: [UInt8] = [isDescending ? 1 : 0]
      for number in [limit, prefix.utf8.count, after.utf8.count, before.utf8.count] {
        KeyValueStore.append(UInt32(truncatingIfNeeded: number), to: &bytes)
      }
      for text in [prefix, after, before] { bytes.append(contentsOf: text.utf8) }
      return bytes
    }
  }

  /// Reads the entries of the ranges as they are at one moment, one range after the other, each in its order; nil when the store failed.
  public func read(_ ranges: [Range], _ then: @escaping ([(key: String, value: [UInt8])]?) -> Void) {
    let id = registerOnce { then($0.code == 1 ? KeyValueStore.entries($0.bytes) : nil) }
    var bytes: [UInt8] = []
    for range in ranges { bytes += range.bytes }
    hostStoreRead(handle.id, id, bytes)
  }

  /// Applies all changes or none. False: nothing was written (no space, private mode, closed).
  public func write(_ changes: [Change], _ then: @escaping (Bool) -> Void) {
    let id = registerOnce { then($0.code == 1) }
    hostStoreWrite(handle.id, id, KeyValueStore.batch(changes))
  }

  /// Per change: kind (1 put, 2 delete, 3 delete by prefix), key count, value count as little-endian 32 bit, key, value.
  static func batch(_ changes: [Change]) -> [UInt8] {
    var bytes: [UInt8] = []
    func add(_ kind: UInt8, _ key: String, _ value: [UInt8]) {
      bytes.append(kind)
      append(UInt32(truncatingIfNeeded: key.utf8.count), to: &bytes)
      append(UInt32(truncatingIfNeeded: value.count), to: &bytes)
      bytes.append(contentsOf: key.utf8)
      bytes.append(contentsOf: value)
    }
    for change in changes {
      switch change {
      case .put(let key, let value): add(1, key, value)
      case .delete(let key): add(2, key, [])
      case .deletePrefix(let prefix): add(3, prefix, [])
      }
    }
    return bytes
  }

  private static func append(_ number: UInt32, to bytes: inout [UInt8]) {
    for shift: UInt32 in [0, 8, 16, 24] { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
  }

  /// Per entry: key count, value count as little-endian 32 bit, key, value. Nil for anything else.
  static func entries(_ bytes: UnsafeRawBufferPointer) -> [(key: String, value: [UInt8])]? {
    var entries: [(key: String, value: [UInt8])] = []
    var position = 0
    while position < bytes.count {
      guard bytes.count - position >= 8 else { return nil }
      let keyCount = Int(bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self).littleEndian)
      let valueCount = Int(bytes.loadUnaligned(fromByteOffset: position + 4, as: UInt32.self).littleEndian)
      position += 8
      guard keyCount <= bytes.count - position, valueCount <= bytes.count - position - keyCount else { return nil }
      let key = String(decoding: bytes[position..<position + keyCount], as: UTF8.self)
      position += keyCount
      entries.append((key, [UInt8](bytes[position..<position + valueCount])))
      position += valueCount
    }
    return entries
  }
}

extension Host {
  /// Opens (and at first creates) a store. Nil: the browser has none to give.
  public static func openStore(named name: String, _ then: @escaping (KeyValueStore?) -> Void) {
    var id: Int32 = 0
    id = register { event in
      callbacks.remove(id)
      then(event.code == 1 ? KeyValueStore(handle: JSHandle(id: id)) : nil)
    }
    hostStoreOpen(id, name)
  }

  /// A small setting kept by the browser (local storage), read at once.
  public static func setting(_ key: String) -> String? { hostSettingGet(key) }

  /// Nil takes the setting away.
  public static func setSetting(_ key: String, _ value: String?) {
    if let value { hostSettingSet(key, value) } else { hostSettingRemove(key) }
  }
}
