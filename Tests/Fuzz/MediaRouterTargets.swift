import MediaRouter

/// What the network may send to the media router, parser by parser and as a whole.
func fuzzSTUN(_ bytes: UnsafeRawBufferPointer) { MediaRouterFuzzing.stun(bytes) }
func fuzzRTP(_ bytes: UnsafeRawBufferPointer) { MediaRouterFuzzing.rtp(bytes) }
func fuzzRTCP(_ bytes: UnsafeRawBufferPointer) { MediaRouterFuzzing.rtcp(bytes) }
func fuzzSRTP(_ bytes: UnsafeRawBufferPointer) { MediaRouterFuzzing.srtp(bytes) }
func fuzzPayloads(_ bytes: UnsafeRawBufferPointer) { MediaRouterFuzzing.payload(bytes) }
func fuzzSDP(_ bytes: UnsafeRawBufferPointer) { MediaRouterFuzzing.sdp(bytes) }
func fuzzRouter(_ bytes: UnsafeRawBufferPointer) { FuzzedForwardingUnit.run(bytes) }
func fuzzRelay(_ bytes: UnsafeRawBufferPointer) { FuzzedRelay.run(bytes) }
