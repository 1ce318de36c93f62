/// A place on earth.
public struct LocationBody: Sendable {
  /// What the sender called it; may be empty.
  public var name: String
  /// Second line, for example the coordinates.
  public var detail: String
  /// The place is shared as it changes.
  public var isLive: Bool

  public init(name: String, detail: String, isLive: Bool = false) {
    self.name = name
    self.detail = detail
    self.isLive = isLive
  }
}

public struct PollBody: Sendable {
  public struct Answer: Sendable {
    /// What the host knows it by.
    public var id: String
    public var text: String
    /// nil while the result is secret.
    public var votes: Int?
    /// The reader chose it.
    public var isOwn: Bool

    public init(id: String, text: String, votes: Int?, isOwn: Bool = false) {
      self.id = id
      self.text = text
      self.votes = votes
      self.isOwn = isOwn
    }
  }

  /// The answers a poll may have; what comes after is not shown. Source: MSC3381.
  public static let answersLimit = 20

  public var question: String
  public var answers: [Answer]
  /// How many answers one may choose.
  public var choiceLimit: Int
  /// People who voted.
  public var voterCount: Int
  public var isEnded: Bool

  public init(question: String, answers: [Answer], choiceLimit: Int = 1, voterCount: Int = 0, isEnded: Bool = false) {
    self.question = question
    self.answers = answers
    self.choiceLimit = choiceLimit
    self.voterCount = voterCount
    self.isEnded = isEnded
  }

  /// The choice after a click on an answer: a single choice is replaced, several are toggled. nil if no more may be chosen.
  func choice(switching index: Int) -> [String]? {
    guard answers.indices.contains(index), index < PollBody.answersLimit else { return nil }
    if choiceLimit <= 1 { return answers[index].isOwn ? [] : [answers[index].id] }
    var chosen: [String] = []
    for (other, answer) in answers.enumerated() where answer.isOwn != (other == index) { chosen.append(answer.id) }
    return chosen.count <= choiceLimit ? chosen : nil
  }
}

/// What an address leads to.
public struct LinkPreview: Sendable {
  public var url: String
  public var title: String
  public var text: String
  /// The name of the site.
  public var site: String
  public var picture: ImageBody?

  public init(url: String, title: String, text: String = "", site: String = "", picture: ImageBody? = nil) {
    self.url = url
    self.title = title
    self.text = text
    self.site = site
    self.picture = picture
  }
}

/// A person that a file describes.
public struct ContactBody: Sendable {
  public var name: String
  /// May be empty.
  public var organisation: String
  /// Numbers and addresses, each with what calls or writes there, as far as it does.
  public var lines: [LinkScanner.Segment]

  public init(name: String, organisation: String = "", lines: [LinkScanner.Segment] = []) {
    self.name = name
    self.organisation = organisation
    self.lines = lines
  }

  /// Somebody of the host's, with the address that leads to them.
  package init(name: String, address: String, url: String) {
    self.init(name: name, lines: [LinkScanner.Segment(text: address, url: url)])
  }

  /// What a file says.
  public init(_ card: VCard) {
    self.init(name: card.name, organisation: card.organisation)
    for number in card.numbers { lines.append(LinkScanner.Segment(text: number, url: VCard.url(ofNumber: number) ?? "")) }
    for address in card.addresses { lines.append(LinkScanner.Segment(text: address, url: VCard.url(ofAddress: address) ?? "")) }
  }
}

/// Content of the host's own kind, drawn by the renderer that was registered for it.
public struct CustomContent: Sendable {
  public var kind: String
  /// Whatever the renderer needs.
  public var payload: String
  /// Read aloud, and shown where no renderer is registered.
  public var spoken: String
  /// Pixels, so that nothing shifts; 0 where only the browser can tell.
  public var height: Double

  public init(kind: String, payload: String, spoken: String, height: Double = 0) {
    self.kind = kind
    self.payload = payload
    self.spoken = spoken
    self.height = height
  }

  /// Whether a renderer would draw the same.
  public func isSame(as other: CustomContent) -> Bool {
    kind.hasSameBytes(as: other.kind) && payload.hasSameBytes(as: other.payload)
  }
}

/// Draws content of one kind. A value of functions: Embedded Swift has no existentials.
public struct ContentRenderer {
  /// Builds into an empty element; `width` is what the timeline has. What it returns is called when the row leaves the page, before
  /// everything in the element is released.
  public var build: (_ content: CustomContent, _ row: RowID, _ parent: Node, _ width: Double) -> (() -> Void)?

  public init(
    build: @escaping (_ content: CustomContent, _ row: RowID, _ parent: Node, _ width: Double) -> (() -> Void)?
  ) {
    self.build = build
  }
}
