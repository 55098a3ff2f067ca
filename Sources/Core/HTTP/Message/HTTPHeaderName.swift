import ErrandMessageSyntax
import ErrandSupport

/// The name of a header field. Names compare case-insensitively and are sent as written (RFC 9110, section 5.1).
public struct HTTPHeaderName: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name with its original case.
    public let rawName: String

    /// Creates a name. Sending a request checks it.
    public init(_ rawName: String) { self.rawName = rawName }
    /// Creates a name from a literal. Sending a request checks it.
    public init(stringLiteral value: String) { self.init(value) }

    // These properties test every header of every message. The length alone rules out almost all names.

    var isFraming: Bool {
        switch rawName.utf8.count {
        case 14: self == .contentLength
        case 17: self == .transferEncoding
        default: false
        }
    }

    /// Whether the name consists of one or more token characters.
    public var isValid: Bool {
        rawName.withSpan { bytes in
            for index in bytes.indices {
                let byte = bytes[index]
                // Most names consist of letters and hyphens.
                if 0x61...0x7A ~= byte | 0x20 || byte == UInt8(ascii: "-") { continue }
                if !ASCII.isToken(byte) { return false }
            }
            return !bytes.isEmpty
        }
    }

    /// Whether headers of this name always hold secrets, as credentials and cookies do.
    public var isSensitive: Bool {
        switch rawName.utf8.count {
        case 6: self == .cookie
        case 10: self == .setCookie
        case 13: self == .authorization
        case 19: self == .proxyAuthorization
        default: false
        }
    }

    /// Compares two names, ignoring case.
    public static func == (a: HTTPHeaderName, b: HTTPHeaderName) -> Bool {
        a.rawName.utf8.count == b.rawName.utf8.count && a.hasSameLetters(as: b)
    }

    @inline(never) func hasSameLetters(as other: HTTPHeaderName) -> Bool {
        rawName.withSpan { mine in other.rawName.withSpan { ASCII.equalsIgnoringCase(mine, $0) } }
    }

    /// Hashes the lowercase name.
    public func hash(into hasher: inout Hasher) {
        // Eight bytes at a time, because a call of `combine` costs more than processing a byte.
        let (last, count) = rawName.withSpan { bytes in
            var word: UInt64 = 0
            for index in bytes.indices {
                word = word << 8 | UInt64(ASCII.lowercase(bytes[index]))
                if index & 7 == 7 { hasher.combine(word) }
            }
            return (word, bytes.count)
        }
        hasher.combine(last)
        hasher.combine(count)
    }

    /// The name with its original case.
    public var description: String { rawName }
}

// Computed, so the compiler emits each name inline, without a lazy initializer.

// MARK: RFC 9110, HTTP Semantics

