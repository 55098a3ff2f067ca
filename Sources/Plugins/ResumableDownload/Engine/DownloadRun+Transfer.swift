import Errand
import ErrandEssentials
import ErrandTransfers

extension DownloadRun {
    /// Sends one request and receives its body. `.whole` means that all requested bytes have arrived.
    func transfer(
        part start: Int64, _ inquiry: Inquiry, _ plan: AttemptPlan, _ claim: SegmentClaim? = nil
    ) async throws -> Outcome {
        let response = try await send(prepared(inquiry, plan), claim)
        if !request.acceptableStatuses.contains(response.status), ![206, 412, 416].contains(response.status) {
            return .refused(response)
        }
        do { return try await use(response, part: start, inquiry, plan, claim) } catch let error as TransferError
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
        // Without this field, the transport negotiates codings that it can decode.
        if plan.decodes { exchange.http.headers.remove(.acceptEncoding) }
        return exchange
    }

    private func use(
        _ response: HTTPResponse, part start: Int64, _ inquiry: Inquiry, _ plan: AttemptPlan, _ claim: SegmentClaim?
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
                // The body contradicts its head, so don't trust any of it.
                response.body.cancel()
                return .startOver("the part contradicts its headers: \(error.message)", ranges: false)
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
            try await receiveWhole(response, representation, isSame && !plan.decodes, inquiry, decodes: plan.decodes)
        }
        return .whole(response)
    }

    /// Returns an unrequested content coding of the response, or `nil` for the file's own bytes. Throws if another
    /// request wouldn't help.
    private func foreignCoding(_ response: HTTPResponse, _ plan: AttemptPlan) throws -> String? {
        let coding = Representation.coding(response.headers)
        if coding.isEmpty { return nil }
        // The file itself is compressed, and isn't decoded.
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

    /// Waits for a response's head. A pause, or a takeover by another segment, ends the wait.
    private func send(_ exchange: Exchange, _ claim: SegmentClaim?) async throws -> HTTPResponse {
        let response = try await control.send(exchange, next, mayInterrupt: { isRepeatable }) { cancel in
            claim?.onInterrupt(cancel)
        }
        claim?.onInterrupt { response.body.cancel() }
        return response
    }
}
