import AdministrationCore
import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// Who has uploaded how much, and deleting what is old.
struct MediaSection<D: DOM> {
  @discardableResult
  init(_ page: AdministrationPage<D>) {
    let dom = page.dom
    let tools = page.tools()
    let list = AdministrationList<D, MediaUsage>(
      page, .adminMedia, [.userName, .adminFiles, .adminSize], search: .adminSearchUsers, empty: .adminNoFiles, tools: tools,
      ask: { search, request in
        .mediaUsage(matching: search, from: request.from, limit: AdministrationList<D, MediaUsage>.pageItems)
      },
      fill: { usage, row in
        let name = row.cell("", "ma-admin-who")
        let lines = dom.element("span", "ma-entry-lines", in: name)
        page.link((usage.name ?? usage.user.text).string, .users, usage.user.text, in: lines)
        if usage.name != nil { dom.element("bdi", "ma-entry-preview", text: usage.user.string, in: lines) }
        _ = row.cell("\(usage.files)")
        _ = row.cell(Host.byteCountLabel(usage.bytes))
      })
    let delete = dom.button("ma-button ma-danger", .adminDeleteOld, icon: .bin, in: tools)
    dom.on(delete, .click) { _ in page.openDialog { Self.askDay(page, in: $0) { list.reload() } } }
  }

  private static func askDay(_ page: AdministrationPage<D>, in frame: DialogFrame<D>, _ then: @escaping () -> Void) {
    let dom = page.dom
    var day: Field<D>?
    FormDialog(
      dom, Strings[.adminDeleteOldQuestion], Strings[.adminDeleteOldNote], action: .adminDelete, isDangerous: true, in: frame,
      fields: { form in
        let field = Field(dom, .adminOlderThan, kind: "date", in: form)
        day = field
        frame.setFirst(field.input)
      }
    ) { dialog in
      guard let day else { return }
      guard let number = CalendarDay(day.text)?.number else { return dialog.fail(day, Strings[.adminDayMissing]) }
      page.ask(.deleteFiles(before: Host.startOfDay(number)), failed: { dialog.fail(Strings.words(for: $0)) }) { count in
        dialog.end()
        page.say(Strings[.adminFilesDeleted, count: Int(count)])
        then()
      }
    }
  }
}
