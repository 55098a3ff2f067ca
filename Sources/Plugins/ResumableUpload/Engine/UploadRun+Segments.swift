import Errand
import ErrandEssentials
import ErrandHTTPFields
import ErrandSupport
import ErrandTransfers

/// A body in segments: uploads of their own, side by side, that the server joins at the end.
///
/// The request that joins the segments creates an upload whose URL only its response names. Where that response is lost, the
/// request is repeated only if it may be received twice; otherwise the call fails, and the next start repeats it. Segments
/// that no longer exist are sent again then, although the server may have deleted them after joining them: a server that has
/// lost them responds in the same way, and an upload must not count as complete before the server has confirmed it.
extension UploadRun {
    /// The run of one segment, as a part of the run of the whole.
    struct Segment {
        let ledger: SegmentLedger
        let index: Int
    }

    /// Divides the body where the server joins segments; false for one connection.
    func divides(_ state: inout State, _ server: UploadServer) -> Bool {
        guard segment == nil, state.mayDivide, server.joinsSegments, let segments = order.split(state.source) else {
            return false
        }
        begin(segments, mayBeJoined: false, &state, server)
        return true
    }

    /// Begins with segments, new or of an earlier run.
    func begin(_ segments: [UploadSegment], mayBeJoined: Bool, _ state: inout State, _ server: UploadServer) {
        let found = segments.map(\.acknowledged)
        let count = found.reduce(0, +)
        tally.acknowledge(count)
        tally.begin(at: count, of: state.source.length)
        var record: (UploadRecordFile, UploadRecord)?
        if let file = state.record, let fingerprint = state.fingerprint {
            record = (file, order.record(state.identity, fingerprint, server))
        }
        state.segments = SegmentLedger(
            segments, mayBeJoined: mayBeJoined, SegmentSum(found, order.meter, order.acknowledged), record)
    }

    /// Sends what the server lacks of the segments, or joins them.
    func step(_ state: inout State, _ ledger: SegmentLedger, _ server: UploadServer) async throws -> Outcome {
        if ledger.open.isEmpty { return try await join(&state, ledger, server) }
        do {
            let outcome = try await send(ledger, state.source, server)
            guard case .ended(let response) = outcome, Self.cannotJoin(response) else { return outcome }
            return try await undivide(&state, ledger, server, because: response)
        } catch {
            if error.isChangeOfSource { throw error }
            guard error is PlaceTooLong else { return .failed(error) }
            return try await undivide(
                &state, ledger, server, "the server's names of segments are too long to be joined")
        }
    }

    /// Whether a server says that it has no such request, or takes none of such a length, though it names the extension.
    private static func cannotJoin(_ response: HTTPResponse) -> Bool { [431, 501].contains(response.status) }

    private func undivide(
        _ state: inout State, _ ledger: SegmentLedger, _ server: UploadServer, because response: HTTPResponse
    ) async throws -> Outcome {
        response.body.cancel()
        let status = ReasonPhrase.describing(response.status)
        return try await undivide(
            &state, ledger, server, "the server cannot join segments: it responded with \(status)")
    }

    /// Discards the segments, and begins again over one connection.
    private func undivide(
        _ state: inout State, _ ledger: SegmentLedger, _ server: UploadServer, _ reason: String
    ) async throws -> Outcome {
        order.report(.restarting(reason: reason, discarded: order.acknowledged.count))
        await terminate(ledger.places, on: server)
        (state.segments, state.mayDivide) = (nil, false)
        tally.acknowledge(0)
        try save(state)
        return .continues
    }

    /// Sends the open segments, as many at once as there may be. One that fails ends the others.
    private func send(
        _ ledger: SegmentLedger, _ source: UploadBody, _ server: UploadServer
    ) async throws -> Outcome {
        try await withThrowingTaskGroup(of: End.self) { group in
            var waiting = ledger.open[...]
            func add() {
                guard let index = waiting.popFirst() else { return }
                group.addTask { try await send(index, ledger, source, server) }
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

    /// Sends one segment, until the server has all of it.
    @concurrent private func send(
        _ index: Int, _ ledger: SegmentLedger, _ source: UploadBody, _ server: UploadServer
    ) async throws -> End {
        let segment = ledger.segments[index]
        var state = State(source: source.segment(segment), retries: UploadRetries(options.retry))
        (state.server, state.resource) = (server, segment.resource)
        let run = UploadRun(
            order, next, SegmentTally(ledger.sum, index), segment: Segment(ledger: ledger, index: index))
        let end = try await run.attemptUntilOver(&state)
        guard end.isComplete else { return end }
        guard state.resource != nil else {
            throw TransferError(.unusableResponse, "the server has taken a segment without naming its URL")
        }
        state.offset = segment.length
        try run.save(state)
        ledger.complete(index)
        run.tally.end(at: segment.length)
        return end
    }

    /// Asks the server to join the segments; its response is that of the call.
    private func join(_ state: inout State, _ ledger: SegmentLedger, _ server: UploadServer) async throws -> Outcome {
        tally.set(.connecting)
        try ledger.willJoin()
        let message = TusDialect(server: server).joining(ledger.places, order.request.uploadMetadata)
        let response: HTTPResponse
        do { response = try await send(exchange(for: message, isCreation: true), canPause: false) } catch {
            if !isRepeatable, !error.reachedNoServer { state.mayRepeat = false }
            throw error
        }
        if 200...299 ~= response.status { return .complete(response) }
        if Self.cannotJoin(response) { return try await undivide(&state, ledger, server, because: response) }
        // It may have lost a segment since; which one, it says when it is asked for each.
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

/// The server names segments at such length that they cannot be listed in a header field.
struct PlaceTooLong: Error {}
