import ServerMedia

/// Feeds arbitrary bytes to what reads pages for previews.
func fuzzPreview(_ bytes: UnsafeRawBufferPointer) {
  PreviewFuzzing.run(bytes)
}
