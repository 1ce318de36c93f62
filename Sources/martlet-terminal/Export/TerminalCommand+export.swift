import JSON
import MatrixClient
import MatrixModel
import Shell

extension TerminalCommand {
  static let export = TerminalCommand(
    "export", ["ROOM"],
    options: [
      Option(name: "--to", value: "PATH"), Option(name: "--format", value: "FORMAT"), Option(name: "--no-media"),
      Option(name: "--overwrite")
    ],
    "Writes a room's whole history with its files to one HTML page, or as JSON lines (--format jsonl or a name that ends so)."
  ) { call in
    let work = Task { try await export(call) }
    let signal = Task {
      _ = await StopSignal.wait()
      work.cancel()
    }
    defer { signal.cancel() }
    try await work.value
  }

  private static func export(_ call: TerminalCall) async throws {
    let format = try call.arguments.text("--format").map { try ExportFormat(name: $0) }
    try await call.withAccount { account in
      let room = try await RoomFinder.find(call.arguments.operands[0], of: account.client)
      let plan = try ExportPlan(
        to: call.arguments.text("--to") ?? ".", format: format, roomName: room.name.english.string,
        overwrites: call.arguments.has("--overwrite"))
      let export = RoomExport(
        client: account.client, room: room, plan: plan, takesMedia: !call.arguments.has("--no-media"))
      let result = try await export.run()
      ProgressBar.clear()
      let missing = result.missingFiles > 0 ? "; \(result.missingFiles) files could not be had" : ""
      call.show("\(plan.path): \(result.events) events, \(result.files) files\(missing)") { writer in
        writer.member("room_id", room.id)
        writer.member("path", plan.path)
        writer.member("format", plan.format.rawValue)
        writer.member("events", result.events)
        writer.member("files", result.files)
        writer.member("missing_files", result.missingFiles)
      }
    }
  }
}
