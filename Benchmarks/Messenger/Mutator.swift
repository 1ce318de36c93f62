import Messenger
import WebHost

/// Random changes of every kind around a reader.
struct Mutator {
  private var state: UInt32 = 4711

  private mutating func number(_ limit: UInt32) -> UInt32 {
    state = state &* 1_664_525 &+ 1_013_904_223
    return (state >> 8) % limit
  }

  mutating func mutate(_ timeline: Timeline<BatchDOM>, _ newer: inout Generator, _ older: inout Generator) {
    guard let spared = timeline.readingPosition?.row, let near = near(timeline, spared) else { return }
    switch number(10) {
    case 0: timeline.apply([.prepend(older.rows(Int(1 + number(40))))])
    case 1: timeline.apply([.append([newer.next()])])
    case 2, 3, 4: timeline.apply([.updateContent(near, .message(message()))])
    case 5: timeline.apply([.remove(near)])
    case 6, 7: timeline.apply([.insertAfter(older.rows(1), after: near)])
    case 8: timeline.setDivider(above: near)
    default: timeline.setTyping(number(2) == 0 ? [] : [TypingMember(Generator.senders[1])])
    }
  }

  private mutating func near(_ timeline: Timeline<BatchDOM>, _ spared: RowID) -> RowID? {
    let near = timeline.neighbours(of: spared, reach: 10)
    guard near.count > 4 else { return nil }
    let chosen = near[Int(number(UInt32(near.count)))]
    return chosen == spared ? near[0] : chosen
  }

  private mutating func message() -> MessageRow {
    var text = "edited"
    for _ in 0..<number(60) { text += " word" }
    let image = ImageBody(name: "i", thumbnail: "picture.svg", width: Int(number(900)), height: Int(number(900)))
    var body = MessageRow.Body.text(text)
    switch number(5) {
    case 0: body = .parts([.image(image), .text(text)])
    case 1: body = .parts([.rich(RichText([.quote([.paragraph([.text(text)])]), .code(text, language: "x")]))])
    case 2: body = .redacted
    default: break
    }
    var reactions: [Reaction] = []
    for kind in 0..<number(12) { reactions.append(Reaction(key: "r\(kind)", count: 1)) }
    let around = number(2) == 0 ? nil : Surroundings(reactions: reactions)
    return MessageRow(sender: Generator.senders[Int(number(6))], body: body, surroundings: around)
  }
}
