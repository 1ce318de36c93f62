/// How bubbles look: the first of a group (primary), the others (secondary), the colours of both directions. A value that can be
/// exchanged at any time; every row changes, also those that are not in the page yet.
public struct BubbleConfiguration: Sendable {
  public enum Shape: Equatable, Sendable {
    /// As the style sheet of the host has it.
    case house
    /// Round, but for the corner below on the sender's side.
    case tailed
    /// Only the two outer corners are round.
    case stacked
    /// A rectangle.
    case plain
    /// Cut out of a picture (`patch`).
    case image
  }

  /// A picture whose corners keep their size while its middle is stretched. The colour shows through it.
  public struct Patch: Sendable {
    /// Sources, one for each direction.
    public var outgoing: String
    public var incoming: String
    /// Pixels of the picture that are corners: above, right, below, left.
    public var insets: (top: Int, right: Int, bottom: Int, left: Int)

    public init(outgoing: String, incoming: String, insets: (top: Int, right: Int, bottom: Int, left: Int) = (29, 32, 25, 43)) {
      self.outgoing = outgoing
      self.incoming = incoming
      self.insets = insets
    }
  }

  /// CSS colours. An empty one leaves the style sheet's colour.
  public struct Colours: Sendable {
    public var bubble: String
    public var text: String
    public init(bubble: String = "", text: String = "") {
      self.bubble = bubble
      self.text = text
    }
  }

  public var primary: Shape
  public var secondary: Shape
  /// Pixels; nil is the style sheet's.
  public var radius: Double?
  /// Pixels of a line around bubbles, with its colour.
  public var border: (width: Double, colour: String)?
  public var incoming: Colours
  public var outgoing: Colours
  /// Content is cut to the shape of its bubble.
  public var masksContent: Bool
  public var patch: Patch?

  public init(
    primary: Shape = .house, secondary: Shape = .house, radius: Double? = nil,
    border: (width: Double, colour: String)? = nil, incoming: Colours = Colours(), outgoing: Colours = Colours(),
    masksContent: Bool = true, patch: Patch? = nil
  ) {
    self.primary = primary
    self.secondary = secondary
    self.radius = radius
    self.border = border
    self.incoming = incoming
    self.outgoing = outgoing
    self.masksContent = masksContent
    self.patch = patch
  }

  private static let paleGrey = Colours(bubble: "rgb(243 247 249)", text: "rgb(51 51 51)")

  public static let house = BubbleConfiguration()
  /// A tail on the first bubble, the others stacked below it.
  public static let standard = BubbleConfiguration(
    primary: .tailed, secondary: .stacked, radius: 16, incoming: paleGrey,
    outgoing: Colours(bubble: "rgb(74 144 226)", text: "rgb(255 255 255)"))
  public static let simple = BubbleConfiguration(
    primary: .plain, secondary: .plain, incoming: paleGrey,
    outgoing: Colours(bubble: "rgb(144 164 174)", text: "rgb(20 20 20)"))
  public static func image(_ patch: Patch) -> BubbleConfiguration {
    BubbleConfiguration(primary: .image, secondary: .image, incoming: paleGrey, outgoing: standard.outgoing, patch: patch)
  }

  /// The classes of the timeline's element.
  var classes: String {
    var classes = "mg-timeline"
    if primary != .house { classes += " mg-primary-" + primary.name }
    if secondary != .house { classes += " mg-secondary-" + secondary.name }
    if !masksContent { classes += " mg-unmasked" }
    if border != nil { classes += " mg-bordered" }
    return classes
  }

  /// The custom properties of the timeline's element; empty ones are taken away.
  var properties: [(name: String, value: String)] {
    var insets = ""
    if let patch { insets = " \(patch.insets.top) \(patch.insets.right) \(patch.insets.bottom) \(patch.insets.left) fill" }
    func source(_ source: String?) -> String {
      guard let source, BubbleConfiguration.isPlain(source) else { return "" }
      return "url(\"" + source + "\")" + insets
    }
    return [
      ("--mg-other", incoming.bubble), ("--mg-other-text", incoming.text), ("--mg-own", outgoing.bubble),
      ("--mg-own-text", outgoing.text), ("--mg-radius", radius.map { BubbleConfiguration.pixels($0) } ?? ""),
      ("--mg-border-width", border.map { BubbleConfiguration.pixels($0.width) } ?? ""),
      ("--mg-border-colour", border?.colour ?? ""), ("--mg-patch-own", source(patch?.outgoing)),
      ("--mg-patch-other", source(patch?.incoming))
    ]
  }

  private static func pixels(_ value: Double) -> String { "\(Int(max(0, min(value, 1000))))px" }

  /// Nothing that could end the text it is put into.
  private static func isPlain(_ source: String) -> Bool {
    for byte in Array(source.utf8) where byte <= 0x20 || byte == 0x22 || byte == 0x5C || byte == 0x7F { return false }
    return true
  }
}

extension BubbleConfiguration.Shape {
  var name: String {
    switch self {
    case .house: "house"
    case .tailed: "tailed"
    case .stacked: "stacked"
    case .plain: "plain"
    case .image: "image"
    }
  }
}
