// Written by Scripts/host-protocol from Web/host-protocol.txt: change that file.
// swift-format-ignore-file

import Messenger

extension CommandBuffer {
  /// Gives a name a number.
  mutating func atom(atom: Int32, name: String) {
    add(word: 1)
    add(word: atom)
    add(text: name)
  }

  /// Makes an element.
  mutating func create(node: Node, tag: Atom) {
    add(word: 2)
    add(word: node.id)
    add(word: tag.id)
  }

  /// Makes a template of a subtree; the slots are numbers of nodes in it.
  mutating func template(template: Int32, root: Node, slots: [Int32]) {
    add(word: 3)
    add(word: template)
    add(word: root.id)
    add(word: Int32(slots.count))
    for number in slots { add(word: number) }
  }

  /// Copies a template; the copy gets that number, its slots the next ones.
  mutating func clone(template: Int32, first: Node) {
    add(word: 4)
    add(word: template)
    add(word: first.id)
  }

  mutating func append(parent: Node, child: Node) {
    add(word: 5)
    add(word: parent.id)
    add(word: child.id)
  }

  /// Puts the child before the sibling.
  mutating func insert(parent: Node, child: Node, sibling: Node) {
    add(word: 6)
    add(word: parent.id)
    add(word: child.id)
    add(word: sibling.id)
  }

  /// Takes the node out of the page.
  mutating func remove(node: Node) {
    add(word: 7)
    add(word: node.id)
  }

  /// Forgets that many nodes.
  mutating func free(first: Node, count: Int32) {
    add(word: 8)
    add(word: first.id)
    add(word: count)
  }

  mutating func classes(node: Node, list: Atom) {
    add(word: 9)
    add(word: node.id)
    add(word: list.id)
  }

  mutating func text(node: Node, text: String) {
    add(word: 10)
    add(word: node.id)
    add(text: text)
  }

  mutating func attribute(node: Node, name: Atom, value: String) {
    add(word: 11)
    add(word: node.id)
    add(word: name.id)
    add(text: value)
  }

  /// Takes an attribute away.
  mutating func noAttribute(node: Node, name: Atom) {
    add(word: 12)
    add(word: node.id)
    add(word: name.id)
  }

  /// Sets a custom property to a number.
  mutating func variable(node: Node, name: Atom, millionths: Int32) {
    add(word: 13)
    add(word: node.id)
    add(word: name.id)
    add(word: millionths)
  }

  /// Sets a property; an empty value takes it away.
  mutating func style(node: Node, name: Atom, value: String) {
    add(word: 14)
    add(word: node.id)
    add(word: name.id)
    add(text: value)
  }

  /// Sets the value of a field.
  mutating func value(node: Node, value: String) {
    add(word: 15)
    add(word: node.id)
    add(text: value)
  }

  /// Shows an image; an empty source shows none.
  mutating func image(node: Node, source: String) {
    add(word: 16)
    add(word: node.id)
    add(text: source)
  }

  mutating func focus(node: Node) {
    add(word: 17)
    add(word: node.id)
  }

  /// Calls back for each event of that kind.
  mutating func listen(node: Node, event: Int32, callback: Int32) {
    add(word: 18)
    add(word: node.id)
    add(word: event)
    add(word: callback)
  }

  /// Marks words in the node's text.
  mutating func mark(node: Node, words: String) {
    add(word: 19)
    add(word: node.id)
    add(text: words)
  }

  /// In 1/64 pixel; a negative height takes the style away.
  mutating func height(node: Node, sixtyFourths: Int32) {
    add(word: 20)
    add(word: node.id)
    add(word: sixtyFourths)
  }

  /// In 1/64 pixel; a negative width takes the style away.
  mutating func width(node: Node, sixtyFourths: Int32) {
    add(word: 21)
    add(word: node.id)
    add(word: sixtyFourths)
  }

  /// In 1/64 pixel.
  mutating func translateY(node: Node, sixtyFourths: Int32) {
    add(word: 22)
    add(word: node.id)
    add(word: sixtyFourths)
  }

  /// In 1/64 pixel.
  mutating func scrollTop(node: Node, sixtyFourths: Int32) {
    add(word: 23)
    add(word: node.id)
    add(word: sixtyFourths)
  }

  /// Makes a field as high as its content, at most that; in 1/64 pixel.
  mutating func fitContent(node: Node, sixtyFourths: Int32) {
    add(word: 24)
    add(word: node.id)
    add(word: sixtyFourths)
  }

  /// Puts the caret of a field behind that many bytes of its value.
  mutating func caret(node: Node, bytes: Int32) {
    add(word: 25)
    add(word: node.id)
    add(word: bytes)
  }
}

extension EventKind {
  /// The number by which the page knows it.
  var number: Int32 {
    switch self {
    case .click: 0
    case .input: 1
    case .keyDown: 2
    case .scroll: 3
    case .resize: 4
    case .files: 5
    case .focus: 6
    case .blur: 7
    case .change: 8
    case .submit: 9
    case .contextMenu: 10
    case .pointerOver: 11
    case .swipe: 12
    case .hold: 13
    case .aside: 14
    case .reorder: 15
    case .drag: 16
    }
  }
}

/// What changed about the page.
public enum PageChange: Int32, Sendable {
  /// The network came or went.
  case online = 0
  /// Visibility or focus.
  case attention = 1
  /// The part of the address after `#`.
  case fragment = 2
  /// Dark or light, or how much motion.
  case colourScheme = 3
  /// The page is about to go away or to be frozen: save now.
  case leaving = 4
  /// Control or Command and K were pressed.
  case quickSwitch = 5
  /// Control or Command and `/`, or `?` outside of fields.
  case shortcuts = 6
  /// Escape, which nothing on the page wanted.
  case escape = 7
}

