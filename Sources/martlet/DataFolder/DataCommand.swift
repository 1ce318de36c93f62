import Backup
import CallServer
import Database
import Glibc
import Homeserver
import JSON
import MatrixModel
import ServerCore
import Shell
import Telemetry

/// One of the subcommands for the data folder itself, which ask no server. `DataCommand.all` is the only list.
struct DataCommand: Sendable {
  let syntax: CommandSyntax
  let summary: String
  /// Whether it works on the data folder with the database in it.
  private let needsFolder: Bool
  /// Throws `BackupError`. Returns what the program ends with.
  private let run: @Sendable (CommandArguments, Configuration) async throws -> ExitStatus

  init(
    _ name: String, _ operands: [String] = [], options: [CommandSyntax.Option] = [], _ summary: String,
    needsFolder: Bool = true,
    _ run: @escaping @Sendable (CommandArguments, Configuration) async throws -> ExitStatus
  ) {
    syntax = CommandSyntax(
      words: name.split(separator: " ").map(String.init), operands: operands,
      options: options + [CommandSyntax.Option(name: "--json")], takesSettings: true)
    self.summary = summary
    self.needsFolder = needsFolder
    self.run = run
  }

  static let all: [DataCommand] = [
    DataCommand(
      "backup", ["FOLDER"], options: [CommandSyntax.Option(name: "--quiet")],
      "Copies the data folder into FOLDER, while the server runs or not; the next time only what has changed. What lies in a bucket (media.s3) is not copied. Keep FOLDER as private as the data folder. With - for FOLDER, writes all of it to standard output as a tar stream. Ends with 2 if the backup is made but uploaded files are missing or damaged in the data folder. --quiet prints only what is wrong."
    ) { arguments, configuration in
      try DataDirectory.requireDatabase(in: configuration.dataDirectory)
      let toStream = arguments.operands[0] == stream
      let made =
        try toStream
        ? makeStream(of: configuration)
        : Backup.make(
          of: configuration.dataDirectory, in: arguments.operands[0], isContentInBucket: configuration.bucket.isUsed,
          now: WallClock.system.now())
      if let problem = problem(of: made) { Program.complain(problem) }
      if arguments.has("--quiet") { return made.isWhole ? .success : .incomplete }
      show(arguments, text(of: made), beside: toStream) { writer in
        writer.member("files", Int64(made.files))
        writer.member("bytes", made.bytes)
        writer.member("copied_files", Int64(made.copiedFiles))
        writer.member("copied_bytes", made.copiedBytes)
        writer.member("missing_media", Int64(made.missingMedia))
        writer.member("damaged_media", Int64(made.damagedMedia))
        writer.member("kept_media", Int64(made.keptMedia))
      }
      return made.isWhole ? .success : .incomplete
    },
    DataCommand(
      "restore", ["FOLDER"], options: [CommandSyntax.Option(name: "--dry-run")],
      "Makes the data folder from a backup after comparing all checksums; never overwrites one. --dry-run only compares, whatever the data folder has, and writes nothing. With - for FOLDER, reads a tar stream from standard input."
    ) { arguments, configuration in
      let isDry = arguments.has("--dry-run")
      let restored = try restore(arguments.operands[0], to: configuration.dataDirectory, isDry: isDry)
      let time = try JSON.object { $0.member("made_ts", restored.made) }["made_ts"]
      let what =
        "\(count(restored.files, "file")), \(restored.bytes) bytes, schema version \(restored.schema), of \(Table.time(time))"
      show(arguments, isDry ? "the backup is sound: \(what)" : "\(what), are in \(configuration.dataDirectory)") { writer in
        writer.member("files", Int64(restored.files))
        writer.member("bytes", restored.bytes)
        writer.member("schema", Int64(restored.schema))
        writer.member("made_ts", restored.made)
        writer.member("dry_run", isDry)
      }
      return .success
    },
    DataCommand(
      "check", options: [CommandSyntax.Option(name: "--hashes"), CommandSyntax.Option(name: "--repair")],
      "Tells what is wrong with the data folder and ends with 1 if something is. --hashes reads all files; --repair mends what can be mended without loss."
    ) { arguments, configuration in
      try check(arguments, configuration.dataDirectory, isContentInBucket: configuration.bucket.isUsed)
    },
    databaseCopy,
    mediaCopy
  ]

