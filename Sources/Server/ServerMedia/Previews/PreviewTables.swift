/// What pages say of themselves, as it was when they were fetched.
package enum PreviewTables {
  package static let statements = [
    // `json` is NULL where the page could not be read. The pictures are media of nobody.
    """
    CREATE TABLE url_preview(
      url TEXT PRIMARY KEY, fetched INTEGER NOT NULL, expires INTEGER NOT NULL, json BLOB) STRICT
    """,
    "CREATE INDEX url_preview_expires ON url_preview(expires)"
  ]
}
