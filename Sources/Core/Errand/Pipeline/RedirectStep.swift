import ErrandHTTP
import ErrandMessageSyntax

/// Follows redirects (RFC 9110, section 15.4). Counts an attempt each time a call filter calls `next`.
struct RedirectStep: CoreStep {
    /// The limit per attempt of redirects that are followed, whatever the policy allows.
    private static let upperLimit = 1000

    var explanation: String { "redirects" }

    @inline(__always) func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = firstHop(of: exchange)
        do {
            while true {
                let response = try await next(exchange)
                guard let target = try target(of: response, exchange) else { return response }
                exchange = try await follow(response, to: target, exchange)
            }
        } catch { throw named(error, exchange) }
    }

    /// Adds the last request to an error, because a call filter knows only the first request.
    @inline(never) private func named(_ error: any Error, _ exchange: Exchange) -> any Error {
        guard exchange.hop > 1, var known = error as? ErrandError, known.request == nil else { return error }
        let sent = exchange.activity.ledger.lastSent
        known.request = sent?.url == exchange.http.url ? sent : exchange.http
        return known
    }

    private func policy(_ exchange: Exchange) -> RedirectPolicy {
        exchange.settings.redirects(of: exchange.request)
    }

    /// Kept out of line, like the methods below. Inlining would enlarge an async frame that lives as long as the
    /// request.
    @inline(never) private func target(of response: HTTPResponse, _ exchange: Exchange) throws -> HTTPRequest? {
        try policy(exchange).target(of: response, to: exchange.http)
    }

    @inline(never) private func firstHop(of exchange: Exchange) -> Exchange {
        var first = exchange
        (first.attempt, first.hop, first.stage) = (exchange.activity.ledger.countAttempt(), 1, .hop)
        return first
    }

    @inline(never) private func follow(
        _ response: HTTPResponse, to target: HTTPRequest, _ exchange: Exchange
    ) async throws -> Exchange {
        let limit = min(policy(exchange).maximumHops, Self.upperLimit)
        guard exchange.hop <= limit else {
            response.body.cancel()
            throw ErrandError(
                .redirectFailed, "the request was redirected more than \(limit) times", response: response)
        }
        await exchange.discard(response)
        exchange.activity.notify(.redirected(response.withoutStream, to: target))
        let isSameOrigin = URLSyntax.origin(of: exchange.http.url) == URLSyntax.origin(of: target.url)
        var following = exchange
        following.http = target
        following.markOriginChecked()
        following.hop += 1
        if !isSameOrigin {
            (following.trust, following.users) = (OriginTrust(isTrusted: exchange.settings.trusts(target.url)), nil)
        }
        return following
    }
}
