import Errand
import ErrandEssentials
import ErrandHTTPFields
import ErrandSupport
import ErrandTransfers

/// Uploads a body in concurrent segments. Each segment is a separate upload, and the server joins them at the end.
///
/// The URL of the whole upload is only in the response to the joining request. If this response is lost, the joining
/// request is repeated only if the server may receive it twice. Otherwise the call fails, and the next start repeats
/// the request. Segments that no longer exist then are sent again. The server may have lost them, or deleted them after
/// joining.
extension UploadRun {
    struct Segment {
        let ledger: SegmentLedger
        let index: Int
    }

    /// Divides the upload into segments if possible. Returns false if the upload should use a single connection.
    func divides(_ state: inout State, _ server: UploadServer) -> Bool {
        guard segment == nil, state.mayDivide, server.joinsSegments, let segments = order.split(state.source) else {
            return false
        }
        begin(segments, mayBeJoined: false, in: &state, server: server)
        return true
    }

    func begin(_ segments: [UploadSegment], mayBeJoined: Bool, in state: inout State, server: UploadServer) {
        let found = segments.map(\.acknowledged)
        let count = found.reduce(0, +)
        tally.acknowledge(count)
        tally.begin(at: count, of: state.source.length)
        var record: (UploadRecordFile, UploadRecord)?
        if let file = state.record, let fingerprint = state.fingerprint {
            record = (file, order.record(state.identity, source: fingerprint, server: server))
        }
        state.segments = SegmentLedger(
            segments, mayBeJoined: mayBeJoined,
            sum: SegmentSum(found, meter: order.meter, acknowledged: order.acknowledged), record: record)
    }

    func step(_ state: inout State, ledger: SegmentLedger, server: UploadServer) async throws -> Outcome {
        if ledger.open.isEmpty { return try await join(&state, ledger: ledger, server: server) }
        do {
            let outcome = try await send(ledger, from: state.source, to: server)
            guard case .ended(let response) = outcome, Self.cannotJoin(response) else { return outcome }
            return try await undivide(&state, ledger: ledger, server: server, because: response)
        } catch {
            if error.isChangeOfSource { throw error }
            guard error is PlaceTooLong else { return .failed(error) }
            return try await undivide(
                &state, ledger: ledger, server: server,
                reason: "the segments' URLs are too long for the request that joins them")
        }
    }

    /// Whether a response means that the server can't join the segments. A server may reject the joining request or its
    /// length, although the server announces the extension.
    private static func cannotJoin(_ response: HTTPResponse) -> Bool { [431, 501].contains(response.status) }

    private func undivide(
        _ state: inout State, ledger: SegmentLedger, server: UploadServer, because response: HTTPResponse
    ) async throws -> Outcome {
        response.body.cancel()
        let status = ReasonPhrase.describing(response.status)
        return try await undivide(
            &state, ledger: ledger, server: server,
            reason: "the server cannot join segments: it responded with \(status)")
    }

    private func undivide(
        _ state: inout State, ledger: SegmentLedger, server: UploadServer, reason: String
    ) async throws -> Outcome {
        order.report(.restarting(reason: reason, discarded: order.acknowledged.count))
        await terminate(ledger.places, on: server)
        (state.segments, state.mayDivide) = (nil, false)
        tally.acknowledge(0)
        try save(state)
        return .continues
    }

    private func send(
        _ ledger: SegmentLedger, from source: UploadBody, to server: UploadServer
    ) async throws -> Outcome {
        try await withThrowingTaskGroup(of: End.self) { group in
            var waiting = ledger.open[...]
            func add() {
                guard let index = waiting.popFirst() else { return }
                group.addTask { try await send(index, of: ledger, from: source, to: server) }
            }
            for _ in 0..<order.maximumSegments { add() }
            while let end = try await group.next() {
                if !end.isComplete {
                    group.cancelAll()
                    return .ended(end.response)
                }
                end.response.body.cancel()
                add()
            }
            return .continues
        }
    }

    @concurrent private func send(
        _ index: Int, of ledger: SegmentLedger, from source: UploadBody, to server: UploadServer
    ) async throws -> End {
        let segment = ledger.segments[index]
        var state = State(source: source.segment(segment), retries: UploadRetries(options.retry))
        (state.server, state.resource) = (server, segment.resource)
        let run = UploadRun(
            order, next: next, tally: SegmentTally(ledger.sum, index), segment: Segment(ledger: ledger, index: index))
        let end = try await run.attemptUntilOver(&state)
        guard end.isComplete else { return end }
        guard state.resource != nil else {
            throw TransferError(.unusableResponse, "the server accepted a segment without returning its URL")
        }
        state.offset = segment.length
        try run.save(state)
        ledger.complete(index)
        run.tally.end(at: segment.length)
        return end
    }

    private func join(_ state: inout State, ledger: SegmentLedger, server: UploadServer) async throws -> Outcome {
        tally.set(.connecting)
        try ledger.willJoin()
        let message = TusDialect(server: server).joining(ledger.places, order.request.uploadMetadata)
        let response: HTTPResponse
        do { response = try await send(exchange(for: message, isCreation: true), canPause: false) } catch {
            if !isRepeatable, !error.reachedNoServer { state.mayRepeat = false }
            throw error
        }
        if 200...299 ~= response.status { return .complete(response) }
        if Self.cannotJoin(response) {
            return try await undivide(&state, ledger: ledger, server: server, because: response)
        }
        // The server may have lost a segment, so the next attempt asks for the state of each segment.
        if [400, 404, 409, 410].contains(response.status), !state.hasDoubted {
            response.body.cancel()
            state.hasDoubted = true
            ledger.doubt()
            return .continues
        }
        if !isRepeatable, !Self.saysNothingWasDone(response) { state.mayRepeat = false }
        return .refused(response)
    }
}

/// Thrown if the segments' URLs don't fit in the header field of the joining request.
struct PlaceTooLong: Error {}
