#if arch(wasm32)
  @_extern(c, "__wasm_call_ctors")
  private func initializeModule()

  /// What a WASI runtime calls. The linker is told --no-entry for the page's sake, so that nothing else makes it.
  @_expose(wasm, "_start")
  @_cdecl("olm_peer_start")
  public func start() {
    initializeModule()
    answerLines()
  }
#endif
