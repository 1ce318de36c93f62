import JSON
import Testing

@testable import CallServer

@Suite struct RecordingLayoutTests {
  private typealias Member = RecordingLayout.Member
  private static let wide = RecordingLayout.Size(width: 640, height: 480)
  private static let tall = RecordingLayout.Size(width: 480, height: 640)

  private func layout(_ kind: RecordingLayout.Kind, screen: RecordingLayout.Kind? = nil) -> RecordingLayout {
    var layout = RecordingLayout()
    (layout.kind, layout.screenKind) = (kind, screen)
    return layout
  }

  private func cells(_ layout: RecordingLayout, _ members: [Member], in size: RecordingLayout.Size = wide) -> [[Int64]?] {
    layout.cells(of: members, in: size).map { $0.map { [$0.x, $0.y, $0.width, $0.height] } }
  }

  @Test(arguments: [(1, 1, 1), (2, 2, 1), (4, 2, 2), (5, 3, 2), (10, 4, 3), (25, 5, 5)])
  func `a grid has as many columns as rows, or more along the longer side`(_ count: Int, _ longer: Int64, _ shorter: Int64) {
    let members = [Member](repeating: Member(classes: ["focus"]), count: count)
    #expect(cells(layout(.bestFit), members).allSatisfy { $0?[2] == 640 / longer / 2 * 2 && $0?[3] == 480 / shorter / 2 * 2 })
    #expect(
      cells(layout(.bestFit), members, in: Self.tall).allSatisfy {
        $0?[2] == 480 / shorter / 2 * 2 && $0?[3] == 640 / longer / 2 * 2
      })
  }

  @Test func `who has the class full fills the picture, and the first of the others is in its corner`() {
    let corner: [Int64] = [464, 344, 160, 120]
    let whole: [Int64] = [0, 0, 640, 480]
    let pip = layout(.pip)
    #expect(
      cells(pip, [Member(), Member(), Member(classes: ["x", "full"]), Member(classes: ["full"])]) == [corner, nil, whole, nil])
    #expect(cells(pip, [Member(classes: ["focus"]), Member()]) == [whole, corner])
    #expect(cells(pip, [Member()]) == [whole] && cells(pip, []) == [])
    #expect(pip.cells(of: [Member(), Member()], in: Self.wide).map { $0?.isAbove } == [false, true])
  }

  // Proves M29
  @Test func `who has the class focus is large, the others share the edge`() {
    let members = [Member(), Member(classes: ["focus"]), Member(), Member(classes: ["focus", "full"])]
    #expect(
      cells(layout(.verticalPresentation), members) == [
        [0, 0, 160, 160], [160, 0, 480, 480], [0, 160, 160, 160], [0, 320, 160, 160]
      ])
    #expect(
      cells(layout(.horizontalPresentation), members) == [
        [0, 360, 212, 120], [0, 0, 640, 360], [212, 360, 212, 120], [424, 360, 212, 120]
      ])
    #expect(
      cells(layout(.verticalPresentation), [Member(), Member(classes: ["full"])]) == [[160, 0, 480, 480], [0, 0, 160, 480]])
    #expect(cells(layout(.horizontalPresentation), [Member()]) == [[0, 0, 640, 480]])
  }

  @Test func `a screen brings its layout with it, and has the large place`() {
    let best = layout(.bestFit, screen: .horizontalPresentation)
    #expect(cells(best, [Member(classes: ["focus"]), Member()]) == [[0, 0, 320, 480], [320, 0, 320, 480]])
    #expect(cells(best, [Member(classes: ["focus"]), Member(isScreen: true)]) == [[0, 360, 640, 120], [0, 0, 640, 360]])
    #expect(cells(layout(.bestFit, screen: .bestFit), [Member(), Member(isScreen: true)]).map { $0?[2] } == [320, 320])
    #expect(cells(layout(.bestFit), [Member(), Member(isScreen: true)]).map { $0?[2] } == [320, 320])
  }

  @Test(arguments: RecordingLayout.Kind.allCases, [1, 2, 3, 7, 16, 50, 200])
  func `cells lie within the picture, and none but the corner's hides another`(_ kind: RecordingLayout.Kind, _ count: Int) {
    for size in [Self.wide, Self.tall] {
      let found = layout(kind).cells(of: [Member](repeating: Member(), count: count), in: size).compactMap(\.self)
      #expect(found.count == (kind == .pip ? min(2, count) : count))
      for (i, cell) in found.enumerated() {
        #expect(cell.x >= 0 && cell.y >= 0 && cell.x + cell.width <= size.width && cell.y + cell.height <= size.height)
        #expect(cell.width > 0 && cell.height > 0 && cell.width % 2 == 0 && cell.height % 2 == 0)
        let hides = found[(i + 1)...].contains { other in
          !cell.isAbove && !other.isAbove && cell.x < other.x + other.width && other.x < cell.x + cell.width
            && cell.y < other.y + other.height && other.y < cell.y + cell.height
        }
        #expect(!hides)
      }
    }
  }

  @Test(arguments: [
    #"{}"#, #"{"type":"custom","stylesheet":"stream {}"}"#, #"{"type":"custom"}"#, #"{"type":"bestfit"}"#, #"{"type":7}"#,
    #"{"type":"pip","stylesheet":""}"#, #"{"type":"pip","screenshareType":"pip"}"#,
    #"{"type":"bestFit","screenshareType":"custom"}"#
  ])
  func `a layout that there is not is refused`(_ text: String) throws {
    let json = try JSON.parse(Array(text.utf8))
    let error = #expect(throws: RESTError.self) { try RecordingLayout(json) }
    #expect(error?.status == .badRequest && error?.message.isEmpty == false)
  }

  @Test func `a layout is what it was after the wire`() throws {
    for kept in [layout(.bestFit), layout(.pip), layout(.bestFit, screen: .verticalPresentation)] {
      var writer = JSONWriter()
      kept.write(to: &writer)
      #expect(try RecordingLayout(JSON.parse(writer.bytes)) == kept)
    }
  }
}