  private static let databaseCopy = DataCommand(
    "database copy",
    options: [CommandSyntax.Option(name: "--from", value: "DATABASE"), CommandSyntax.Option(name: "--to", value: "DATABASE")],
    "Copies all rows between SQLite and PostgreSQL, into an empty database, and compares both. A DATABASE is sqlite:PATH or a URL as in database.url; without --from or --to, database.url. No server may use either. Files and keys stay in data_dir; the search index is made anew. A copy that was stopped goes on.",
    needsFolder: false
  ) { arguments, configuration in
    let copied = try DatabaseCopy.run(
      from: try database(arguments.text("--from"), "--from", configuration),
      to: try database(arguments.text("--to"), "--to", configuration),
      migrations: Schema.migrations(with: CallTables.statements), reset: Schema.rebuilding
    ) { progress in
      LogSink.standardError(Array("\(progress.table): \(count(progress.rows, "row"))\(progress.isCopied ? "" : " …")\n".utf8))
    }
    show(arguments, "\(count(copied.rows, "row")) of \(count(copied.tables, "table")) are the same in both databases") {
      writer in
      writer.member("tables", Int64(copied.tables))
      writer.member("rows", Int64(copied.rows))
    }
    return .success
  }

  private static func database(_ text: String?, _ option: String, _ configuration: Configuration) throws
    -> DatabaseConfiguration
  {
    if let text, text.hasPrefix("sqlite:"), text.utf8.count > 7 {
      return DatabaseConfiguration(path: String(text.dropFirst(7)))
    }
    if let text {
      guard let address = PostgreSQLAddress(text) else {
        throw UsageError("\(option) is neither sqlite:PATH nor a URL such as postgres://user@host/name")
      }
      return DatabaseConfiguration(server: address)
    }
    guard let database = try configuration.database.configuration() else {
      throw UsageError("\(option) is missing, and database.url is not set")
    }
    return database
  }

  /// The faults that `check` prints for people.
  private static let faultsShown = 200

  /// Stands for standard output or standard input in the place of a folder.
  private static let stream = "-"

  private static func makeStream(of configuration: Configuration) throws -> Backup.Summary {
    guard isatty(STDOUT_FILENO) == 0 else {
      throw UsageError("the backup would go to the terminal; send it to a file or a program, such as martlet backup - | gzip")
    }
    // A reader that goes away is an error, after which the temporary files are removed.
    signal(SIGPIPE, SIG_IGN)
    return try Backup.make(
      of: configuration.dataDirectory, writing: STDOUT_FILENO, temporary: processEnvironment()["TMPDIR"] ?? "/var/tmp",
      isContentInBucket: configuration.bucket.isUsed, now: WallClock.system.now())
  }

  private static func restore(_ source: String, to data: String, isDry: Bool) throws -> Restore.Summary {
    switch (source == stream, isDry) {
    case (false, true): try Restore.check(source, newestSchema: newestSchema)
    case (true, true): try Restore.check(reading: STDIN_FILENO, newestSchema: newestSchema)
    case (false, false): try Restore.run(from: source, to: data, newestSchema: newestSchema)
    case (true, false): try Restore.run(reading: STDIN_FILENO, to: data, newestSchema: newestSchema)
    }
  }