extension HTTPHeaderName {
    /// The media types that the client accepts (RFC 9110, section 12.5.1).
    public static var accept: HTTPHeaderName { "Accept" }
    /// The content codings that the client accepts (RFC 9110, section 12.5.3).
    public static var acceptEncoding: HTTPHeaderName { "Accept-Encoding" }
    /// The languages that the user prefers (RFC 9110, section 12.5.4).
    public static var acceptLanguage: HTTPHeaderName { "Accept-Language" }
    /// Whether the server supports range requests (RFC 9110, section 14.3).
    public static var acceptRanges: HTTPHeaderName { "Accept-Ranges" }
    /// The methods that the resource supports (RFC 9110, section 10.2.1).
    public static var allow: HTTPHeaderName { "Allow" }
    /// The client's credentials (RFC 9110, section 11.6.2). Sensitive.
    public static var authorization: HTTPHeaderName { "Authorization" }
    /// Options for this connection only (RFC 9110, section 7.6.1).
    public static var connection: HTTPHeaderName { "Connection" }
    /// The content codings of the body, such as gzip (RFC 9110, section 8.4).
    public static var contentEncoding: HTTPHeaderName { "Content-Encoding" }
    /// The language of the content (RFC 9110, section 8.5).
    public static var contentLanguage: HTTPHeaderName { "Content-Language" }
    /// The number of bytes in the body (RFC 9110, section 8.6). The transport sets it.
    public static var contentLength: HTTPHeaderName { "Content-Length" }
    /// A URL that identifies the content (RFC 9110, section 8.7).
    public static var contentLocation: HTTPHeaderName { "Content-Location" }
    /// Which bytes of the whole the body contains (RFC 9110, section 14.4).
    public static var contentRange: HTTPHeaderName { "Content-Range" }
    /// The media type of the body (RFC 9110, section 8.3).
    public static var contentType: HTTPHeaderName { "Content-Type" }
    /// When the message was created (RFC 9110, section 6.6.1).
    public static var date: HTTPHeaderName { "Date" }
    /// The `ETag`, which identifies a version of the resource (RFC 9110, section 8.8.3).
    public static var entityTag: HTTPHeaderName { "ETag" }
    /// Behavior that the server must support, such as 100-continue (RFC 9110, section 10.1.1).
    public static var expect: HTTPHeaderName { "Expect" }
    /// The host and port of the URL (RFC 9110, section 7.2). The transport sets it unless the request does.
    public static var host: HTTPHeaderName { "Host" }
    /// Sends the request only for these versions of the resource (RFC 9110, section 13.1.1).
    public static var ifMatch: HTTPHeaderName { "If-Match" }
    /// Asks for the resource only if it changed after a date (RFC 9110, section 13.1.3).
    public static var ifModifiedSince: HTTPHeaderName { "If-Modified-Since" }
    /// Asks for the resource only if its version differs from these versions (RFC 9110, section 13.1.2).
    public static var ifNoneMatch: HTTPHeaderName { "If-None-Match" }
    /// Asks for a range only if the resource's version is unchanged (RFC 9110, section 13.1.5).
    public static var ifRange: HTTPHeaderName { "If-Range" }
    /// Sends the request only if the resource did not change after a date (RFC 9110, section 13.1.4).
    public static var ifUnmodifiedSince: HTTPHeaderName { "If-Unmodified-Since" }
    /// When the resource last changed (RFC 9110, section 8.8.2).
    public static var lastModified: HTTPHeaderName { "Last-Modified" }
    /// The URL of a redirect or of a new resource (RFC 9110, section 10.2.2).
    public static var location: HTTPHeaderName { "Location" }
    /// The credentials that a proxy asks for (RFC 9110, section 11.7.1).
    public static var proxyAuthenticate: HTTPHeaderName { "Proxy-Authenticate" }
    /// Information about the authentication at a proxy (RFC 9110, section 11.7.3).
    public static var proxyAuthenticationInfo: HTTPHeaderName { "Proxy-Authentication-Info" }
    /// The credentials for a proxy (RFC 9110, section 11.7.2). Sensitive.
    public static var proxyAuthorization: HTTPHeaderName { "Proxy-Authorization" }
    /// The bytes that the client asks for (RFC 9110, section 14.2).
    public static var range: HTTPHeaderName { "Range" }
    /// How long to wait before the next request (RFC 9110, section 10.2.3).
    public static var retryAfter: HTTPHeaderName { "Retry-After" }
    /// The server's software (RFC 9110, section 10.2.4).
    public static var server: HTTPHeaderName { "Server" }
    /// The transfer codings that the client accepts (RFC 9110, section 10.1.4).
    public static var te: HTTPHeaderName { "TE" }
    /// The names of the fields after the body (RFC 9110, section 6.6.2).
    public static var trailer: HTTPHeaderName { "Trailer" }
    /// The protocols to switch to (RFC 9110, section 7.8).
    public static var upgrade: HTTPHeaderName { "Upgrade" }
    /// The client's software (RFC 9110, section 10.1.5).
    public static var userAgent: HTTPHeaderName { "User-Agent" }
    /// The request fields that the response depends on (RFC 9110, section 12.5.5).
    public static var vary: HTTPHeaderName { "Vary" }
    /// The proxies between client and server (RFC 9110, section 7.6.3).
    public static var via: HTTPHeaderName { "Via" }
    /// The credentials that the server asks for (RFC 9110, section 11.6.1).
    public static var wwwAuthenticate: HTTPHeaderName { "WWW-Authenticate" }
}

// MARK: RFC 9111, HTTP Caching

