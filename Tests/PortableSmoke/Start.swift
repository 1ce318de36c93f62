#if arch(wasm32)
  @_extern(c, "__wasm_call_ctors")
  func initializeModule()

  @_extern(c, "fflush")
  func flush(_ file: UnsafeMutableRawPointer?) -> Int32

  /// What a WASI runtime calls. The linker is told --no-entry for the page's sake, so that nothing else makes it.
  @_expose(wasm, "_start")
  @_cdecl("portable_smoke_start")
  public func start() {
    initializeModule()
    // Lines wait in stdio's buffer, which nobody empties after a return or a trap.
    runChecks { _ = flush(nil) }
  }
#endif