extension PageState {
  /// The browser believes to have a network.
  public static let online = PageState(rawValue: 1 << 0)
  public static let visible = PageState(rawValue: 1 << 1)
  /// The window has the keyboard: the user is probably looking.
  public static let focused = PageState(rawValue: 1 << 2)
  public static let dark = PageState(rawValue: 1 << 3)
  public static let reducedMotion = PageState(rawValue: 1 << 4)
  /// The language of the page is written from right to left.
  public static let rightToLeft = PageState(rawValue: 1 << 5)
  /// The browser has peer connections and can open a microphone.
  public static let canCall = PageState(rawValue: 1 << 6)
  /// The browser can be pushed to while no page is open.
  public static let canBePushedTo = PageState(rawValue: 1 << 7)
  /// The browser hands files to other programs.
  public static let canShare = PageState(rawValue: 1 << 8)
  /// One pane at a time: less than 720 pixels wide.
  public static let narrow = PageState(rawValue: 1 << 9)
  /// The browser shows a video in a window of its own, above all others.
  public static let canFloat = PageState(rawValue: 1 << 10)
  /// The browser finds QR codes in pictures, and can open a camera.
  public static let canScan = PageState(rawValue: 1 << 11)
  /// The browser lets a script encrypt each frame of a call.
  public static let canSealMedia = PageState(rawValue: 1 << 12)
}

