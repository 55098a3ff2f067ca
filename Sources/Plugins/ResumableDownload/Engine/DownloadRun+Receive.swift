import Errand
import ErrandDigests
import ErrandEssentials
import ErrandSupport
import ErrandTransfers

extension DownloadRun {
    /// Records a response's file properties before its first byte is written.
    func accept(
        _ response: HTTPResponse, _ representation: Representation, isNew: Bool, decodes: Bool = false
    ) throws {
        let disposition = response.headers[.contentDisposition]
        let name =
            destination.name
            ?? (isNew || disposition != nil || file.suggestedName == nil
                ? SafeFileName.choose(disposition: disposition, url: response.url) : file.suggestedName)
        if isNew {
            try startOver(representation)
            try destination.checkSpace(for: representation.total ?? 0)
            meter.begin(at: 0, total: representation.total)
        } else {
            // Keep the other properties, which describe the bytes on disk.
            try file.learn(total: representation.total)
        }
        // The digest covers encoded bytes (RFC 9530, section 3). Without a length, the transport has decoded them.
        if !decodes || representation.total != nil {
            digest.expect(DigestField.sha256(response.headers[.reprDigest]))
        }
        let user = order.stamp
        if name != file.suggestedName || user != file.user {
            try file.change { record, _ in (record.name, record.user) = (name, user) }
        }
    }

    /// Receives the whole file, although a range may have been requested.
    func receiveWhole(
        _ response: HTTPResponse, _ representation: Representation, _ isSame: Bool, _ inquiry: Inquiry, decodes: Bool
    ) async throws {
        if isSame {
            // The server doesn't support ranges, but the version is the same, so skip the bytes on disk.
            if file.plan.parts.count > 1 { try file.change { $1.collapse() } }
            try accept(response, representation, isNew: false)
            order.report(.skipping(file.plan.frontier))
            try await receive(response, part: 0, skipping: file.plan.frontier, upTo: representation.total)
        } else {
            if let known = inquiry.known {
                let objection = known.objection(
                    to: response, total: representation.total, joiningSources: inquiry.joinsSources)
                let reason = objection?.text ?? "the server sends the whole file, without its length"
                order.report(.restarting(reason: reason, discarded: file.plan.received))
            }
            try accept(response, representation, isNew: true, decodes: decodes)
            try await receive(response, part: 0, skipping: 0, upTo: representation.total, decodes: decodes)
        }
    }

    /// Writes a body after a part's received bytes, skipping the body's first `skipping` bytes and stopping at `end`.
    func receive(
        _ response: HTTPResponse, part start: Int64, skipping: Int64, upTo end: Int64?, _ claim: SegmentClaim? = nil,
        decodes: Bool = false
    ) async throws {
        guard let first = file.part(start)?.next else { return response.body.cancel() }
        let length = end.map { $0 - first }
        let limit = decodes && length == nil ? options.maximumDecodedBytes : .max
        var content = decodes && length == nil ? nil : ContentDigest(response)
        var (skip, written) = (skipping, Int64(0))
        var flushing = Flushing(exchange.time.now)
        defer { file.count() }
        // If the body can't be fetched again, a pause only stops reading it.
        let isResumable = isRepeatable && file.representation?.validator != nil
        /// Whether another segment has taken over the bytes up to `end`.
        func isCut() -> Bool {
            guard let part = file.part(start) else { return true }
            return part.isDone && part.end.map { $0 < end ?? .max } ?? false
        }
        do {
            try await control.interruptible {
                if isResumable { response.body.cancel() }
                return isResumable
            } _: {
                for try await chunk in response.body {
                    if control.isPaused, !isResumable {
                        meter.set(.paused)
                        try await control.waitUntilResumed()
                    }
                    var chunk = chunk
                    content?.update(chunk)
                    if skip > 0 {
                        let count = min(skip, Int64(chunk.count))
                        skip -= count
                        chunk = chunk.dropFirst(Int(count))
                        if chunk.isEmpty { continue }
                    }
                    written += Int64(chunk.count)
                    if let length, written > length {
                        throw ErrandError(.invalidResponse, "received more than the announced \(length) bytes")
                    }
                    if written > limit {
                        throw TransferError(
                            .tooLarge, "the decoded file is larger than maximumDecodedBytes, which is \(limit)")
                    }
                    let count = try file.write(chunk, part: start)
                    digest.update(chunk.prefix(count), at: first + written - Int64(chunk.count))
                    meter.add(Int64(count))
                    if end != nil, isCut() { break }
                    try flushing.add(count, to: file, exchange.time)
                }
            }
        } catch {
            if claim != nil, end != nil, isCut(), !Task.isCancelled { return response.body.cancel() }
            throw error
        }
        if end != nil, isCut() { return response.body.cancel() }
        if let length, written < length {
            throw ErrandError(.truncated, "\(length) bytes announced, \(written) received", response: response)
        }
        if skip > 0 {
            throw ErrandError(.truncated, "the body is \(skip) bytes shorter than what is on disk", response: response)
        }
        if end == nil { file.end(at: first + written) }
        try content?.check()
    }
}

/// Flushes bytes to the disk periodically.
private struct Flushing {
    private var last: ContinuousClock.Instant
    private var count = 0

    init(_ now: ContinuousClock.Instant) { last = now }

    mutating func add(_ bytes: Int, to file: PartialFile, _ time: any TimeSource) throws {
        count += bytes
        if count < 16 << 20 { return }
        count = 0
        file.beginFlush()
        let now = time.now
        if last.duration(to: now) >= .seconds(5) {
            try file.flush()
            last = now
        }
    }
}
