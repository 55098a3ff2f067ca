import Errand
import ErrandEssentials

/// Adds a proof to each request on the wire that carries a DPoP token, each attempt and each hop again.
///
/// If a server asks for a nonce, or refuses a proof whose date differs from the server's, the request is sent once more
/// (RFC 9449, section 9).
struct DPoPFilter: Filter {
    let dpop: DPoP

    var stages: FilterStages { .wire }
    var traits: FilterTraits { .repeatsHops }
    var explanation: String { "adds a proof for a DPoP token" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let scheme = "DPoP "
        guard let field = exchange.http.headers[.authorization], field.hasPrefix(scheme) else {
            return try await next(exchange)
        }
        let token = String(field.dropFirst(scheme.count))
        let (stagedWork, url) = (exchange.stagedWorkCount, exchange.http.url)
        let response = try await send(exchange, token, next)
        guard response.status == 401, !response.source.isStored, exchange.http.body.isReplayable,
            maySendAgain(after: response, to: url, at: exchange.time.date)
        else { return response }
        exchange.note("dpop", "the server asked for another proof")
        await exchange.discard(response)
        await exchange.discardStagedWork(after: stagedWork)
        return try await send(exchange, token, next)
    }

    private func send(_ exchange: Exchange, _ token: String, _ next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        let proof = try await dpop.proof(for: exchange.http, token: token, at: exchange.time.date, by: .resource)
        // Masked like every field that isn't on the list of shown ones. Not marked as a user's secret, because it
        // differs in each request of the same user.
        exchange.http.headers.set(.dpop, proof)
        let response = try await next(exchange)
        dpop.learn(from: response, at: .resource)
        return response
    }

    /// Whether a refusal asks for another proof. The text is searched and not parsed, because at worst one more request
    /// is sent.
    private func maySendAgain(after response: HTTPResponse, to url: URL, at now: Date) -> Bool {
        let challenge = response.headers.values(of: .wwwAuthenticate).joined(separator: ",")
        if challenge.contains("use_dpop_nonce") { return dpop.offersNonce(response) }
        guard challenge.contains("invalid_dpop_proof") else { return false }
        // The time that a response takes isn't a difference of clocks, so the proof's date counts as of now.
        let signedAt = dpop.clocks.date(of: url, now: now)
        return dpop.clocks.learn(from: response, to: url, signedAt: signedAt, now: now)
    }
}