// What a program imports from module `host`. Natively the functions are empty, so that everything above compiles, links and is tested
// without a browser. Texts and bytes cross as address and count. A text that is returned is written to a buffer: its length is
// returned, -1 for none; a length above the capacity asks for a larger buffer.
#if arch(wasm32)
  @_extern(wasm, module: "host", name: "apply") @_extern(c)
  func hostApply(_ words: UnsafePointer<Int32>?, _ wordsCount: Int32, _ text: Bytes?, _ textCount: Int32)
  @_extern(wasm, module: "host", name: "measure") @_extern(c)
  func hostMeasure(_ nodes: UnsafePointer<Int32>?, _ nodesCount: Int32, _ heights: UnsafeMutablePointer<Float>?, _ heightsCount: Int32)
  @_extern(wasm, module: "host", name: "scroll_top") @_extern(c)
  func hostScrollTop(_ node: Int32) -> Double
  @_extern(wasm, module: "host", name: "release") @_extern(c)
  func hostRelease(_ id: Int32)
  @_extern(wasm, module: "host", name: "log") @_extern(c)
  func hostLog(_ line: Bytes?, _ lineCount: Int32)
  @_extern(wasm, module: "host", name: "monotonic") @_extern(c)
  func hostMonotonic() -> Double
  @_extern(wasm, module: "host", name: "wall") @_extern(c)
  func hostWall() -> Double
  @_extern(wasm, module: "host", name: "random") @_extern(c)
  func hostRandom(_ bytes: Buffer?, _ bytesCount: Int32)
  @_extern(wasm, module: "host", name: "random_key") @_extern(c)
  func hostRandomKey(_ out: Buffer?, _ capacity: Int32) -> Int32
  @_extern(wasm, module: "host", name: "timer") @_extern(c)
  func hostTimer(_ id: Int32, _ milliseconds: Double)
  @_extern(wasm, module: "host", name: "next_frame") @_extern(c)
  func hostNextFrame(_ id: Int32)
  @_extern(wasm, module: "host", name: "part_is_missing") @_extern(c)
  func hostPartIsMissing(_ name: Bytes?, _ nameCount: Int32) -> Int32
  @_extern(wasm, module: "host", name: "part_load") @_extern(c)
  func hostPartLoad(_ id: Int32, _ name: Bytes?, _ nameCount: Int32)
  @_extern(wasm, module: "host", name: "setting_get") @_extern(c)
  func hostSettingGet(_ key: Bytes?, _ keyCount: Int32, _ out: Buffer?, _ capacity: Int32) -> Int32
  @_extern(wasm, module: "host", name: "setting_set") @_extern(c)
  func hostSettingSet(_ key: Bytes?, _ keyCount: Int32, _ value: Bytes?, _ valueCount: Int32)
  @_extern(wasm, module: "host", name: "setting_remove") @_extern(c)
  func hostSettingRemove(_ key: Bytes?, _ keyCount: Int32)
  @_extern(wasm, module: "host", name: "page_language") @_extern(c)
  func hostPageLanguage(_ out: Buffer?, _ capacity: Int32) -> Int32
  @_extern(wasm, module: "host", name: "page_languages") @_extern(c)
  func hostPageLanguages(_ out: Buffer?, _ capacity: Int32) -> Int32
  @_extern(wasm, module: "host", name: "page_texts") @_extern(c)
  func hostPageTexts(_ out: Buffer?, _ capacity: Int32) -> Int32
  @_extern(wasm, module: "host", name: "plural_form") @_extern(c)
  func hostPluralForm(_ count: Double) -> Int32
  @_extern(wasm, module: "host", name: "utc_offset") @_extern(c)
  func hostUTCOffset(_ milliseconds: Double) -> Int32
  @_extern(wasm, module: "host", name: "format_clock") @_extern(c)
  func hostFormatClock(_ milliseconds: Double, _ out: Buffer?, _ capacity: Int32) -> Int32
  @_extern(wasm, module: "host", name: "format_day") @_extern(c)
  func hostFormatDay(_ milliseconds: Double, _ out: Buffer?, _ capacity: Int32) -> Int32
  @_extern(wasm, module: "host", name: "format_date") @_extern(c)
  func hostFormatDate(_ milliseconds: Double, _ out: Buffer?, _ capacity: Int32) -> Int32
  @_extern(wasm, module: "host", name: "format_date_time") @_extern(c)
  func hostFormatDateTime(_ milliseconds: Double, _ out: Buffer?, _ capacity: Int32) -> Int32
  @_extern(wasm, module: "host", name: "format_short") @_extern(c)
  func hostFormatShort(_ milliseconds: Double, _ out: Buffer?, _ capacity: Int32) -> Int32
  @_extern(wasm, module: "host", name: "format_month") @_extern(c)
  func hostFormatMonth(_ milliseconds: Double, _ out: Buffer?, _ capacity: Int32) -> Int32
  @_extern(wasm, module: "host", name: "format_day_of_year") @_extern(c)
  func hostFormatDayOfYear(_ milliseconds: Double, _ out: Buffer?, _ capacity: Int32) -> Int32
  @_extern(wasm, module: "host", name: "format_byte_count") @_extern(c)
  func hostFormatByteCount(_ count: Double, _ out: Buffer?, _ capacity: Int32) -> Int32
  @_extern(wasm, module: "host", name: "page_state") @_extern(c)
  func hostPageState() -> Int32
  @_extern(wasm, module: "host", name: "page_listen") @_extern(c)
  func hostPageListen(_ id: Int32)
  @_extern(wasm, module: "host", name: "page_fragment") @_extern(c)
  func hostPageFragment(_ out: Buffer?, _ capacity: Int32) -> Int32
  @_extern(wasm, module: "host", name: "page_origin") @_extern(c)
  func hostPageOrigin(_ out: Buffer?, _ capacity: Int32) -> Int32
  @_extern(wasm, module: "host", name: "page_query") @_extern(c)
  func hostPageQuery(_ out: Buffer?, _ capacity: Int32) -> Int32
  @_extern(wasm, module: "host", name: "page_address") @_extern(c)
  func hostPageAddress(_ out: Buffer?, _ capacity: Int32) -> Int32
  @_extern(wasm, module: "host", name: "page_embedding") @_extern(c)
  func hostPageEmbedding(_ out: Buffer?, _ capacity: Int32) -> Int32
  @_extern(wasm, module: "host", name: "page_browser_name") @_extern(c)
  func hostPageBrowserName(_ out: Buffer?, _ capacity: Int32) -> Int32
  @_extern(wasm, module: "host", name: "page_kept_word") @_extern(c)
  func hostPageKeptWord(_ out: Buffer?, _ capacity: Int32) -> Int32
  @_extern(wasm, module: "host", name: "page_keep_word") @_extern(c)
  func hostPageKeepWord(_ word: Bytes?, _ wordCount: Int32)
  @_extern(wasm, module: "host", name: "page_set_fragment") @_extern(c)
  func hostPageSetFragment(_ fragment: Bytes?, _ fragmentCount: Int32, _ isReplacing: Int32)
  @_extern(wasm, module: "host", name: "page_open") @_extern(c)
  func hostPageOpen(_ url: Bytes?, _ urlCount: Int32)
  @_extern(wasm, module: "host", name: "page_reload") @_extern(c)
  func hostPageReload()
  @_extern(wasm, module: "host", name: "page_clear_query") @_extern(c)
  func hostPageClearQuery()
  @_extern(wasm, module: "host", name: "page_leave") @_extern(c)
  func hostPageLeave(_ url: Bytes?, _ urlCount: Int32)
  @_extern(wasm, module: "host", name: "clipboard_write") @_extern(c)
  func hostClipboardWrite(_ id: Int32, _ text: Bytes?, _ textCount: Int32)
  @_extern(wasm, module: "host", name: "notification_permission") @_extern(c)
  func hostNotificationPermission() -> Int32
  @_extern(wasm, module: "host", name: "notification_ask") @_extern(c)
  func hostNotificationAsk(_ id: Int32)
  @_extern(wasm, module: "host", name: "object_url") @_extern(c)
  func hostObjectURL(_ file: Int32, _ out: Buffer?, _ capacity: Int32) -> Int32
  @_extern(wasm, module: "host", name: "revoke_url") @_extern(c)
  func hostRevokeURL(_ url: Bytes?, _ urlCount: Int32)
  @_extern(wasm, module: "host", name: "channel_open") @_extern(c)
  func hostChannelOpen(_ id: Int32, _ name: Bytes?, _ nameCount: Int32)
  @_extern(wasm, module: "host", name: "channel_post") @_extern(c)
  func hostChannelPost(_ id: Int32, _ message: Bytes?, _ messageCount: Int32)
  @_extern(wasm, module: "host", name: "lock") @_extern(c)
  func hostLock(_ id: Int32, _ name: Bytes?, _ nameCount: Int32)
  @_extern(wasm, module: "host", name: "fetch") @_extern(c)
  func hostFetch(_ id: Int32, _ head: Bytes?, _ headCount: Int32, _ body: Bytes?, _ bodyCount: Int32)
  @_extern(wasm, module: "host", name: "store_open") @_extern(c)
  func hostStoreOpen(_ id: Int32, _ name: Bytes?, _ nameCount: Int32)
  @_extern(wasm, module: "host", name: "store_read") @_extern(c)
  func hostStoreRead(_ store: Int32, _ id: Int32, _ range: Bytes?, _ rangeCount: Int32)
  @_extern(wasm, module: "host", name: "store_write") @_extern(c)
  func hostStoreWrite(_ store: Int32, _ id: Int32, _ batch: Bytes?, _ batchCount: Int32)
  @_extern(wasm, module: "host", name: "look_apply") @_extern(c)
  func hostLookApply()
  @_extern(wasm, module: "host", name: "page_set_title") @_extern(c)
  func hostPageSetTitle(_ title: Bytes?, _ titleCount: Int32)
  @_extern(wasm, module: "host", name: "page_set_badge") @_extern(c)
  func hostPageSetBadge(_ count: Int32)
  @_extern(wasm, module: "host", name: "notification_show") @_extern(c)
  func hostNotificationShow(_ id: Int32, _ fields: Bytes?, _ fieldsCount: Int32)
  @_extern(wasm, module: "host", name: "notification_withdraw") @_extern(c)
  func hostNotificationWithdraw(_ tag: Bytes?, _ tagCount: Int32)
  @_extern(wasm, module: "host", name: "notification_sound") @_extern(c)
  func hostNotificationSound()
  @_extern(wasm, module: "host", name: "image_access") @_extern(c)
  func hostImageAccess(_ fields: Bytes?, _ fieldsCount: Int32)
  @_extern(wasm, module: "host", name: "download") @_extern(c)
  func hostDownload(_ id: Int32, _ fields: Bytes?, _ fieldsCount: Int32)
  @_extern(wasm, module: "host", name: "share") @_extern(c)
  func hostShare(_ id: Int32, _ fields: Bytes?, _ fieldsCount: Int32)
  @_extern(wasm, module: "host", name: "share_link") @_extern(c)
  func hostShareLink(_ fields: Bytes?, _ fieldsCount: Int32)
  @_extern(wasm, module: "host", name: "play") @_extern(c)
  func hostPlay(_ id: Int32, _ url: Bytes?, _ urlCount: Int32)
  @_extern(wasm, module: "host", name: "player_play") @_extern(c)
  func hostPlayerPlay(_ id: Int32)
  @_extern(wasm, module: "host", name: "player_pause") @_extern(c)
  func hostPlayerPause(_ id: Int32)
  @_extern(wasm, module: "host", name: "player_seek") @_extern(c)
  func hostPlayerSeek(_ id: Int32, _ fraction: Double)
  @_extern(wasm, module: "host", name: "player_set_rate") @_extern(c)
  func hostPlayerSetRate(_ id: Int32, _ rate: Double)
  @_extern(wasm, module: "host", name: "pick_files") @_extern(c)
  func hostPickFiles(_ id: Int32, _ accept: Bytes?, _ acceptCount: Int32, _ isMultiple: Int32)
  @_extern(wasm, module: "host", name: "file_keep") @_extern(c)
  func hostFileKeep(_ file: Int32, _ name: Bytes?, _ nameCount: Int32)
  @_extern(wasm, module: "host", name: "file_drop") @_extern(c)
  func hostFileDrop(_ name: Bytes?, _ nameCount: Int32)
  @_extern(wasm, module: "host", name: "file_drop_all") @_extern(c)
  func hostFileDropAll()
  @_extern(wasm, module: "host", name: "file_find") @_extern(c)
  func hostFileFind(_ id: Int32, _ name: Bytes?, _ nameCount: Int32)
  @_extern(wasm, module: "host", name: "file_read") @_extern(c)
  func hostFileRead(_ id: Int32, _ file: Int32, _ limit: Int32)
  @_extern(wasm, module: "host", name: "upload") @_extern(c)
  func hostUpload(_ id: Int32, _ file: Int32, _ head: Bytes?, _ headCount: Int32)
  @_extern(wasm, module: "host", name: "upload_encrypted") @_extern(c)
  func hostUploadEncrypted(_ id: Int32, _ file: Int32, _ head: Bytes?, _ headCount: Int32)
  @_extern(wasm, module: "host", name: "locate") @_extern(c)
  func hostLocate(_ id: Int32)
  @_extern(wasm, module: "host", name: "record") @_extern(c)
  func hostRecord(_ id: Int32)
  @_extern(wasm, module: "host", name: "watch") @_extern(c)
  func hostWatch(_ id: Int32, _ view: Int32)
  @_extern(wasm, module: "host", name: "record_finish") @_extern(c)
  func hostRecordFinish(_ id: Int32)
  @_extern(wasm, module: "host", name: "scan") @_extern(c)
  func hostScan(_ id: Int32, _ view: Int32)
  @_extern(wasm, module: "host", name: "media_open") @_extern(c)
  func hostMediaOpen(_ id: Int32)
  @_extern(wasm, module: "host", name: "media_do") @_extern(c)
  func hostMediaDo(_ id: Int32, _ effect: Bytes?, _ effectCount: Int32)
  @_extern(wasm, module: "host", name: "media_show") @_extern(c)
  func hostMediaShow(_ id: Int32, _ node: Int32, _ stream: Bytes?, _ streamCount: Int32)
  @_extern(wasm, module: "host", name: "socket_open") @_extern(c)
  func hostSocketOpen(_ id: Int32, _ url: Bytes?, _ urlCount: Int32)
  @_extern(wasm, module: "host", name: "socket_send") @_extern(c)
  func hostSocketSend(_ id: Int32, _ text: Bytes?, _ textCount: Int32)
  @_extern(wasm, module: "host", name: "capture_permission") @_extern(c)
  func hostCapturePermission(_ id: Int32, _ kinds: Int32)
  @_extern(wasm, module: "host", name: "preview_open") @_extern(c)
  func hostPreviewOpen(_ id: Int32, _ view: Int32)
  @_extern(wasm, module: "host", name: "preview_use") @_extern(c)
  func hostPreviewUse(_ id: Int32, _ kinds: Int32, _ camera: Bytes?, _ cameraCount: Int32, _ microphone: Bytes?, _ microphoneCount: Int32)
  @_extern(wasm, module: "host", name: "encryption_open") @_extern(c)
  func hostEncryptionOpen(_ id: Int32)
  @_extern(wasm, module: "host", name: "encryption_send") @_extern(c)
  func hostEncryptionSend(_ id: Int32, _ message: Bytes?, _ messageCount: Int32)
  @_extern(wasm, module: "host", name: "storage_keep") @_extern(c)
  func hostStorageKeep(_ id: Int32, _ asks: Int32)
  @_extern(wasm, module: "host", name: "push_subscribe") @_extern(c)
  func hostPushSubscribe(_ id: Int32, _ key: Bytes?, _ keyCount: Int32)
  @_extern(wasm, module: "host", name: "push_unsubscribe") @_extern(c)
  func hostPushUnsubscribe()
  @_extern(wasm, module: "host", name: "event_save") @_extern(c)
  func hostEventSave(_ entry: Bytes?, _ entryCount: Int32)
  @_extern(wasm, module: "host", name: "export_open") @_extern(c)
  func hostExportOpen(_ id: Int32, _ name: Bytes?, _ nameCount: Int32, _ type: Bytes?, _ typeCount: Int32)
  @_extern(wasm, module: "host", name: "export_keep") @_extern(c)
  func hostExportKeep(_ id: Int32, _ file: Int32, _ bytes: Bytes?, _ bytesCount: Int32)
  @_extern(wasm, module: "host", name: "export_read") @_extern(c)
  func hostExportRead(_ id: Int32, _ file: Int32, _ ranges: Bytes?, _ rangesCount: Int32)
  @_extern(wasm, module: "host", name: "export_write") @_extern(c)
  func hostExportWrite(_ id: Int32, _ file: Int32, _ bytes: Bytes?, _ bytesCount: Int32)
  @_extern(wasm, module: "host", name: "export_finish") @_extern(c)
  func hostExportFinish(_ id: Int32, _ file: Int32)