  private static func check(
    _ arguments: CommandArguments, _ data: String, isContentInBucket: Bool
  ) throws -> ExitStatus {
    // --repair would also change the permissions of a folder that is not Martlet's.
    try DataDirectory.requireDatabase(in: data)
    // Held until the end: no server starts meanwhile.
    let directory = try? DataDirectory(data)
    let check = try DataCheck(
      data, newestSchema: newestSchema, isContentInBucket: isContentInBucket, hashes: arguments.has("--hashes"),
      isStopped: directory != nil)
    let left = arguments.has("--repair") ? try check.repair() : check.faults
    withExtendedLifetime(directory) {}
    let mended = check.faults.count - left.count
    var lines = left.prefix(faultsShown).map { "\($0.path) \($0.text)\($0.repair == nil ? "" : " (--repair mends this)")" }
    if left.count > faultsShown { lines.append("and \(left.count - faultsShown) more; --json lists all") }
    if mended > 0 { lines.append("mended: \(mended)") }
    if left.isEmpty { lines.append("the data folder is sound") }
    show(arguments, lines.joined(separator: "\n")) { writer in
      writer.key("faults")
      writer.array { writer in
        for fault in left {
          writer.object { writer in
            writer.member("path", fault.path)
            writer.member("text", fault.text)
            writer.member("repairable", fault.repair != nil)
          }
        }
      }
      writer.member("mended", Int64(mended))
    }
    return left.isEmpty ? .success : .failure
  }

  private static func text(of made: Backup.Summary) -> String {
    "\(count(made.files, "file")), \(made.bytes) bytes; copied \(count(made.copiedFiles, "file")), \(made.copiedBytes) bytes"
  }

  /// Returns what is wrong with the data folder; nil if nothing is.
  private static func problem(of made: Backup.Summary) -> String? {
    guard !made.isWhole else { return nil }
    return
      "the backup is made, but uploaded files are missing (\(made.missingMedia)) or damaged (\(made.damagedMedia)) in the data folder; "
      + "the backup has \(made.keptMedia) of them from before. martlet check --hashes names them"
  }

  static func count(_ number: Int, _ word: String) -> String { "\(number) \(word)\(number == 1 ? "" : "s")" }

  private static var newestSchema: Int { Schema.migrations(with: CallTables.statements).last?.version ?? 0 }

  /// `beside`: standard output has the backup, so the text goes to standard error.
  static func show(
    _ arguments: CommandArguments, _ text: String, beside: Bool = false, _ body: (inout JSONWriter) -> Void
  ) {
    var shown = text.split(separator: "\n").map { Table.harmless(String($0)) + "\n" }.joined()
    if arguments.isJSON {
      var writer = JSONWriter()
      writer.object(body)
      shown = String(decoding: writer.bytes, as: UTF8.self) + "\n"
    }
    if beside { LogSink.standardError(Array(shown.utf8)) } else { StandardOutput.write(shown) }
  }

  /// The part of the help text that lists them.
  static func help() -> String {
    all.map { "  martlet \($0.syntax.usage)\n      \($0.summary)\n" }.joined()
  }

  static func named(by words: [String]) -> (command: DataCommand, rest: [String])? {
    for command in all where words.starts(with: command.syntax.words) {
      return (command, Array(words.dropFirst(command.syntax.words.count)))
    }
    return nil
  }

  func perform(_ words: [String]) async -> ExitStatus {
    do {
      let arguments = try CommandArguments(words, for: syntax)
      let loaded = try ConfigurationLoader.load(flags: arguments.settings, environment: processEnvironment())
      guard !needsFolder || loaded.configuration.database.url == nil else {
        throw StartError.failed(
          "martlet \(syntax.words.joined(separator: " ")) knows databases of SQLite only, and database.url is set: back up the database with PostgreSQL's own tools, such as pg_dump, and then data_dir"
        )
      }
      return try await run(arguments, loaded.configuration)
    } catch let error as UsageError {
      Program.complain(error.description)
      return .usage
    } catch let error as ConfigurationError {
      return Program.complain(error)
    } catch {
      Program.complain("\(error)")
      return .failure
    }
  }
}
