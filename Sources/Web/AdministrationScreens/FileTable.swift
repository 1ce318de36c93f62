import AdministrationCore
import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import WebHost

/// What somebody has uploaded: put into quarantine, released, deleted.
struct FileTable<D: DOM> {
  @discardableResult
  init(_ page: AdministrationPage<D>, of user: UserID) {
    let dom = page.dom
    let server = user.serverName
    let part = page.part(.adminMedia)
    var list: AdministrationList<D, AdministeredFile>?
    func reload() { list?.reload() }
    list = AdministrationList<D, AdministeredFile>(
      page, .adminMedia, [.file, .adminSize, .adminUploaded, .adminActions], empty: .adminNoFiles, in: part,
      ask: { _, request in .files(of: user, from: request.from, limit: AdministrationList<D, AdministeredFile>.pageItems) },
      fill: { file, row in
        let name = file.name.flatMap { $0.isEmpty ? nil : $0.string } ?? file.id.string
        let cell = row.cell("", "ma-admin-chips")
        dom.element("span", text: name, in: cell)
        dom.element("bdi", "ma-entry-preview", text: file.type.string, in: cell)
        if file.isQuarantined { page.chip(.adminQuarantined, isTrouble: true, in: cell) }
        _ = row.cell(Host.byteCountLabel(file.bytes))
        _ = row.cell(Host.shortLabel(file.created))
        let tools = row.cell("", "ma-admin-end")
        let words: Strings.Key = file.isQuarantined ? .adminRelease : .adminQuarantine
        let quarantine = page.tool(words, in: tools) {
          page.ask(.quarantine(file.id, of: server, !file.isQuarantined)) { _ in
            page.say(.adminDone)
            reload()
          }
        }
        dom.setLabel(quarantine, Strings[words, of: name])
        let delete = page.tool(.adminDelete, isDangerous: true, in: tools) {
          page.confirm(
            Strings[.adminDeleteFileQuestion, name], Strings[.adminForGood], action: .adminDelete, done: .adminDone,
            { .deleteFile(file.id, of: server) }
          ) { _ in reload() }
        }
        dom.setLabel(delete, Strings[.adminDelete, of: name])
      })
    let tools = page.tools(in: part)
    page.tool(.adminQuarantineAll, isDangerous: true, in: tools) {
      page.confirm(
        Strings[.adminQuarantineQuestion, user.string], Strings[.adminQuarantineNote], action: .adminQuarantineAll,
        done: .adminDone, { .quarantineFiles(of: user) }
      ) { _ in reload() }
    }
  }
}
