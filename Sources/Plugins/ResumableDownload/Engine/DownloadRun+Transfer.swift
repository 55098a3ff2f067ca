import Errand
import ErrandDigests
import ErrandEssentials
import ErrandSupport
import ErrandTransfers

extension DownloadRun {
    /// Sends a request for the missing bytes. Returns `.whole` if all requested bytes have arrived.
    func transfer(
        part start: Int64, inquiry: Inquiry, plan: AttemptPlan, claim: SegmentClaim? = nil
    ) async throws -> Outcome {
        let response = try await send(prepared(inquiry, plan), claim)
        if !request.acceptableStatuses.contains(response.status), ![206, 412, 416].contains(response.status) {
            return .refused(response)
        }
        do { return try await use(response, part: start, inquiry: inquiry, plan: plan, claim: claim) } catch let error
            as TransferError
            where error.code == .serverDigestMismatch
        {
            return .damaged(error)
        } catch {
            response.body.cancel()
            throw error
        }
    }

    private func prepared(_ inquiry: Inquiry, _ plan: AttemptPlan) -> Exchange {
        var exchange = exchange
        if let range = inquiry.range {
            exchange.http.headers[.range] = range.field
            if let validator = inquiry.known?.validator {
                exchange.http.headers.remove(.ifRange)
                exchange.http.headers = HTTPHeaders(exchange.http.headers + [validator.ifRange])
            }
        }
        // Without this field, the transport itself negotiates codings that it can decode.
        if plan.decodes { exchange.http.headers.remove(.acceptEncoding) }
        return exchange
    }

    private func use(
        _ response: HTTPResponse, part start: Int64, inquiry: Inquiry, plan: AttemptPlan, claim: SegmentClaim?
    ) async throws -> Outcome {
        switch Verdict(response, to: inquiry) {
        case .refused: return .refused(response)
        case .complete:
            file.end(at: file.plan.received)
            await exchange.discard(response)
        case .startOver(let reason, let ranges):
            await exchange.discard(response)
            return .startOver(reason, ranges: ranges)
        case .elsewhere:
            await exchange.discard(response)
            return .elsewhere(response.url)
        case .unusable(let reason): throw TransferError(.unusableResponse, reason)
        case .part(let end, let representation):
            if isUnwanted(response) { return .refused(response) }
            if let coding = try foreignCoding(response, plan) { return .coded(coding) }
            try accept(response, representation, isNew: inquiry.known == nil)
            let before = file.part(start)?.done
            do { try await receive(response, part: start, skipping: 0, upTo: end, claim) } catch let error
                as ErrandError
                where error.code == .invalidResponse
                || error.code == .transportFailed && file.part(start)?.done == before
            {
                // The body contradicts the response's head, so all of the response is ignored.
                response.body.cancel()
                return .startOver("the response's body contradicts its headers: \(error.message)", ranges: false)
            }
        case .whole(let representation, let isSame):
            if isUnwanted(response) { return .refused(response) }
            if plan.segments > 1, file.plan.parts.count > 1 {
                response.body.cancel()
                return .startOver("the server sent the whole file for one segment", ranges: isSame)
            }
            if let coding = try foreignCoding(response, plan) { return .coded(coding) }
            var representation = representation
            if plan.decodes { representation.validator = nil }
            try await receiveWhole(
                response, representation, isSame: isSame && !plan.decodes, inquiry: inquiry, decodes: plan.decodes)
        }
        return .whole(response)
    }

    /// Returns the content coding of the body if it wasn't requested. Returns nil if the body contains the file's own
    /// bytes. Throws if another request wouldn't help.
    private func foreignCoding(_ response: HTTPResponse, _ plan: AttemptPlan) throws -> String? {
        let coding = Representation.coding(response.headers)
        if coding.isEmpty { return nil }
        // If the file's name shows that the file is itself compressed, the file isn't decoded.
        let name = (destination.name ?? response.url.lastPathComponent).lowercased()
        let endings = ["gzip": [".gz", ".tgz"], "x-gzip": [".gz", ".tgz"], "br": [".br"], "zstd": [".zst", ".tzst"]]
        if endings[coding, default: []].contains(where: name.hasSuffix) { return nil }
        response.body.cancel()
        if plan.decodes || !isRepeatable {
            throw TransferError(
                .unsupportedContentCoding,
                "the server sends the file in the content coding \(coding), which the transport cannot decode")
        }
        return coding
    }

    /// Sends a request. If the download is paused, or another segment takes over the part, stops waiting for the
    /// response.
    private func send(_ exchange: Exchange, _ claim: SegmentClaim?) async throws -> HTTPResponse {
        let response = try await control.send(exchange, next, mayInterrupt: { isRepeatable }) { cancel in
            claim?.onInterrupt(cancel)
        }
        claim?.onInterrupt { response.body.cancel() }
        return response
    }
}