#else
  func hostApply(_ words: UnsafePointer<Int32>?, _ wordsCount: Int32, _ text: Bytes?, _ textCount: Int32) {}
  func hostMeasure(_ nodes: UnsafePointer<Int32>?, _ nodesCount: Int32, _ heights: UnsafeMutablePointer<Float>?, _ heightsCount: Int32) {}
  func hostScrollTop(_ node: Int32) -> Double { 0 }
  func hostRelease(_ id: Int32) {}
  func hostLog(_ line: Bytes?, _ lineCount: Int32) {}
  func hostMonotonic() -> Double { 0 }
  func hostWall() -> Double { 0 }
  func hostRandom(_ bytes: Buffer?, _ bytesCount: Int32) {}
  func hostRandomKey(_ out: Buffer?, _ capacity: Int32) -> Int32 { -1 }
  func hostTimer(_ id: Int32, _ milliseconds: Double) {}
  func hostNextFrame(_ id: Int32) {}
  func hostPartIsMissing(_ name: Bytes?, _ nameCount: Int32) -> Int32 { 0 }
  func hostPartLoad(_ id: Int32, _ name: Bytes?, _ nameCount: Int32) {}
  func hostSettingGet(_ key: Bytes?, _ keyCount: Int32, _ out: Buffer?, _ capacity: Int32) -> Int32 { -1 }
  func hostSettingSet(_ key: Bytes?, _ keyCount: Int32, _ value: Bytes?, _ valueCount: Int32) {}
  func hostSettingRemove(_ key: Bytes?, _ keyCount: Int32) {}
  func hostPageLanguage(_ out: Buffer?, _ capacity: Int32) -> Int32 { -1 }
  func hostPageLanguages(_ out: Buffer?, _ capacity: Int32) -> Int32 { -1 }
  func hostPageTexts(_ out: Buffer?, _ capacity: Int32) -> Int32 { -1 }
  func hostPluralForm(_ count: Double) -> Int32 { 0 }
  func hostUTCOffset(_ milliseconds: Double) -> Int32 { 0 }
  func hostFormatClock(_ milliseconds: Double, _ out: Buffer?, _ capacity: Int32) -> Int32 { -1 }
  func hostFormatDay(_ milliseconds: Double, _ out: Buffer?, _ capacity: Int32) -> Int32 { -1 }
  func hostFormatDate(_ milliseconds: Double, _ out: Buffer?, _ capacity: Int32) -> Int32 { -1 }
  func hostFormatDateTime(_ milliseconds: Double, _ out: Buffer?, _ capacity: Int32) -> Int32 { -1 }
  func hostFormatShort(_ milliseconds: Double, _ out: Buffer?, _ capacity: Int32) -> Int32 { -1 }
  func hostFormatMonth(_ milliseconds: Double, _ out: Buffer?, _ capacity: Int32) -> Int32 { -1 }
  func hostFormatDayOfYear(_ milliseconds: Double, _ out: Buffer?, _ capacity: Int32) -> Int32 { -1 }
  func hostFormatByteCount(_ count: Double, _ out: Buffer?, _ capacity: Int32) -> Int32 { -1 }
  func hostPageState() -> Int32 { 0 }
  func hostPageListen(_ id: Int32) {}
  func hostPageFragment(_ out: Buffer?, _ capacity: Int32) -> Int32 { -1 }
  func hostPageOrigin(_ out: Buffer?, _ capacity: Int32) -> Int32 { -1 }
  func hostPageQuery(_ out: Buffer?, _ capacity: Int32) -> Int32 { -1 }
  func hostPageAddress(_ out: Buffer?, _ capacity: Int32) -> Int32 { -1 }
  func hostPageEmbedding(_ out: Buffer?, _ capacity: Int32) -> Int32 { -1 }
  func hostPageBrowserName(_ out: Buffer?, _ capacity: Int32) -> Int32 { -1 }
  func hostPageKeptWord(_ out: Buffer?, _ capacity: Int32) -> Int32 { -1 }
  func hostPageKeepWord(_ word: Bytes?, _ wordCount: Int32) {}
  func hostPageSetFragment(_ fragment: Bytes?, _ fragmentCount: Int32, _ isReplacing: Int32) {}
  func hostPageOpen(_ url: Bytes?, _ urlCount: Int32) {}
  func hostPageReload() {}
  func hostPageClearQuery() {}
  func hostPageLeave(_ url: Bytes?, _ urlCount: Int32) {}
  func hostClipboardWrite(_ id: Int32, _ text: Bytes?, _ textCount: Int32) {}
  func hostNotificationPermission() -> Int32 { 0 }
  func hostNotificationAsk(_ id: Int32) {}
  func hostObjectURL(_ file: Int32, _ out: Buffer?, _ capacity: Int32) -> Int32 { -1 }
  func hostRevokeURL(_ url: Bytes?, _ urlCount: Int32) {}
  func hostChannelOpen(_ id: Int32, _ name: Bytes?, _ nameCount: Int32) {}
  func hostChannelPost(_ id: Int32, _ message: Bytes?, _ messageCount: Int32) {}
  func hostLock(_ id: Int32, _ name: Bytes?, _ nameCount: Int32) {}
  func hostFetch(_ id: Int32, _ head: Bytes?, _ headCount: Int32, _ body: Bytes?, _ bodyCount: Int32) {}
  func hostStoreOpen(_ id: Int32, _ name: Bytes?, _ nameCount: Int32) {}
  func hostStoreRead(_ store: Int32, _ id: Int32, _ range: Bytes?, _ rangeCount: Int32) {}
  func hostStoreWrite(_ store: Int32, _ id: Int32, _ batch: Bytes?, _ batchCount: Int32) {}
  func hostLookApply() {}
  func hostPageSetTitle(_ title: Bytes?, _ titleCount: Int32) {}
  func hostPageSetBadge(_ count: Int32) {}
  func hostNotificationShow(_ id: Int32, _ fields: Bytes?, _ fieldsCount: Int32) {}
  func hostNotificationWithdraw(_ tag: Bytes?, _ tagCount: Int32) {}
  func hostNotificationSound() {}
  func hostImageAccess(_ fields: Bytes?, _ fieldsCount: Int32) {}
  func hostDownload(_ id: Int32, _ fields: Bytes?, _ fieldsCount: Int32) {}
  func hostShare(_ id: Int32, _ fields: Bytes?, _ fieldsCount: Int32) {}
  func hostShareLink(_ fields: Bytes?, _ fieldsCount: Int32) {}
  func hostPlay(_ id: Int32, _ url: Bytes?, _ urlCount: Int32) {}
  func hostPlayerPlay(_ id: Int32) {}
  func hostPlayerPause(_ id: Int32) {}
  func hostPlayerSeek(_ id: Int32, _ fraction: Double) {}
  func hostPlayerSetRate(_ id: Int32, _ rate: Double) {}
  func hostPickFiles(_ id: Int32, _ accept: Bytes?, _ acceptCount: Int32, _ isMultiple: Int32) {}
  func hostFileKeep(_ file: Int32, _ name: Bytes?, _ nameCount: Int32) {}
  func hostFileDrop(_ name: Bytes?, _ nameCount: Int32) {}
  func hostFileDropAll() {}
  func hostFileFind(_ id: Int32, _ name: Bytes?, _ nameCount: Int32) {}
  func hostFileRead(_ id: Int32, _ file: Int32, _ limit: Int32) {}
  func hostUpload(_ id: Int32, _ file: Int32, _ head: Bytes?, _ headCount: Int32) {}
  func hostUploadEncrypted(_ id: Int32, _ file: Int32, _ head: Bytes?, _ headCount: Int32) {}
  func hostLocate(_ id: Int32) {}
  func hostRecord(_ id: Int32) {}
  func hostWatch(_ id: Int32, _ view: Int32) {}
  func hostRecordFinish(_ id: Int32) {}
  func hostScan(_ id: Int32, _ view: Int32) {}
  func hostMediaOpen(_ id: Int32) {}
  func hostMediaDo(_ id: Int32, _ effect: Bytes?, _ effectCount: Int32) {}
  func hostMediaShow(_ id: Int32, _ node: Int32, _ stream: Bytes?, _ streamCount: Int32) {}
  func hostSocketOpen(_ id: Int32, _ url: Bytes?, _ urlCount: Int32) {}
  func hostSocketSend(_ id: Int32, _ text: Bytes?, _ textCount: Int32) {}
  func hostCapturePermission(_ id: Int32, _ kinds: Int32) {}
  func hostPreviewOpen(_ id: Int32, _ view: Int32) {}
  func hostPreviewUse(_ id: Int32, _ kinds: Int32, _ camera: Bytes?, _ cameraCount: Int32, _ microphone: Bytes?, _ microphoneCount: Int32) {}
  func hostEncryptionOpen(_ id: Int32) {}
  func hostEncryptionSend(_ id: Int32, _ message: Bytes?, _ messageCount: Int32) {}
  func hostStorageKeep(_ id: Int32, _ asks: Int32) {}
  func hostPushSubscribe(_ id: Int32, _ key: Bytes?, _ keyCount: Int32) {}
  func hostPushUnsubscribe() {}
  func hostEventSave(_ entry: Bytes?, _ entryCount: Int32) {}
  func hostExportOpen(_ id: Int32, _ name: Bytes?, _ nameCount: Int32, _ type: Bytes?, _ typeCount: Int32) {}
  func hostExportKeep(_ id: Int32, _ file: Int32, _ bytes: Bytes?, _ bytesCount: Int32) {}
  func hostExportRead(_ id: Int32, _ file: Int32, _ ranges: Bytes?, _ rangesCount: Int32) {}
  func hostExportWrite(_ id: Int32, _ file: Int32, _ bytes: Bytes?, _ bytesCount: Int32) {}
  func hostExportFinish(_ id: Int32, _ file: Int32) {}
