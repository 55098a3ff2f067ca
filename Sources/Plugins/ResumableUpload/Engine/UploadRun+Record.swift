import Errand
import ErrandDigests
import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport
import ErrandTransfers

/// What a run finds, keeps and discards.
extension UploadRun {
    /// Opens the record, and continues the upload that it describes where the body is still the same.
    @concurrent func prepare(_ state: inout State) async throws {
        if options.uploadProtocol == .draft8 || options.uploadProtocol == .draft6 {
            state.server = UploadServer(options.uploadProtocol)
        }
        guard let directory = options.directory, state.source.opensAtOffset else { return }
        guard directory.isFileURL, directory.path.utf8.first == UInt8(ascii: "/") else {
            throw TransferError(.invalidRequest, "the directory of the records is not a file URL with an absolute path")
        }
        tally.set(.preparing)
        state.identity = try await order.identity(in: directory.path)
        let record = try UploadRecordFile(String(state.identity.prefix(24)), in: directory.path)
        state.record = record
        let fingerprint = try await state.source.fingerprint()
        state.fingerprint = fingerprint
        guard let found = record.found, found.request == state.identity,
            options.uploadProtocol == .automatic || options.uploadProtocol == found.server.uploadProtocol,
            !found.places.isEmpty, found.places.allSatisfy({ isAcceptable($0.url) }), !order.beginsAnew
        else { return }
        let origin = URLSyntax.origin(of: exchange.http.url)
        let isElsewhere = found.places.contains { URLSyntax.origin(of: $0.url) != origin }
        // Requests are refused from now on, unless they are of the user in the record.
        order.user.expect(found.user ?? UserStamp([]))
        if found.source != fingerprint {
            order.report(.restarting(reason: "the body has changed", discarded: found.acknowledged))
            if found.mayBeJoined != true, !isElsewhere { await terminate(found.places, on: found.server) }
            order.user.expect(nil)
            return
        }
        state.mustShowUser = isElsewhere
        guard let resource = found.resource else {
            takeUp(found, &state)
            return
        }
        if let expiry = resource.expiry, expiry <= exchange.time.date {
            order.report(
                .restarting(reason: "the server has forgotten the upload by now", discarded: found.acknowledged))
            state.mustShowUser = false
            order.user.expect(nil)
            return
        }
        (state.server, state.resource) = (found.server, resource)
    }

    /// Continues the segments of a record; those that the server has forgotten by now begin anew.
    private func takeUp(_ found: UploadRecord, _ state: inout State) {
        guard var segments = found.segments, UploadSegment.areWhole(segments, of: state.source.length),
            found.server.joinsSegments
        else { return }
        for (index, segment) in segments.enumerated() {
            guard let expiry = segment.resource?.expiry, expiry <= exchange.time.date else { continue }
            order.report(
                .restarting(reason: "the server has forgotten a segment by now", discarded: segment.acknowledged))
            (segments[index].resource, segments[index].acknowledged) = (nil, 0)
        }
        state.server = found.server
        begin(segments, mayBeJoined: found.mayBeJoined == true, &state, found.server)
    }

    /// Whether requests of this upload may go to a URL that a server, or a file, has named.
    func isAcceptable(_ url: URL) -> Bool {
        switch url.scheme?.lowercased() {
        case "https": true
        case "http": exchange.http.url.scheme?.lowercased() != "https"
        default: false
        }
    }

    /// Forgets what the server has.
    func startOver(_ state: inout State, _ reason: String) async throws {
        guard state.retries.countRestart() else { throw TransferError(.changedTooOften, reason) }
        guard mayOpenAgain(state) else {
            throw ErrandError(.bodyNotReplayable, "\(reason), and the body can be read only once")
        }
        order.report(.restarting(reason: reason, discarded: state.offset ?? 0))
        (state.resource, state.offset) = (nil, nil)
        tally.acknowledge(0)
        try save(state)
    }

    /// The file was written to while it was sent: what the server has belongs to the old one.
    func sourceChanged(_ state: inout State) async throws {
        if let server = state.server, state.segments?.mayBeJoined != true { await terminate(state.places, on: server) }
        state.source = try state.source.renewed()
        state.segments = nil
        if state.record != nil { state.fingerprint = try await state.source.fingerprint() }
        try await startOver(&state, "the body changed while it was sent")
    }

    /// Asks the server to delete uploads that are no longer needed. A failure is ignored.
    func terminate(_ resources: [UploadResource], on server: UploadServer) async {
        if server.uploadProtocol == .tus, !server.extensions.contains("termination") { return }
        let message = server.dialect.termination()
        await withTaskGroup { group in
            for resource in resources {
                group.addTask { _ = try? await next(exchange(for: message, at: resource.url)) }
            }
        }
    }

    /// Writes what a later run has to know.
    func save(_ state: State, flushes: Bool = true) throws {
        if let segment {
            try segment.ledger.keep(segment.index, state.resource, state.offset ?? 0, flushes: flushes)
            return
        }
        guard let record = state.record, let fingerprint = state.fingerprint, let server = state.server else { return }
        var content = order.record(state.identity, fingerprint, server)
        content.resource = state.resource
        content.acknowledged = state.offset ?? 0
        try record.write(content, flushes: flushes)
    }
}

extension UploadRun.State {
    /// The place of the upload, or those of its segments.
    var places: [UploadResource] { resource.map { [$0] } ?? segments?.places ?? [] }
}