extension DownloadRun {
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
            // Only the length is new. The other properties stay, because they describe the bytes on disk.
            try file.learn(total: representation.total)
        }
        // A digest field covers the encoded bytes (RFC 9530, section 3). If the length is missing, the transport may
        // have decoded the bytes, so the digest isn't used.
        if !decodes || representation.total != nil {
            digest.expect(DigestField.sha256(response.headers[.reprDigest]))
        }
        let user = order.stamp
        if name != file.suggestedName || user != file.user {
            try file.change { record, _ in (record.name, record.user) = (name, user) }
        }
    }

    /// Receives the whole file, although the request may have asked for a range.
    func receiveWhole(
        _ response: HTTPResponse, _ representation: Representation, isSame: Bool, inquiry: Inquiry, decodes: Bool
    ) async throws {
        if isSame {
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

    /// Receives a body. Skips its first `skipping` bytes, and stops at `end`.
    func receive(
        _ response: HTTPResponse, part start: Int64, skipping: Int64, upTo end: Int64?, _ claim: SegmentClaim? = nil,
        decodes: Bool = false
    ) async throws {
        guard let first = file.part(start)?.next else { return response.body.cancel() }
        let isMeasured = end != nil || !decodes
        var received = ReceivedBody(
            skipping: skipping, length: end.map { $0 - first },
            maximumDecoded: isMeasured ? nil : options.maximumDecodedBytes,
            digest: isMeasured ? ContentDigestCheck(response) : nil)
        var flushing = Flushing(exchange.time.now)
        defer { file.count() }
        // If the request can't be repeated for the rest of the body, a pause doesn't end the request. It only stops
        // reading the body.
        let isResumable = isRepeatable && file.representation?.validator != nil
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
                    let index = first + received.count
                    guard let chunk = try received.take(chunk) else { continue }
                    let count = try file.write(chunk, part: start)
                    digest.update(chunk.prefix(count), at: index)
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
        try received.checkLength(of: response)
        if end == nil { file.end(at: first + received.count) }
        try received.digest?.check()
    }
}

/// Checks the length of a body while it arrives. Skips the bytes that the file already has.
private struct ReceivedBody {
    private(set) var digest: ContentDigestCheck?
    /// The number of bytes after the skipped bytes.
    private(set) var count: Int64 = 0
    private var skip: Int64
    private let length: Int64?
    private let maximumDecoded: Int64?

    init(skipping skip: Int64, length: Int64?, maximumDecoded: Int64?, digest: ContentDigestCheck?) {
        (self.skip, self.length, self.maximumDecoded, self.digest) = (skip, length, maximumDecoded, digest)
    }

    /// Returns the bytes to write, or nil if all bytes of the chunk are skipped.
    mutating func take(_ chunk: Data) throws -> Data? {
        var chunk = chunk
        digest?.update(chunk)
        if skip > 0 {
            let skipped = min(skip, Int64(chunk.count))
            skip -= skipped
            chunk = chunk.dropFirst(Int(skipped))
            if chunk.isEmpty { return nil }
        }
        count += Int64(chunk.count)
        if let length, count > length {
            throw ErrandError(.invalidResponse, "received more than the \(length) bytes that were announced")
        }
        if let maximumDecoded, count > maximumDecoded {
            throw TransferError(
                .tooLarge, "the decoded file is larger than maximumDecodedBytes (\(maximumDecoded) bytes)")
        }
        return chunk
    }

    func checkLength(of response: HTTPResponse) throws {
        if let length, count < length {
            throw ErrandError(
                .truncated, "received \(count) bytes, but \(length) bytes were announced", response: response)
        }
        if skip > 0 {
            throw ErrandError(
                .truncated, "the response's body is \(skip) bytes shorter than the partial file on disk",
                response: response)
        }
    }
}

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

extension DownloadRun {
    @concurrent func finish(_ response: HTTPResponse) async throws -> HTTPResponse {
        let total = file.plan.received
        meter.set(.verifying)
        try file.check(size: total)
        try digest.check(file, total: total)
        try Task.checkCancellation()
        var complete = response
        // Joined parts are equivalent to the body of a 200 response (RFC 9111, section 3.4), so the status is 200
        // unless it was 203.
        complete.status = response.status == 203 ? 203 : 200
        complete.headers.remove(.contentRange)
        complete.headers[.contentLength] = "\(total)"
        complete.body = HTTPBody(file: URL(filePath: file.path), length: total)
        do { try await exchange.judge(complete) } catch {
            // The file is removed, because the check would reject the same bytes again. It stays if the check was
            // cancelled.
            if !error.isCancellation, !Task.isCancelled { file.remove() }
            throw error
        }
        try file.flush()
        try Task.checkCancellation()
        let path = try moveToDestination()
        meter.end(at: total)
        complete.body = HTTPBody(file: URL(filePath: path), length: total)
        return complete
    }

    private func moveToDestination() throws -> String {
        if let name = destination.name {
            let path = destination.path(of: name)
            try file.finish(replacing: path)
            return path
        }
        // The name is cleaned again, because in a shared directory other users can write to the sidecar.
        let name = file.suggestedName.flatMap(SafeFileName.clean) ?? "download"
        if options.nameCollisionPolicy == .replace {
            try file.finish(replacing: destination.path(of: name))
            return destination.path(of: name)
        }
        for number in 1...10_000 {
            let path = destination.path(of: number == 1 ? name : SafeFileName.numbered(name, number))
            if try file.finish(ifFree: path) { return path }
        }
        throw TransferError(
            .fileFailed,
            "\(destination.path(of: name)) cannot be created: 10,000 files with this name and a number exist")
    }
}
