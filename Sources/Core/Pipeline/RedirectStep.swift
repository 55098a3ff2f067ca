import ErrandHTTP
import ErrandSupport
import ErrandHTTPSyntax

/// Follows redirects (RFC 9110, section 15.4): sends hop after hop until a response is none, or not one to
/// follow. Counts an attempt each time a call filter calls `next`.
struct RedirectStep: CoreStep {
    var explanation: String { "redirects" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let policy = exchange.request.redirects ?? exchange.settings.configuration.redirects
        var exchange = firstHop(of: exchange)
        while true {
            let response = try await next(exchange)
            guard policy.maximumHops > 0, let target = try redirect(response, from: exchange.http, policy) else {
                return response
            }
            exchange = try await follow(response, to: target, exchange, policy)
        }
    }

    /// The exchange of an attempt. Not in line, where it would enlarge the frame that lives as long as the request.
    @inline(never) private func firstHop(of exchange: Exchange) -> Exchange {
        var first = exchange
        (first.attempt, first.hop, first.stage) = (exchange.activity.countAttempt(), 1, .hop)
        return first
    }

    /// The exchange of the next hop.
    @inline(never) private func follow(
        _ response: HTTPResponse, to target: HTTPRequest, _ exchange: Exchange, _ policy: RedirectPolicy
    ) async throws -> Exchange {
        guard exchange.hop <= policy.maximumHops else {
            response.body.cancel()
            throw ErrandError(.redirect, "more than \(policy.maximumHops) redirects", response: response)
        }
        await finish(response.body, exchange)
        exchange.activity.notify(.redirected(response.withoutStream, to: target))
        let isSameOrigin = URLSyntax.origin(of: exchange.http.url) == URLSyntax.origin(of: target.url)
        var following = exchange
        (following.http, following.hop) = (target, exchange.hop + 1)
        if !isSameOrigin { following.trust = OriginTrust(isTrusted: exchange.settings.trusts(target.url)) }
        return following
    }

    /// The request that a response redirects to; nil if it is no redirect (RFC 9110, section 15.4).
    @inline(never) private func redirect(
        _ response: HTTPResponse, from request: HTTPRequest, _ policy: RedirectPolicy
    ) throws -> HTTPRequest? {
        guard 301...303 ~= response.status || 307...308 ~= response.status,
            let location = response.headers.values(of: .location).first
        else { return nil }
        var next = request
        do { next.url = try Location.resolve(location, from: request.url) } catch {
            throw ErrandError(.redirect, error.description, response: response)
        }
        if request.url.scheme?.lowercased() == "https", next.url.scheme?.lowercased() == "http", !policy.allowsInsecure
        {
            throw ErrandError(
                .redirect, "a redirect from https to \(URLSyntax.quoted(next.url.absoluteString)) is not followed",
                response: response)
        }
        let becomesGet =
            response.status == 303 && request.method != .head && request.method != .get
            || response.status <= 302 && request.method == .post
        if becomesGet {
            next.method = .get
            next.body = .none
            next.headers.removeAll { Self.describesBody.contains($0.name) }
        } else if !request.body.isReplayable {
            throw ErrandError(
                .bodyNotReplayable, "a \(response.status) redirect asks for the body again", response: response)
        }
        if URLSyntax.origin(of: request.url) != URLSyntax.origin(of: next.url) {
            next.headers.removeAll { $0.isSensitive || $0.name == .host }
        }
        return next
    }

    /// A short rest of a body is read so that its connection can be used again; one that is long, or slow, is cancelled.
    private func finish(_ body: HTTPBody, _ exchange: Exchange) async {
        if body.data == nil, let length = body.length, length <= 64 << 10 {
            let rest = BodyAllowance(bytes: 64 << 10 + 1, timeout: exchange.timeout, time: exchange.time)
            _ = await body.prefix(within: rest)
        }
        body.cancel()
    }

    private static let describesBody: Set<HTTPHeaderName> = [
        .contentType, .contentLength, .contentEncoding, .transferEncoding, "Content-Language", "Content-Location",
        "Digest", "Content-Digest", "Repr-Digest", "Expect",
    ]
}
