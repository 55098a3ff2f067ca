import Errand
import ErrandEssentials

/// Adds a proof to each attempt and each redirect that carries a DPoP token. If the server asks for a nonce, or refuses
/// a proof's date, the filter sends the request once more (RFC 9449, section 9).
struct DPoPFilter: Filter {
    let dpop: DPoP

    var stages: FilterStages { .wire }
    var traits: FilterTraits { .repeatsHops }
    var explanation: String { "adds a proof to requests with a DPoP token" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let scheme = "DPoP "
        guard let field = exchange.http.headers[.authorization], field.hasPrefix(scheme) else {
            return try await next(exchange)
        }
        let token = String(field.dropFirst(scheme.count))
        let (stagedWork, url) = (exchange.stagedWorkCount, exchange.http.url)
        let signedAt = dpop.clocks.date(of: url, now: exchange.time.date)
        let response = try await send(exchange, with: token, to: next)
        guard response.status == 401, !response.source.isStored, exchange.http.body.isReplayable,
            maySendAgain(after: response, to: url, signedAt, now: exchange.time.date)
        else { return response }
        exchange.note("dpop", "sent again with another proof, as the server asked")
        await exchange.discard(response)
        await exchange.discardStagedWork(after: stagedWork)
        return try await send(exchange, with: token, to: next)
    }

    private func send(_ exchange: Exchange, with token: String, to next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        let proof = try await dpop.proof(for: exchange.http, token: token, at: exchange.time.date, by: .resource)
        // The proof differs in each request, so it isn't marked as a secret of the user. Logs mask the field like all
        // unknown fields.
        exchange.http.headers.set(.dpop, proof)
        let response = try await next(exchange)
        dpop.learn(from: response, at: .resource)
        return response
    }

    /// The error is searched for in the text without parsing it. At worst, a wrong match sends one more request.
    private func maySendAgain(after response: HTTPResponse, to url: URL, _ signedAt: Date, now: Date) -> Bool {
        let challenge = response.headers.values(of: .wwwAuthenticate).joined(separator: ",")
        if challenge.contains("use_dpop_nonce") { return dpop.offersNonce(response) }
        guard challenge.contains("invalid_dpop_proof") else { return false }
        return dpop.clocks.learn(from: response, to: url, signedAt: signedAt, now: now)
    }
}
