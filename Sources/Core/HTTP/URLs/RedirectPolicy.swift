public import ErrandEssentials
public import ErrandMessageSyntax

/// Which redirects a request follows.
public struct RedirectPolicy: Sendable, Hashable {
    /// The maximum number of redirects, at most 1,000. If a server sends more, the call throws
    /// ``ErrandError/Code/redirectFailed``. With 0, redirects aren't followed, and the 3xx is the final response.
    /// Defaults to 20.
    public var maximumHops: Int
    /// Whether https may redirect to http, or link to it with a "next" link. Defaults to false: such a redirect or link
    /// throws ``ErrandError/Code/redirectFailed``.
    public var allowsInsecure: Bool

    /// Creates a policy.
    public init(maximumHops: Int = 20, allowsInsecure: Bool = false) {
        self.maximumHops = maximumHops
        self.allowsInsecure = allowsInsecure
    }

    /// Follows up to 20 redirects, never from https to http.
    public static let standard = RedirectPolicy()
    /// Doesn't follow redirects, so a 3xx is the final response.
    public static let off = RedirectPolicy(maximumHops: 0)
}

extension RedirectPolicy {
    /// Whether a server may lead from one URL to another, by a redirect or a link. Returns false for https to http,
    /// unless the policy allows that.
    package func allowsMove(from source: URL, to target: URL) -> Bool {
        allowsInsecure || source.scheme?.lowercased() != "https" || target.scheme?.lowercased() != "http"
    }

    /// Returns the request that follows a redirect, or nil if no redirect is followed (RFC 9110, section 15.4).
    package func target(of response: HTTPResponse, to request: HTTPRequest) throws -> HTTPRequest? {
        guard maximumHops > 0, 301...303 ~= response.status || 307...308 ~= response.status,
            let location = response.headers.first(of: .location)
        else { return nil }
        var next = request
        do { next.url = try Location.resolve(location, from: request.url) } catch {
            throw ErrandError(.redirectFailed, error.description, response: response)
        }
        if !allowsMove(from: request.url, to: next.url) {
            throw ErrandError(
                .redirectFailed,
                "the redirect policy doesn't allow a redirect from https to \(URLSyntax.quoted(next.url.absoluteString))",
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
                .bodyNotReplayable,
                "the \(response.status) redirect needs the body again, but the body can be read only once",
                response: response)
        }
        if URLSyntax.origin(of: request.url) != URLSyntax.origin(of: next.url) {
            next.headers.removeAll { $0.isSensitive || $0.name == .host }
        }
        return next
    }

    private static let describesBody: Set<HTTPHeaderName> = [
        .contentType, .contentLength, .contentEncoding, .contentRange, .transferEncoding, .contentLanguage,
        .contentLocation, "Digest", .contentDigest, .reprDigest, .expect,
    ]
}

package enum Location {
    /// Returns the URL of a redirect (RFC 9110, section 10.2.2). If the `Location` has no fragment, the result has the
    /// fragment of the response's URL.
    package static func resolve(_ field: HTTPHeaders.Field, from url: URL) throws(URLSyntax.Fault) -> URL {
        // Browsers don't follow an empty `Location` either.
        if field.value.isEmpty { throw URLSyntax.Fault(description: "the Location header is empty") }
        do { return try field.reference.redirectURL(from: url) } catch {
            throw URLSyntax.Fault(
                description: "the Location \(URLSyntax.quoted(field.value)) can't be requested: \(error.description)")
        }
    }
}

extension HTTPHeaders {
    package func first(of name: HTTPHeaderName) -> Field? { first { $0.name == name } }
}

extension HTTPHeaders.Field {
    /// The field's value as a URL reference, with the original bytes from the wire.
    public var reference: URLReference { URLReference(value, isLatin1: isLatin1) }
}

extension HTTPResponse {
    /// The absolute URL in the first `Location` (RFC 9110, section 10.2.2), without credentials. `nil` if it's missing
    /// or can't be requested.
    public var location: URL? { headers.first(of: .location).flatMap { try? Location.resolve($0, from: url) } }
}
