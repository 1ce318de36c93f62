import EventContent
import JSON
import MatrixModel

/// Pictures to be sent as stickers or within a text, as the account and rooms keep them. MSC2545, by the names that clients in use know.
public struct ImagePack: Sendable {
  /// Pictures of one pack that are read.
  package static let imagesLimit = 200
  /// Rooms whose packs are queried together.
  package static let roomsLimit = 64

  public struct Image: Sendable {
    /// Its name within the pack.
    public let shortcode: ByteString
    /// Lies on the server; its name says what it is.
    public let file: Attachment

    /// Under a name of letters, digits and `_`.
    public init(_ file: Attachment) {
      self.file = file
      var name: [UInt8] = []
      for byte in file.fileName.utf8.prefix(40) {
        if byte == UInt8(ascii: ".") { break }
        let isPlain = byte >= 0x30 && byte <= 0x39 || byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A
        name.append(isPlain ? byte : UInt8(ascii: "_"))
      }
      shortcode = name.isEmpty ? "sticker" : ByteString(decoding: name)
    }

    init(_ file: Attachment, shortcode: ByteString) {
      self.file = file
      self.shortcode = shortcode
    }

    init(_ json: JSON, shortcode: ByteString) {
      self.shortcode = shortcode
      var body = json.text("body") ?? shortcode
      file = Attachment(json, body: &body)
    }
  }

  /// A picture in a line of text.
  public struct Emoticon: Sendable {
    public let shortcode: ByteString
    public let source: MediaURI
    /// What its pack is called; for who shows several.
    public var pack: ByteString = ""
  }

  /// nil for that of the account.
  public let room: RoomID?
  /// Empty where it has none.
  public let name: ByteString
  /// Those that are stickers, as many as a pack may have.
  public private(set) var images: [Image] = []
  /// Those that may stand in a text, as `:name:`; as many.
  public private(set) var emoticons: [Emoticon] = []
  /// Of the state event.
  let key: ByteString

  init(_ content: JSON, room: RoomID?, key: ByteString = "") {
    self.room = room
    self.key = key
    let pack = content["pack"]
    name = ShownName.read(pack?["display_name"]) ?? ""
    guard let known = content["images"] else { return }
    for member in known.members where max(images.count, emoticons.count) < ImagePack.imagesLimit {
      let image = Image(member.value, shortcode: member.key)
      guard let source = image.file.source else { continue }
      let usage = member.value["usage"] ?? pack?["usage"]
      if ImagePack.isFor("sticker", usage) { images.append(image) }
      if ImagePack.isFor("emoticon", usage), ImagePack.isName(member.key) {
        emoticons.append(Emoticon(shortcode: member.key, source: source))
      }
    }
  }

  /// What says nothing is for everything.
  private static func isFor(_ use: StaticString, _ usage: JSON?) -> Bool {
    guard let usage, usage.count > 0 else { return true }
    return usage.elements.contains { $0.isString(use) }
  }

  /// Whether it can stand between two colons.
  private static func isName(_ name: ByteString) -> Bool {
    (1...ContentLimits.shortcodeBytes).contains(name.count) && name.utf8.allSatisfy { $0 > 0x20 && $0 != UInt8(ascii: ":") }
  }

  // MARK: The account's own

  public static let ownType: EventType = "im.ponies.user_emotes"

  /// Content of the account's pack with one more, under a name that is free there, or without one; the rest stays as it is.
  /// - Parameter content: the present content; nil if there is none yet.
  public static func own(_ content: JSON?, adding image: Image? = nil, removing shortcode: ByteString? = nil) -> [UInt8] {
    let images = content?["images"]
    return JSONWriter.object { writer in
      copy(content, without: "images", to: &writer)
      writer.key("images")
      writer.object { writer in
        copy(images, without: shortcode, to: &writer)
        guard let image else { return }
        var name = image.shortcode
        while images?[name] != nil { name = ByteString(name.string + "_") }
        writer.key(name)
        writer.object { writer in
          var files: [UnsentFile] = []
          writer.member("body", image.file.fileName)
          image.file.writeMembers(to: &writer, .image, thumbnail: nil, &files)
          writer.key("usage")
          writer.array { writer in
            writer.write("sticker" as ByteString)
            writer.write("emoticon" as ByteString)
          }
        }
      }
    }
  }

  private static func copy(_ json: JSON?, without key: ByteString?, to writer: inout JSONWriter) {
    guard let json else { return }
    for member in json.members where member.key != key {
      writer.key(member.key)
      writer.write(member.value)
    }
  }
}

/// The packs of an account and of some of its rooms.
public struct ImagePacks: Sendable {
  /// The account's own first.
  public private(set) var packs: [ImagePack] = []
  /// Rooms whose packs the account wants everywhere.
  public private(set) var rooms: [RoomID] = []

  init?(_ json: JSON) {
    guard json["next_batch"] != nil else { return nil }
    take(json["account_data"], of: nil)
    if let joined = json["rooms"]?["join"] {
      for room in joined.members {
        guard let id = RoomID(room.key) else { continue }
        // What holds of a key is the newest event, the one of the timeline.
        take(room.value["timeline"], of: id)
        take(room.value["state"], of: id)
      }
    }
    packs.removeAll { $0.images.isEmpty && $0.emoticons.isEmpty }
  }

  private mutating func take(_ section: JSON?, of room: RoomID?) {
    guard let events = section?["events"] else { return }
    for event in events.elements {
      guard let content = event["content"] else { continue }
      if room == nil, let wanted = content["rooms"] {
        for member in wanted.members where rooms.count < ImagePack.roomsLimit {
          if let id = RoomID(member.key) { rooms.append(id) }
        }
        continue
      }
      let key = event.text("state_key") ?? ""
      if !packs.contains(where: { $0.room == room && $0.key == key }) { packs.append(ImagePack(content, room: room, key: key)) }
    }
  }
}

extension Query {
  /// Packs of the account and of these rooms, at most 64: one sync of its own that tells of nothing else.
  public static func imagePacks(in rooms: [RoomID]) -> Query<ImagePacks> {
    let none = #"{"not_types":["*"]}"#
    let types = #""types":["im.ponies.room_emotes"]"#
    let packs = "{" + types + "}"
    var list = JSONWriter()
    list.array { writer in for room in rooms.prefix(ImagePack.roomsLimit) { writer.write(room) } }
    let filter =
      #"{"presence":\#(none),"account_data":{"types":["im.ponies.user_emotes","im.ponies.emote_rooms"]},"#
      + #""room":{"ephemeral":\#(none),"account_data":\#(none),"state":\#(packs),"timeline":{"limit":1,\#(types)},"rooms":"#
      + String(decoding: list.bytes, as: UTF8.self) + "}}"
    let parameters = URLQuery().adding("filter", ByteString(filter)).adding("set_presence", "offline" as ByteString)
    return Query<ImagePacks>(.sync, Endpoint.sync.path(), parameters: parameters) { ImagePacks($0) }
  }
}
