import AdministrationCore
import ClientCore
import JSON
import MatrixModel
import Messenger
import WebHost

/// What users reported, the newest first; several can be dismissed at once.
struct ReportsSection<D: DOM> {
  @discardableResult
  init(_ page: AdministrationPage<D>) {
    let dom = page.dom
    _ = AdministrationList<D, AdministeredReport>(
      page, .adminReports, [.adminReported, .reportReason, .adminReporter, .adminWhen], empty: .adminNoReports,
      ask: { _, request in
        .administeredReports(before: request.from, limit: AdministrationList<D, AdministeredReport>.pageItems)
      },
      fill: { report, row in
        let name = row.cell("", "ma-admin-who")
        let lines = dom.element("span", "ma-entry-lines", in: name)
        page.link(report.title, .reports, report.key, in: lines)
        dom.element("bdi", "ma-entry-preview", text: report.subject, in: lines)
        _ = row.cell(report.reason.string)
        _ = row.cell(report.reporter.string)
        _ = row.cell(Host.shortLabel(report.received))
      })
  }
}

extension AdministeredReport {
  /// What kind of thing was reported.
  var title: String { Strings[event != nil ? .adminMessageReport : room != nil ? .adminRoomReport : .adminUserReport] }

  var subject: String { user?.string ?? room?.string ?? "" }
}
