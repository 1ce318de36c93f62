// The whole surface towards JavaScript. On wasm32 the functions are imported from module "host" (Web/host.js); natively
// they are empty, so that everything above also compiles, links and is tested without a browser.
//
// Text and bytes go as (address, count). Functions that return text write it to a buffer and return its length, -1 for
// none; a length above the capacity asks for a larger buffer. `id` names both the callback and the host's object.

typealias Bytes = UnsafePointer<UInt8>
typealias Buffer = UnsafeMutablePointer<UInt8>

#if arch(wasm32)
  @_extern(wasm, module: "host", name: "apply") @_extern(c)
  func hostApply(_ words: UnsafePointer<Int32>?, _ wordCount: Int32, _ text: Bytes?, _ byteCount: Int32)
  @_extern(wasm, module: "host", name: "measure") @_extern(c)
  func hostMeasure(_ nodes: UnsafePointer<Int32>?, _ count: Int32, _ heights: UnsafeMutablePointer<Float>?)
  @_extern(wasm, module: "host", name: "scroll_top") @_extern(c) func hostScrollTop(_ node: Int32) -> Double
  @_extern(wasm, module: "host", name: "log") @_extern(c) func hostLog(_ p: Bytes?, _ n: Int32)
  @_extern(wasm, module: "host", name: "release") @_extern(c) func hostRelease(_ id: Int32)
  @_extern(wasm, module: "host", name: "monotonic") @_extern(c) func hostMonotonic() -> Double
  @_extern(wasm, module: "host", name: "wall") @_extern(c) func hostWall() -> Double
  @_extern(wasm, module: "host", name: "random") @_extern(c) func hostRandom(_ p: Buffer?, _ n: Int32)
  @_extern(wasm, module: "host", name: "timer") @_extern(c) func hostTimer(_ id: Int32, _ milliseconds: Double)
  @_extern(wasm, module: "host", name: "fetch") @_extern(c)
  func hostFetch(_ id: Int32, _ head: Bytes?, _ headCount: Int32, _ body: Bytes?, _ bodyCount: Int32)
  @_extern(wasm, module: "host", name: "upload") @_extern(c)
  func hostUpload(_ id: Int32, _ file: Int32, _ head: Bytes?, _ headCount: Int32)
  @_extern(wasm, module: "host", name: "download") @_extern(c) func hostDownload(_ id: Int32, _ p: Bytes?, _ n: Int32)
  @_extern(wasm, module: "host", name: "play") @_extern(c) func hostPlay(_ id: Int32, _ p: Bytes?, _ n: Int32)
  @_extern(wasm, module: "host", name: "player_do") @_extern(c)
  func hostPlayerDo(_ id: Int32, _ action: Int32, _ value: Double)
  @_extern(wasm, module: "host", name: "locate") @_extern(c) func hostLocate(_ id: Int32)
  @_extern(wasm, module: "host", name: "record") @_extern(c) func hostRecord(_ id: Int32, _ view: Int32)
  @_extern(wasm, module: "host", name: "record_finish") @_extern(c) func hostRecordFinish(_ id: Int32)
  @_extern(wasm, module: "host", name: "media_open") @_extern(c) func hostMediaOpen(_ id: Int32)
  @_extern(wasm, module: "host", name: "media_do") @_extern(c) func hostMediaDo(_ id: Int32, _ p: Bytes?, _ n: Int32)
  @_extern(wasm, module: "host", name: "media_show") @_extern(c)
  func hostMediaShow(_ id: Int32, _ node: Int32, _ p: Bytes?, _ n: Int32)
  @_extern(wasm, module: "host", name: "socket_open") @_extern(c)
  func hostSocketOpen(_ id: Int32, _ url: Bytes?, _ n: Int32)
  @_extern(wasm, module: "host", name: "socket_send") @_extern(c)
  func hostSocketSend(_ id: Int32, _ p: Bytes?, _ n: Int32)
  @_extern(wasm, module: "host", name: "image_access") @_extern(c) func hostImageAccess(_ p: Bytes?, _ n: Int32)
  @_extern(wasm, module: "host", name: "object_url") @_extern(c)
  func hostObjectURL(_ file: Int32, _ out: Buffer?, _ capacity: Int32) -> Int32
  @_extern(wasm, module: "host", name: "revoke_url") @_extern(c) func hostRevokeURL(_ p: Bytes?, _ n: Int32)
  @_extern(wasm, module: "host", name: "pick_files") @_extern(c)
  func hostPickFiles(_ id: Int32, _ accept: Bytes?, _ n: Int32, _ isMultiple: Int32)
  @_extern(wasm, module: "host", name: "store_open") @_extern(c) func hostStoreOpen(
    _ id: Int32, _ name: Bytes?, _ n: Int32)
  @_extern(wasm, module: "host", name: "store_read") @_extern(c)
  func hostStoreRead(_ store: Int32, _ id: Int32, _ range: Bytes?, _ n: Int32)
  @_extern(wasm, module: "host", name: "store_write") @_extern(c)
  func hostStoreWrite(_ store: Int32, _ id: Int32, _ batch: Bytes?, _ n: Int32)
  @_extern(wasm, module: "host", name: "setting_get") @_extern(c)
  func hostSettingGet(_ key: Bytes?, _ n: Int32, _ out: Buffer?, _ capacity: Int32) -> Int32
  @_extern(wasm, module: "host", name: "setting_set") @_extern(c)
  func hostSettingSet(_ key: Bytes?, _ n: Int32, _ value: Bytes?, _ valueCount: Int32)
  @_extern(wasm, module: "host", name: "page_state") @_extern(c) func hostPageState() -> Int32
  @_extern(wasm, module: "host", name: "page_listen") @_extern(c) func hostPageListen(_ id: Int32)
  @_extern(wasm, module: "host", name: "page_text") @_extern(c)
  func hostPageText(_ kind: Int32, _ out: Buffer?, _ capacity: Int32) -> Int32
  @_extern(wasm, module: "host", name: "page_do") @_extern(c)
  func hostPageDo(_ action: Int32, _ value: Int32, _ p: Bytes?, _ n: Int32)
  @_extern(wasm, module: "host", name: "clipboard_write") @_extern(c)
  func hostClipboardWrite(_ id: Int32, _ p: Bytes?, _ n: Int32)
  @_extern(wasm, module: "host", name: "notification_ask") @_extern(c)
  func hostNotificationAsk(_ id: Int32) -> Int32
  @_extern(wasm, module: "host", name: "notification_show") @_extern(c)
  func hostNotificationShow(_ id: Int32, _ p: Bytes?, _ n: Int32)
  @_extern(wasm, module: "host", name: "channel_open") @_extern(c) func hostChannelOpen(
    _ id: Int32, _ name: Bytes?, _ n: Int32)
  @_extern(wasm, module: "host", name: "channel_post") @_extern(c) func hostChannelPost(
    _ id: Int32, _ p: Bytes?, _ n: Int32)
  @_extern(wasm, module: "host", name: "lock") @_extern(c) func hostLock(_ id: Int32, _ name: Bytes?, _ n: Int32)
  @_extern(wasm, module: "host", name: "utc_offset") @_extern(c) func hostUTCOffset(_ milliseconds: Double) -> Int32
  @_extern(wasm, module: "host", name: "format") @_extern(c)
  func hostFormat(_ kind: Int32, _ value: Double, _ out: Buffer?, _ capacity: Int32) -> Int32
  @_extern(wasm, module: "host", name: "plural_form") @_extern(c) func hostPluralForm(_ count: Double) -> Int32
