import Errand

extension WireExchange {
    func isExcused(by limitations: [KnownLimitation]) -> Bool {
        limitations.contains { limitation in
            limitation.feature.map { features.contains($0) } ?? limitation.name.map { cases.contains($0) } ?? false
        }
    }

    private var features: Set<TransportFeature> {
        var features: Set<TransportFeature> = []
        if !reply.trailers.isEmpty { features.insert(.trailers) }
        if !reply.informational.isEmpty { features.insert(.informational) }
        if reply.body == .gzip { features.insert(.codings) }
        if reply.fault != nil, !isCancelled, !isDropped { features.insert(isSilent ? .timeouts : .faults) }
        if isCancelled || isDropped { features.insert(.cancellation) }
        if body.isStream { features.insert(.streamedUploads) }
        if body != .none { features.insert(.uploads) }
        return features
    }

    /// The cases that test a behavior of this exchange.
    private var cases: Set<String> {
        var cases = faultCases
        if reply.headers.contains(where: \.isLatin1) { cases.insert(HeaderCases.latin1) }
        if [301, 302, 303, 307, 308].contains(reply.status) {
            let location = reply.headers[.location] ?? ""
            if location.count < 2 || location == "http://[" { cases.insert(NeutralityCases.nowhere) }
            if reply.isPaced || reply.fault != nil { cases.insert(NeutralityCases.early) }
        }
        if !method.isIdempotent || body != .none, WireImage(self).mayHideHead {
            cases.insert(ReuseCases.sentOnce)
        }
        return cases
    }

    private var faultCases: Set<String> {
        let image = WireImage(self)
        switch reply.fault {
        case .close(let position) where position < image.headEnd:
            return ["a connection that closes at any byte of the head is an error"]
        case .reset(let position) where position < image.headEnd:
            return ["a connection that is reset at any byte of the head is an error"]
        case .close, .reset:
            return reply.body == .gzip ? ["a truncated compressed body is an error, or is returned undecoded"] : []
        case .malformed(.chunkSize), .malformed(.chunkEnd):
            return ["malformed chunks are invalidResponse, not connectionLost"]
        case .malformed(.lengthText), .malformed(.lengths):
            return ["a response with contradictory or malformed lengths is an error"]
        default: return []
        }
    }
}