#endif

func hostApply(_ words: [Int32], _ text: [UInt8]) { withBytes(words) { wordsStart, wordsCount in withBytes(text) { textStart, textCount in hostApply(wordsStart, wordsCount, textStart, textCount) } } }
func hostMeasure(_ nodes: [Int32], _ heights: UnsafeMutableBufferPointer<Float>) { withBytes(nodes) { nodesStart, nodesCount in hostMeasure(nodesStart, nodesCount, heights.baseAddress, Int32(heights.count)) } }
func hostLog(_ line: String) { withBytes(line) { lineStart, lineCount in hostLog(lineStart, lineCount) } }
func hostRandom(_ bytes: UnsafeMutableBufferPointer<UInt8>) { hostRandom(bytes.baseAddress, Int32(bytes.count)) }
func hostRandomKey() -> String? { readText { hostRandomKey($0, $1) } }
func hostPartIsMissing(_ name: String) -> Int32 { withBytes(name) { nameStart, nameCount in hostPartIsMissing(nameStart, nameCount) } }
func hostPartLoad(_ id: Int32, _ name: String) { withBytes(name) { nameStart, nameCount in hostPartLoad(id, nameStart, nameCount) } }
func hostSettingGet(_ key: String) -> String? { withBytes(key) { keyStart, keyCount in readText { hostSettingGet(keyStart, keyCount, $0, $1) } } }
func hostSettingSet(_ key: String, _ value: String) { withBytes(key) { keyStart, keyCount in withBytes(value) { valueStart, valueCount in hostSettingSet(keyStart, keyCount, valueStart, valueCount) } } }
func hostSettingRemove(_ key: String) { withBytes(key) { keyStart, keyCount in hostSettingRemove(keyStart, keyCount) } }
func hostPageLanguage() -> String? { readText { hostPageLanguage($0, $1) } }
func hostPageLanguages() -> String? { readText { hostPageLanguages($0, $1) } }
func hostPageTexts() -> String? { readText { hostPageTexts($0, $1) } }
func hostFormatClock(_ milliseconds: Double) -> String? { readText { hostFormatClock(milliseconds, $0, $1) } }
func hostFormatDay(_ milliseconds: Double) -> String? { readText { hostFormatDay(milliseconds, $0, $1) } }
func hostFormatDate(_ milliseconds: Double) -> String? { readText { hostFormatDate(milliseconds, $0, $1) } }
func hostFormatDateTime(_ milliseconds: Double) -> String? { readText { hostFormatDateTime(milliseconds, $0, $1) } }
func hostFormatShort(_ milliseconds: Double) -> String? { readText { hostFormatShort(milliseconds, $0, $1) } }
func hostFormatMonth(_ milliseconds: Double) -> String? { readText { hostFormatMonth(milliseconds, $0, $1) } }
func hostFormatDayOfYear(_ milliseconds: Double) -> String? { readText { hostFormatDayOfYear(milliseconds, $0, $1) } }
func hostFormatByteCount(_ count: Double) -> String? { readText { hostFormatByteCount(count, $0, $1) } }
func hostPageFragment() -> String? { readText { hostPageFragment($0, $1) } }
func hostPageOrigin() -> String? { readText { hostPageOrigin($0, $1) } }
func hostPageQuery() -> String? { readText { hostPageQuery($0, $1) } }
func hostPageAddress() -> String? { readText { hostPageAddress($0, $1) } }
func hostPageEmbedding() -> String? { readText { hostPageEmbedding($0, $1) } }
func hostPageBrowserName() -> String? { readText { hostPageBrowserName($0, $1) } }
func hostPageKeptWord() -> String? { readText { hostPageKeptWord($0, $1) } }
func hostPageKeepWord(_ word: String) { withBytes(word) { wordStart, wordCount in hostPageKeepWord(wordStart, wordCount) } }
func hostPageSetFragment(_ fragment: String, _ isReplacing: Int32) { withBytes(fragment) { fragmentStart, fragmentCount in hostPageSetFragment(fragmentStart, fragmentCount, isReplacing) } }
func hostPageOpen(_ url: String) { withBytes(url) { urlStart, urlCount in hostPageOpen(urlStart, urlCount) } }
func hostPageLeave(_ url: String) { withBytes(url) { urlStart, urlCount in hostPageLeave(urlStart, urlCount) } }
func hostClipboardWrite(_ id: Int32, _ text: String) { withBytes(text) { textStart, textCount in hostClipboardWrite(id, textStart, textCount) } }
func hostObjectURL(_ file: Int32) -> String? { readText { hostObjectURL(file, $0, $1) } }
func hostRevokeURL(_ url: String) { withBytes(url) { urlStart, urlCount in hostRevokeURL(urlStart, urlCount) } }
func hostChannelOpen(_ id: Int32, _ name: String) { withBytes(name) { nameStart, nameCount in hostChannelOpen(id, nameStart, nameCount) } }
func hostChannelPost(_ id: Int32, _ message: [UInt8]) { withBytes(message) { messageStart, messageCount in hostChannelPost(id, messageStart, messageCount) } }
func hostLock(_ id: Int32, _ name: String) { withBytes(name) { nameStart, nameCount in hostLock(id, nameStart, nameCount) } }
func hostFetch(_ id: Int32, _ head: [UInt8], _ body: [UInt8]) { withBytes(head) { headStart, headCount in withBytes(body) { bodyStart, bodyCount in hostFetch(id, headStart, headCount, bodyStart, bodyCount) } } }
func hostStoreOpen(_ id: Int32, _ name: String) { withBytes(name) { nameStart, nameCount in hostStoreOpen(id, nameStart, nameCount) } }
func hostStoreRead(_ store: Int32, _ id: Int32, _ range: [UInt8]) { withBytes(range) { rangeStart, rangeCount in hostStoreRead(store, id, rangeStart, rangeCount) } }
func hostStoreWrite(_ store: Int32, _ id: Int32, _ batch: [UInt8]) { withBytes(batch) { batchStart, batchCount in hostStoreWrite(store, id, batchStart, batchCount) } }
func hostPageSetTitle(_ title: String) { withBytes(title) { titleStart, titleCount in hostPageSetTitle(titleStart, titleCount) } }
func hostNotificationShow(_ id: Int32, _ fields: [UInt8]) { withBytes(fields) { fieldsStart, fieldsCount in hostNotificationShow(id, fieldsStart, fieldsCount) } }
func hostNotificationWithdraw(_ tag: String) { withBytes(tag) { tagStart, tagCount in hostNotificationWithdraw(tagStart, tagCount) } }
func hostImageAccess(_ fields: [UInt8]) { withBytes(fields) { fieldsStart, fieldsCount in hostImageAccess(fieldsStart, fieldsCount) } }
func hostDownload(_ id: Int32, _ fields: [UInt8]) { withBytes(fields) { fieldsStart, fieldsCount in hostDownload(id, fieldsStart, fieldsCount) } }
func hostShare(_ id: Int32, _ fields: [UInt8]) { withBytes(fields) { fieldsStart, fieldsCount in hostShare(id, fieldsStart, fieldsCount) } }
func hostShareLink(_ fields: [UInt8]) { withBytes(fields) { fieldsStart, fieldsCount in hostShareLink(fieldsStart, fieldsCount) } }
func hostPlay(_ id: Int32, _ url: String) { withBytes(url) { urlStart, urlCount in hostPlay(id, urlStart, urlCount) } }
func hostPickFiles(_ id: Int32, _ accept: String, _ isMultiple: Int32) { withBytes(accept) { acceptStart, acceptCount in hostPickFiles(id, acceptStart, acceptCount, isMultiple) } }
func hostFileKeep(_ file: Int32, _ name: String) { withBytes(name) { nameStart, nameCount in hostFileKeep(file, nameStart, nameCount) } }
func hostFileDrop(_ name: String) { withBytes(name) { nameStart, nameCount in hostFileDrop(nameStart, nameCount) } }
func hostFileFind(_ id: Int32, _ name: String) { withBytes(name) { nameStart, nameCount in hostFileFind(id, nameStart, nameCount) } }
func hostUpload(_ id: Int32, _ file: Int32, _ head: [UInt8]) { withBytes(head) { headStart, headCount in hostUpload(id, file, headStart, headCount) } }
func hostUploadEncrypted(_ id: Int32, _ file: Int32, _ head: [UInt8]) { withBytes(head) { headStart, headCount in hostUploadEncrypted(id, file, headStart, headCount) } }
func hostMediaDo(_ id: Int32, _ effect: [UInt8]) { withBytes(effect) { effectStart, effectCount in hostMediaDo(id, effectStart, effectCount) } }
func hostMediaShow(_ id: Int32, _ node: Int32, _ stream: String) { withBytes(stream) { streamStart, streamCount in hostMediaShow(id, node, streamStart, streamCount) } }
func hostSocketOpen(_ id: Int32, _ url: String) { withBytes(url) { urlStart, urlCount in hostSocketOpen(id, urlStart, urlCount) } }
func hostSocketSend(_ id: Int32, _ text: [UInt8]) { withBytes(text) { textStart, textCount in hostSocketSend(id, textStart, textCount) } }
func hostPreviewUse(_ id: Int32, _ kinds: Int32, _ camera: String, _ microphone: String) { withBytes(camera) { cameraStart, cameraCount in withBytes(microphone) { microphoneStart, microphoneCount in hostPreviewUse(id, kinds, cameraStart, cameraCount, microphoneStart, microphoneCount) } } }
func hostEncryptionSend(_ id: Int32, _ message: [UInt8]) { withBytes(message) { messageStart, messageCount in hostEncryptionSend(id, messageStart, messageCount) } }
func hostPushSubscribe(_ id: Int32, _ key: String) { withBytes(key) { keyStart, keyCount in hostPushSubscribe(id, keyStart, keyCount) } }
func hostEventSave(_ entry: String) { withBytes(entry) { entryStart, entryCount in hostEventSave(entryStart, entryCount) } }
func hostExportOpen(_ id: Int32, _ name: String, _ type: String) { withBytes(name) { nameStart, nameCount in withBytes(type) { typeStart, typeCount in hostExportOpen(id, nameStart, nameCount, typeStart, typeCount) } } }
func hostExportKeep(_ id: Int32, _ file: Int32, _ bytes: [UInt8]) { withBytes(bytes) { bytesStart, bytesCount in hostExportKeep(id, file, bytesStart, bytesCount) } }
func hostExportRead(_ id: Int32, _ file: Int32, _ ranges: String) { withBytes(ranges) { rangesStart, rangesCount in hostExportRead(id, file, rangesStart, rangesCount) } }
func hostExportWrite(_ id: Int32, _ file: Int32, _ bytes: [UInt8]) { withBytes(bytes) { bytesStart, bytesCount in hostExportWrite(id, file, bytesStart, bytesCount) } }
