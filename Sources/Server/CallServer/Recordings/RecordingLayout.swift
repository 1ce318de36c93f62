import JSON

/// How the pictures of a composed recording stand: the predefined layouts of OpenTok's documentation, "Video layouts for composed archives".
package struct RecordingLayout: Sendable, Equatable {
  package enum Kind: String, Sendable, CaseIterable {
    /// A grid of all.
    case bestFit
    /// One fills the picture, another one stands in its corner.
    case pip
    /// One on the right, the others in a column on the left.
    case verticalPresentation
    /// One on top, the others in a row below.
    case horizontalPresentation
  }

  package var kind = Kind.bestFit
  /// Instead of `bestFit` while somebody shows a screen, which then has the large place.
  package var screenKind: Kind?

  package init() {}
}

// MARK: Geometry

extension RecordingLayout {
  /// A place in the picture, in pixels: even numbers, as codecs want them.
  struct Cell: Equatable {
    let x: Int64
    let y: Int64
    let width: Int64
    let height: Int64
    /// It hides what stands where it does.
    var isAbove = false
  }

  struct Size: Equatable {
    let width: Int64
    let height: Int64
  }

  /// What decides about the place of a stream.
  struct Member {
    let classes: [ByteString]
    let isScreen: Bool

    init(classes: [ByteString] = [], isScreen: Bool = false) {
      self.classes = classes
      self.isScreen = isScreen
    }
  }

  /// Classes of streams that have the large place.
  private static let full: ByteString = "full"
  private static let focus: ByteString = "focus"
  /// The edge of a presentation and the corner of `pip` take one of so many parts of a side.
  private static let parts: Int64 = 4
  /// Around the corner's picture, of the picture's height.
  private static let marginParts: Int64 = 30

  /// Where each stands, the oldest first; nil for one who is not shown. Of several that ask for the large place the oldest has it, and the oldest of all
  /// where nobody does.
  func cells(of members: [Member], in size: Size) -> [Cell?] {
    let screen = kind == .bestFit && screenKind != nil ? members.firstIndex(where: \.isScreen) : nil
    let kind = screen == nil ? kind : screenKind ?? kind
    guard kind != .bestFit, !members.isEmpty else { return Self.grid(members.count, size) }
    let wanted = kind == .pip ? Self.full : Self.focus
    let large = screen ?? members.firstIndex { $0.classes.contains(wanted) } ?? 0
    let whole = Cell(x: 0, y: 0, width: size.width, height: size.height)
    let others = members.indices.filter { $0 != large }
    var cells = [Cell?](repeating: nil, count: members.count)
    guard !others.isEmpty else { return [whole] }
    switch kind {
    case .pip:
      cells[large] = whole
      cells[others[0]] = Self.corner(size)
    case .verticalPresentation:
      let edge = Self.even(size.width / Self.parts)
      cells[large] = Cell(x: edge, y: 0, width: size.width - edge, height: size.height)
      for (i, part) in Self.divided(size.height, into: others.count).enumerated() {
        cells[others[i]] = Cell(x: 0, y: part.lowerBound, width: edge, height: part.upperBound - part.lowerBound)
      }
    default:
      let edge = Self.even(size.height / Self.parts)
      cells[large] = Cell(x: 0, y: 0, width: size.width, height: size.height - edge)
      for (i, part) in Self.divided(size.width, into: others.count).enumerated() {
        cells[others[i]] = Cell(
          x: part.lowerBound, y: size.height - edge, width: part.upperBound - part.lowerBound, height: edge)
      }
    }
    return cells
  }

  /// As many columns as rows, or one more along the longer side.
  private static func grid(_ count: Int, _ size: Size) -> [Cell?] {
    var longer = 1
    while longer * longer < count { longer += 1 }
    let shorter = max(1, (count + longer - 1) / longer)
    let (columns, rows) = size.width >= size.height ? (longer, shorter) : (shorter, longer)
    let (width, height) = (even(size.width / Int64(columns)), even(size.height / Int64(rows)))
    return (0..<count).map { i in
      Cell(x: Int64(i % columns) * width, y: Int64(i / columns) * height, width: width, height: height)
    }
  }

  /// Below on the right.
  private static func corner(_ size: Size) -> Cell {
    let (width, height, margin) = (even(size.width / parts), even(size.height / parts), even(size.height / marginParts))
    return Cell(
      x: size.width - width - margin, y: size.height - height - margin, width: width, height: height, isAbove: true)
  }

  private static func divided(_ length: Int64, into count: Int) -> [Range<Int64>] {
    let part = even(length / Int64(count))
    return (0..<Int64(count)).map { $0 * part..<($0 + 1) * part }
  }

  private static func even(_ length: Int64) -> Int64 { length / 2 * 2 }
}

// MARK: JSON

extension RecordingLayout {
  /// `{"type": "bestFit", "screenshareType": "pip"}`. Throws 400.
  init(_ json: JSON) throws(RESTError) {
    func kind(_ key: StaticString) throws(RESTError) -> Kind? {
      guard let value = json[key], !value.isNull else { return nil }
      guard let kind = value.string.flatMap(Kind.init(rawValue:)) else {
        throw .invalid(
          "\(key) is bestFit, pip, verticalPresentation or horizontalPresentation; custom layouts are not supported.")
      }
      return kind
    }
    self.init()
    guard let type = try kind("type") else { throw .invalid("type of the layout is missing.") }
    if let stylesheet = json["stylesheet"], !stylesheet.isNull {
      throw .invalid("stylesheet is of custom layouts, which there are not here.")
    }
    (self.kind, screenKind) = (type, try kind("screenshareType"))
    guard screenKind == nil || type == .bestFit else { throw .invalid("screenshareType goes with the type bestFit.") }
  }

  func write(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("type", kind.rawValue)
      if let screenKind { writer.member("screenshareType", screenKind.rawValue) }
    }
  }
}
