import JSON
import MatrixModel
import Testing

@testable import ClientCore
@testable import ServerQueries

@Suite struct ImagePackTests {
  private func json(_ text: String) throws -> JSON { try JSON.parse(Array(text.utf8)) }

  private func read(_ events: String, account: String = "") throws -> ImagePacks? {
    ImagePacks(
      try json(
        #"{"next_batch":"x","account_data":{"events":[\#(account)]},"rooms":{"join":{"!a:test":{\#(events)}}}}"#))
  }

  private func pack(_ content: String, key: String = "") -> String {
    #"{"type":"im.ponies.room_emotes","state_key":"\#(key)","event_id":"$\#(key)","sender":"@a:test","content":\#(content)}"#
  }

  @Test func `stickers and pictures for texts are what is used as such, by the picture or by the pack, and what says nothing`()
    throws
  {
    let found = try read(
      #""state":{"events":[\#(pack(#"{"pack":{"display_name":"P","usage":["emoticon"]},"images":{"a":{"url":"mxc://t/a"},"b":{"url":"mxc://t/b","usage":["sticker"],"body":"Bee"}}}"#)),"#
        + #"\#(pack(#"{"images":{"c":{"url":"mxc://t/c"},"d":{"url":"http://t/d"},"e":7}}"#, key: "other")),"#
        + #"\#(pack(#"{"pack":{"usage":["emoticon"]},"images":{"f":{"url":"mxc://t/f"}}}"#, key: "smileys"))]}"#)
    #expect(found?.packs.map { $0.name } == ["P", "", ""])
    #expect(found?.packs.map { $0.images.map { $0.shortcode } } == [["b"], ["c"], []])
    #expect(found?.packs.map { $0.emoticons.map { $0.shortcode } } == [["a"], ["c"], ["f"]])
    #expect(found?.packs.first?.images.first?.file.fileName == "Bee" && found?.packs.first?.room == RoomID("!a:test"))
  }

  @Test func `the last pack of a key holds, and the account's own comes first`() throws {
    let found = try read(
      #""state":{"events":[\#(pack(#"{"images":{"a":{"url":"mxc://t/a"}}}"#))]},"timeline":{"events":[\#(pack(#"{"images":{"b":{"url":"mxc://t/b"}}}"#))]}"#,
      account: #"{"type":"im.ponies.user_emotes","content":{"images":{"o":{"url":"mxc://t/o"}}}},"#
        + #"{"type":"im.ponies.emote_rooms","content":{"rooms":{"!b:test":{"":{}},"nonsense":{}}}}"#)
    #expect(found?.packs.map { $0.images.map { $0.shortcode } } == [["o"], ["b"]])
    #expect(found?.packs.first?.room == nil && found?.rooms == [RoomID(trusted: "!b:test")])
  }

  @Test(arguments: [
    #"{"images":7}"#, #"{"images":{}}"#, #"{"images":[{"url":"mxc://t/a"}]}"#, "{}", #"{"pack":7,"images":{"a":{"url":7}}}"#,
    #"{"pack":{"usage":"sticker"},"images":{"a":null}}"#
  ])
  func `an invalid image pack is ignored`(_ content: String) throws {
    #expect(try read(#""state":{"events":[\#(pack(content))]}"#)?.packs.isEmpty == true)
  }

  @Test func `a pack has an end`() throws {
    let images = (0..<5000).map { #""i\#($0)":{"url":"mxc://t/\#($0)"}"# }.joined(separator: ",")
    let packs = try read(#""state":{"events":[\#(pack("{\"images\":{\(images)}}"))]}"#)?.packs
    #expect(packs?.first?.images.count == ImagePack.imagesLimit)
  }

  @Test func `one more gets a name that is free, and everything else of the pack stays as it is`() throws {
    var file = Attachment(fileName: "My cat!.png", mimeType: "image/png", sizeBytes: 7, width: 2, height: 3)
    file.source = MediaURI("mxc://t/cat")
    let image = ImagePack.Image(file)
    #expect(image.shortcode == "My_cat_")
    var content = try JSON.parse(ImagePack.own(nil, adding: image))
    content = try JSON.parse(
      ImagePack.own(try json(#"{"z":[1],"images":{"My_cat_":{"url":"mxc://t/old","z":2}}}"#), adding: image))
    #expect(content["images"]?["My_cat__"]?["usage"]?.elements.compactMap { $0.string } == ["sticker", "emoticon"])
    #expect(content["images"]?["My_cat_"]?["z"]?.integer == 2 && content["z"]?.count == 1)
    let added = content["images"]?["My_cat__"]
    #expect(added?["url"]?.text == "mxc://t/cat" && added?["info"]?["w"]?.integer == 2 && added?["body"]?.text == "My cat!.png")
    content = try JSON.parse(ImagePack.own(content, removing: "My_cat_"))
    #expect(content["images"]?.members.map { $0.key } == ["My_cat__"] && content["z"]?.count == 1)
  }

  @Test func `a shortcode with invalid characters is ignored`() throws {
    let names = ["", "a b", "a:b", #"a\nb"#, String(repeating: "x", count: ContentLimits.shortcodeBytes + 1), "猫-1"]
    let images = names.map { #""\#($0)":{"url":"mxc://t/a"}"# }.joined(separator: ",")
    let found = try read(#""state":{"events":[\#(pack("{\"images\":{\(images)}}"))]}"#)
    #expect(found?.packs.first?.emoticons.map { $0.shortcode } == ["猫-1"])
    #expect(found?.packs.first?.images.count == names.count)
  }

  @Test func `a shortcode is short and plain, whatever the name`() {
    for (name, code) in [("", "sticker"), (".png", "sticker"), ("a.b.png", "a"), ("日", "___")] as [(ByteString, ByteString)] {
      #expect(ImagePack.Image(Attachment(fileName: name)).shortcode == code)
    }
  }

  @Test func `packs are asked for by a sync of their own that tells nobody that one is there`() {
    var host = Host.signedIn()
    host.ask(.imagePacks(in: [.test]))
    let target = host.request("im.ponies")?.request.target ?? ""
    #expect(target.contains("/sync?filter=") && target.contains("set_presence=offline") && !target.contains("since"))
  }
}