#else
  func hostApply(_ words: UnsafePointer<Int32>?, _ wordCount: Int32, _ text: Bytes?, _ byteCount: Int32) {}
  func hostMeasure(_ nodes: UnsafePointer<Int32>?, _ count: Int32, _ heights: UnsafeMutablePointer<Float>?) {}
  func hostScrollTop(_ node: Int32) -> Double { 0 }
  func hostLog(_ p: Bytes?, _ n: Int32) {}
  func hostRelease(_ id: Int32) {}
  func hostMonotonic() -> Double { 0 }
  func hostWall() -> Double { 0 }
  func hostRandom(_ p: Buffer?, _ n: Int32) {}
  func hostTimer(_ id: Int32, _ milliseconds: Double) {}
  func hostFetch(_ id: Int32, _ head: Bytes?, _ headCount: Int32, _ body: Bytes?, _ bodyCount: Int32) {}
  func hostUpload(_ id: Int32, _ file: Int32, _ head: Bytes?, _ headCount: Int32) {}
  func hostDownload(_ id: Int32, _ p: Bytes?, _ n: Int32) {}
  func hostPlay(_ id: Int32, _ p: Bytes?, _ n: Int32) {}
  func hostPlayerDo(_ id: Int32, _ action: Int32, _ value: Double) {}
  func hostLocate(_ id: Int32) {}
  func hostRecord(_ id: Int32, _ view: Int32) {}
  func hostRecordFinish(_ id: Int32) {}
  func hostMediaOpen(_ id: Int32) {}
  func hostMediaDo(_ id: Int32, _ p: Bytes?, _ n: Int32) {}
  func hostMediaShow(_ id: Int32, _ node: Int32, _ p: Bytes?, _ n: Int32) {}
  func hostSocketOpen(_ id: Int32, _ url: Bytes?, _ n: Int32) {}
  func hostSocketSend(_ id: Int32, _ p: Bytes?, _ n: Int32) {}
  func hostImageAccess(_ p: Bytes?, _ n: Int32) {}
  func hostObjectURL(_ file: Int32, _ out: Buffer?, _ capacity: Int32) -> Int32 { -1 }
  func hostRevokeURL(_ p: Bytes?, _ n: Int32) {}
  func hostPickFiles(_ id: Int32, _ accept: Bytes?, _ n: Int32, _ isMultiple: Int32) {}
  func hostStoreOpen(_ id: Int32, _ name: Bytes?, _ n: Int32) {}
  func hostStoreRead(_ store: Int32, _ id: Int32, _ range: Bytes?, _ n: Int32) {}
  func hostStoreWrite(_ store: Int32, _ id: Int32, _ batch: Bytes?, _ n: Int32) {}
  func hostSettingGet(_ key: Bytes?, _ n: Int32, _ out: Buffer?, _ capacity: Int32) -> Int32 { -1 }
  func hostSettingSet(_ key: Bytes?, _ n: Int32, _ value: Bytes?, _ valueCount: Int32) {}
  func hostPageState() -> Int32 { 0 }
  func hostPageListen(_ id: Int32) {}
  func hostPageText(_ kind: Int32, _ out: Buffer?, _ capacity: Int32) -> Int32 { -1 }
  func hostPageDo(_ action: Int32, _ value: Int32, _ p: Bytes?, _ n: Int32) {}
  func hostClipboardWrite(_ id: Int32, _ p: Bytes?, _ n: Int32) {}
  func hostNotificationAsk(_ id: Int32) -> Int32 { 0 }
  func hostNotificationShow(_ id: Int32, _ p: Bytes?, _ n: Int32) {}
  func hostChannelOpen(_ id: Int32, _ name: Bytes?, _ n: Int32) {}
  func hostChannelPost(_ id: Int32, _ p: Bytes?, _ n: Int32) {}
  func hostLock(_ id: Int32, _ name: Bytes?, _ n: Int32) {}
  func hostUTCOffset(_ milliseconds: Double) -> Int32 { 0 }
  func hostFormat(_ kind: Int32, _ value: Double, _ out: Buffer?, _ capacity: Int32) -> Int32 { -1 }
  func hostPluralForm(_ count: Double) -> Int32 { 0 }