extension HTTPHeaderName {
    /// How many seconds a response was in a cache (RFC 9111, section 5.1).
    public static var age: HTTPHeaderName { "Age" }
    /// Directives for caches (RFC 9111, section 5.2).
    public static var cacheControl: HTTPHeaderName { "Cache-Control" }
    /// When the response becomes stale (RFC 9111, section 5.3).
    public static var expires: HTTPHeaderName { "Expires" }
    /// An obsolete directive for HTTP/1.0 caches (RFC 9111, section 5.4).
    public static var pragma: HTTPHeaderName { "Pragma" }
    /// Obsolete warnings about a stored response (RFC 9111, section 5.5).
    public static var warning: HTTPHeaderName { "Warning" }
}

// MARK: RFC 9112, HTTP/1.1

extension HTTPHeaderName {
    /// How the body is framed, such as in chunks (RFC 9112, section 6.1). The transport sets it.
    public static var transferEncoding: HTTPHeaderName { "Transfer-Encoding" }
}

// MARK: RFC 6265, HTTP State Management

extension HTTPHeaderName {
    /// The cookies that the client sends back (RFC 6265, section 4.2). Sensitive.
    public static var cookie: HTTPHeaderName { "Cookie" }
    /// A cookie that the client should keep (RFC 6265, section 4.1). Sensitive.
    public static var setCookie: HTTPHeaderName { "Set-Cookie" }
}

// MARK: RFC 6455, the WebSocket Protocol

extension HTTPHeaderName {
    /// The server's proof that it understood the handshake (RFC 6455, section 11.3.3).
    public static var secWebSocketAccept: HTTPHeaderName { "Sec-WebSocket-Accept" }
    /// The extensions of a WebSocket (RFC 6455, section 11.3.2).
    public static var secWebSocketExtensions: HTTPHeaderName { "Sec-WebSocket-Extensions" }
    /// The client's random value for the handshake (RFC 6455, section 11.3.1).
    public static var secWebSocketKey: HTTPHeaderName { "Sec-WebSocket-Key" }
    /// The subprotocol of a WebSocket (RFC 6455, section 11.3.4).
    public static var secWebSocketProtocol: HTTPHeaderName { "Sec-WebSocket-Protocol" }
    /// The version of the WebSocket protocol (RFC 6455, section 11.3.5).
    public static var secWebSocketVersion: HTTPHeaderName { "Sec-WebSocket-Version" }
}

// MARK: RFC 7838, HTTP Alternative Services

extension HTTPHeaderName {
    /// Other servers and protocols for the same origin (RFC 7838, section 3).
    public static var altSvc: HTTPHeaderName { "Alt-Svc" }
}

// MARK: Other documents

extension HTTPHeaderName {
    /// A digest of the bytes in the body (RFC 9530, section 2).
    public static var contentDigest: HTTPHeaderName { "Content-Digest" }
    /// Whether to show or save the content, and its file name (RFC 6266, section 4).
    public static var contentDisposition: HTTPHeaderName { "Content-Disposition" }
    /// A key by which the server recognizes a repeated request (draft-ietf-httpapi-idempotency-key-header).
    public static var idempotencyKey: HTTPHeaderName { "Idempotency-Key" }
    /// The last event that the client received (HTML standard, section 9.2.4).
    public static var lastEventID: HTTPHeaderName { "Last-Event-ID" }
    /// Related resources, such as the next page (RFC 8288, section 3).
    public static var link: HTTPHeaderName { "Link" }
    /// How many requests are left (draft-ietf-httpapi-ratelimit-headers, section 4).
    public static var rateLimit: HTTPHeaderName { "RateLimit" }
    /// The server's request quotas (draft-ietf-httpapi-ratelimit-headers, section 3).
    public static var rateLimitPolicy: HTTPHeaderName { "RateLimit-Policy" }
    /// A digest of the whole resource (RFC 9530, section 3).
    public static var reprDigest: HTTPHeaderName { "Repr-Digest" }
    /// The digests that the client asks for (RFC 9530, section 4).
    public static var wantReprDigest: HTTPHeaderName { "Want-Repr-Digest" }
}
