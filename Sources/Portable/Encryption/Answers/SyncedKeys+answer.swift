import JSON
import MatrixModel

extension SyncedKeys {
  /// nil where it is no sync.
  init?(_ json: JSON, path: [UInt8], isFirst: Bool) {
    guard let last = path.split(separator: UInt8(ascii: "/")).last, last.elementsEqual("sync".utf8) else { return nil }
    self.init()
    let extensions = json["extensions"], encryption = extensions?["e2ee"] ?? json
    let events = (extensions ?? json)["to_device"]?["events"]?.elements
    toDevice = events.map { Array($0.prefix(EncryptionLimits.toDeviceOfSync)) } ?? []
    changed = encryption["device_lists"]?["changed"]?.elements.compactMap { UserID($0) } ?? []
    left = encryption["device_lists"]?["left"]?.elements.compactMap { UserID($0) } ?? []
    keyCounts = encryption["device_one_time_keys_count"]
    unusedFallbacks = encryption["device_unused_fallback_key_types"]
    hasGap = isFirst
  }
}