#endif

/// Lends the UTF-8 bytes of a text for the length of a call.
@inline(__always)
func withBytes<Result>(_ text: String, _ body: (Bytes?, Int32) -> Result) -> Result {
  var text = text
  return text.withUTF8 { body($0.baseAddress, Int32(truncatingIfNeeded: $0.count)) }
}

/// Lends bytes for the length of a call.
@inline(__always)
func withBytes<Result>(_ bytes: [UInt8], _ body: (Bytes?, Int32) -> Result) -> Result {
  bytes.withUnsafeBufferPointer { body($0.baseAddress, Int32(truncatingIfNeeded: $0.count)) }
}

/// Texts with a NUL between them, as the page splits them. Within one, which may be a stranger's, it is dropped: nothing shifts.
func fields(_ texts: String...) -> [UInt8] {
  var joined: [UInt8] = []
  for (index, text) in texts.enumerated() {
    if index > 0 { joined.append(0) }
    for byte in Array(text.utf8) where byte != 0 { joined.append(byte) }
  }
  return joined
}

/// Reads a text the host writes; nil when there is none.
func readText(_ ask: (Buffer?, Int32) -> Int32) -> String? {
  var capacity = 256
  while true {
    let buffer = Buffer.allocate(capacity: capacity)
    defer { buffer.deallocate() }
    let length = Int(ask(buffer, Int32(capacity)))
    if length < 0 { return nil }
    if length <= capacity { return String(decoding: UnsafeBufferPointer(start: buffer, count: length), as: UTF8.self) }
    capacity = length
  }
}
