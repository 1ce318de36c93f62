/// A part of a row in the page: elements made by commands, released when the row leaves.
final class PartView {
  let node: Node
  let kind: Kind
  /// Elements an update in place writes to, by the kind's own order.
  var nodes: [Node] = []
  var targets: [(node: Node, target: Target)] = []
  var letGo: (() -> Void)?
  /// What a renderer drew, for that width.
  var drawn: (content: CustomContent, width: Double)?

  enum Kind: UInt8 {
    case header, quote, text, rich, image, video, gallery, file, audio, location, poll, sticker, preview, contact, custom
    /// Below the bubble.
    case reactions, thread, readers, footer
  }

  init(_ node: Node, _ kind: Kind) {
    self.node = node
    self.kind = kind
  }
}

/// The effect of a click on an element of a row or on anything inside it.
enum Target {
  case link(String), mention(String), spoiler, copy(String)
  case media(item: Int)
  case file, location, quote
  case vote(answer: Int)
  case play, rate, seek
  case reaction(String), reactors, addReaction, thread, readers
}

/// What a part needs to know of its row.
struct PartContext {
  var row: RowID
  /// Pixels the timeline is wide.
  var width: Double
  var isRevealed: Bool
  /// Spoken before the first text (the name in an emote).
  var prefix = ""
  var playback: Playback?
}
