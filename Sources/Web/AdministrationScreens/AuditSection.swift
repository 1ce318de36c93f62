import AdministrationCore
import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import WebHost

/// Who did what, and when.
struct AuditSection<D: DOM> {
  @discardableResult
  init(_ page: AdministrationPage<D>) {
    let tools = page.tools()
    var action = ""
    let list = AdministrationList<D, AuditEntry>(
      page, .adminAudit, [.adminAction, .adminTarget, .adminActor, .adminWhen, .adminOutcome], search: .adminSearchActor,
      empty: .nothingFound, tools: tools,
      ask: { search, request in
        .audit(
          by: page.actor(search), of: ByteString(action), before: request.from,
          limit: AdministrationList<D, AuditEntry>.pageItems)
      },
      fill: { entry, row in
        let cell = row.cell("", "ma-admin-who")
        let lines = page.dom.element("span", "ma-entry-lines", in: cell)
        page.dom.element("span", "ma-entry-name", text: entry.action.string, in: lines)
        if !entry.details.isEmpty { page.dom.element("bdi", "ma-entry-preview", text: entry.details.string, in: lines) }
        _ = row.cell(entry.target.string)
        _ = row.cell(entry.actor == ("operator" as ByteString) ? Strings[.adminOperator] : entry.actor.string)
        _ = row.cell(Host.dateTimeLabel(entry.time))
        let outcome = row.cell("", "ma-admin-chips")
        if entry.isDone {
          page.dom.element("span", text: .adminDoneOutcome, in: outcome)
        } else if let code = entry.outcome {
          page.dom.element("span", "ma-remark ma-admin-bad", text: code.string, in: outcome)
        } else {
          page.chip(.adminInterrupted, isTrouble: true, in: outcome)
        }
      })
    Choice(
      page.dom, Strings[.adminAction],
      [
        ("", Strings[.adminEverything]), ("user.", Strings[.adminUsers]), ("device.", Strings[.devices]),
        ("room.", Strings[.rooms]), ("media.", Strings[.adminMedia]), ("report.", Strings[.adminReports]),
        ("token.", Strings[.adminTokens]), ("notice.", Strings[.adminNotices])
      ], selected: "", in: tools
    ) { chosen in
      action = chosen
      list.reload()
    }
  }
}

extension AdministrationPage {
  /// Returns the typed actor as the log names it.
  fileprivate func actor(_ typed: ByteString) -> ByteString {
    guard !typed.isEmpty, typed != ("operator" as ByteString) else { return typed }
    return user(named: typed.string)?.text ?? typed
  }
}
