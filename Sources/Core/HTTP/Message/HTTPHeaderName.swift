import ErrandMessageSyntax
import ErrandSupport

/// The name of a header field. Names compare case-insensitively and are sent as written (RFC 9110, section 5.1).
public struct HTTPHeaderName: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name as written.
    public let rawName: String

    /// Creates a name, which is checked when a request is sent.
    public init(_ rawName: String) { self.rawName = rawName }
    /// Creates a name from a literal.
    public init(stringLiteral value: String) { self.init(value) }

    // The next two properties test every header of every message. The length alone rules out almost all names.

    /// Whether the name is `Content-Length` or `Transfer-Encoding`.
    var isFraming: Bool {
        switch rawName.utf8.count {
        case 14: self == .contentLength
        case 17: self == .transferEncoding
        default: false
        }
    }

    /// Whether the name is valid: one or more token characters.
    public var isValid: Bool {
        rawName.withSpan { bytes in
            for index in bytes.indices {
                let byte = bytes[index]
                // Fast path without a call: most names contain only these bytes.
                if 0x61...0x7A ~= byte | 0x20 || byte == UInt8(ascii: "-") { continue }
                if !ASCII.isToken(byte) { return false }
            }
            return !bytes.isEmpty
        }
    }

    /// Whether headers of this name always hold secrets: credentials and cookies.
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
        a.rawName.utf8.count == b.rawName.utf8.count && a.ending == b.ending
            && ASCII.equalsIgnoringCase(a.rawName, b.rawName)
    }

    /// The last byte, with the case bit set. It tells most names of equal length apart.
    private var ending: UInt8 { (rawName.utf8.last ?? 0) | 0x20 }

    /// Hashes the lowercase name.
    public func hash(into hasher: inout Hasher) {
        // Eight bytes at a time, because each combination costs more than a byte.
        let (last, count) = rawName.withSpan { bytes in
            var word: UInt64 = 0
            for index in bytes.indices {
                word = word << 8 | UInt64(ASCII.lowercase(bytes[index]))
                if index % 8 == 7 { hasher.combine(word) }
            }
            return (word, bytes.count)
        }
        hasher.combine(last)
        hasher.combine(count)
    }

    /// The name as written.
    public var description: String { rawName }
}

// The header names that Errand's modules use. They are computed to avoid lazy initializers and memory: each name is two
// words that the compiler emits inline.

// MARK: RFC 9110, HTTP Semantics

extension HTTPHeaderName {
    /// RFC 9110, section 12.5.1.
    public static var accept: HTTPHeaderName { "Accept" }
    /// RFC 9110, section 12.5.3.
    public static var acceptEncoding: HTTPHeaderName { "Accept-Encoding" }
    /// RFC 9110, section 12.5.4.
    public static var acceptLanguage: HTTPHeaderName { "Accept-Language" }
    /// RFC 9110, section 14.3.
    public static var acceptRanges: HTTPHeaderName { "Accept-Ranges" }
    /// RFC 9110, section 10.2.1.
    public static var allow: HTTPHeaderName { "Allow" }
    /// RFC 9110, section 11.6.2; sensitive.
    public static var authorization: HTTPHeaderName { "Authorization" }
    /// RFC 9110, section 7.6.1.
    public static var connection: HTTPHeaderName { "Connection" }
    /// RFC 9110, section 8.4.
    public static var contentEncoding: HTTPHeaderName { "Content-Encoding" }
    /// RFC 9110, section 8.5.
    public static var contentLanguage: HTTPHeaderName { "Content-Language" }
    /// RFC 9110, section 8.6; the transport sets it.
    public static var contentLength: HTTPHeaderName { "Content-Length" }
    /// RFC 9110, section 8.7.
    public static var contentLocation: HTTPHeaderName { "Content-Location" }
    /// RFC 9110, section 14.4.
    public static var contentRange: HTTPHeaderName { "Content-Range" }
    /// RFC 9110, section 8.3.
    public static var contentType: HTTPHeaderName { "Content-Type" }
    /// RFC 9110, section 6.6.1.
    public static var date: HTTPHeaderName { "Date" }
    /// RFC 9110, section 8.8.3.
    public static var entityTag: HTTPHeaderName { "ETag" }
    /// RFC 9110, section 10.1.1.
    public static var expect: HTTPHeaderName { "Expect" }
    /// RFC 9110, section 7.2; the transport sets it unless a request does.
    public static var host: HTTPHeaderName { "Host" }
    /// RFC 9110, section 13.1.1.
    public static var ifMatch: HTTPHeaderName { "If-Match" }
    /// RFC 9110, section 13.1.3.
    public static var ifModifiedSince: HTTPHeaderName { "If-Modified-Since" }
    /// RFC 9110, section 13.1.2.
    public static var ifNoneMatch: HTTPHeaderName { "If-None-Match" }
    /// RFC 9110, section 13.1.5.
    public static var ifRange: HTTPHeaderName { "If-Range" }
    /// RFC 9110, section 13.1.4.
    public static var ifUnmodifiedSince: HTTPHeaderName { "If-Unmodified-Since" }
    /// RFC 9110, section 8.8.2.
    public static var lastModified: HTTPHeaderName { "Last-Modified" }
    /// RFC 9110, section 10.2.2.
    public static var location: HTTPHeaderName { "Location" }
    /// RFC 9110, section 11.7.1.
    public static var proxyAuthenticate: HTTPHeaderName { "Proxy-Authenticate" }
    /// RFC 9110, section 11.7.3.
    public static var proxyAuthenticationInfo: HTTPHeaderName { "Proxy-Authentication-Info" }
    /// RFC 9110, section 11.7.2; sensitive.
    public static var proxyAuthorization: HTTPHeaderName { "Proxy-Authorization" }
    /// RFC 9110, section 14.2.
    public static var range: HTTPHeaderName { "Range" }
    /// RFC 9110, section 10.2.3.
    public static var retryAfter: HTTPHeaderName { "Retry-After" }
    /// RFC 9110, section 10.2.4.
    public static var server: HTTPHeaderName { "Server" }
    /// RFC 9110, section 10.1.4.
    public static var te: HTTPHeaderName { "TE" }
    /// RFC 9110, section 6.6.2.
    public static var trailer: HTTPHeaderName { "Trailer" }
    /// RFC 9110, section 7.8.
    public static var upgrade: HTTPHeaderName { "Upgrade" }
    /// RFC 9110, section 10.1.5.
    public static var userAgent: HTTPHeaderName { "User-Agent" }
    /// RFC 9110, section 12.5.5.
    public static var vary: HTTPHeaderName { "Vary" }
    /// RFC 9110, section 7.6.3.
    public static var via: HTTPHeaderName { "Via" }
    /// RFC 9110, section 11.6.1.
    public static var wwwAuthenticate: HTTPHeaderName { "WWW-Authenticate" }
}

// MARK: RFC 9111, HTTP Caching

extension HTTPHeaderName {
    /// RFC 9111, section 5.1.
    public static var age: HTTPHeaderName { "Age" }
    /// RFC 9111, section 5.2.
    public static var cacheControl: HTTPHeaderName { "Cache-Control" }
    /// RFC 9111, section 5.3.
    public static var expires: HTTPHeaderName { "Expires" }
    /// RFC 9111, section 5.4.
    public static var pragma: HTTPHeaderName { "Pragma" }
    /// RFC 9111, section 5.5.
    public static var warning: HTTPHeaderName { "Warning" }
}

// MARK: RFC 9112, HTTP/1.1

extension HTTPHeaderName {
    /// RFC 9112, section 6.1; the transport sets it.
    public static var transferEncoding: HTTPHeaderName { "Transfer-Encoding" }
}

// MARK: RFC 6265, HTTP State Management

extension HTTPHeaderName {
    /// RFC 6265, section 4.2; sensitive.
    public static var cookie: HTTPHeaderName { "Cookie" }
    /// RFC 6265, section 4.1; sensitive.
    public static var setCookie: HTTPHeaderName { "Set-Cookie" }
}

// MARK: RFC 6455, the WebSocket Protocol

extension HTTPHeaderName {
    /// RFC 6455, section 11.3.3.
    public static var secWebSocketAccept: HTTPHeaderName { "Sec-WebSocket-Accept" }
    /// RFC 6455, section 11.3.2.
    public static var secWebSocketExtensions: HTTPHeaderName { "Sec-WebSocket-Extensions" }
    /// RFC 6455, section 11.3.1.
    public static var secWebSocketKey: HTTPHeaderName { "Sec-WebSocket-Key" }
    /// RFC 6455, section 11.3.4.
    public static var secWebSocketProtocol: HTTPHeaderName { "Sec-WebSocket-Protocol" }
    /// RFC 6455, section 11.3.5.
    public static var secWebSocketVersion: HTTPHeaderName { "Sec-WebSocket-Version" }
}

// MARK: RFC 7838, HTTP Alternative Services

extension HTTPHeaderName {
    /// RFC 7838, section 3.
    public static var altSvc: HTTPHeaderName { "Alt-Svc" }
}

// MARK: Other documents

extension HTTPHeaderName {
    /// RFC 9530, section 2.
    public static var contentDigest: HTTPHeaderName { "Content-Digest" }
    /// RFC 6266, section 4.
    public static var contentDisposition: HTTPHeaderName { "Content-Disposition" }
    /// draft-ietf-httpapi-idempotency-key-header.
    public static var idempotencyKey: HTTPHeaderName { "Idempotency-Key" }
    /// HTML standard, section 9.2.4.
    public static var lastEventID: HTTPHeaderName { "Last-Event-ID" }
    /// RFC 8288, section 3.
    public static var link: HTTPHeaderName { "Link" }
    /// draft-ietf-httpapi-ratelimit-headers, section 4.
    public static var rateLimit: HTTPHeaderName { "RateLimit" }
    /// draft-ietf-httpapi-ratelimit-headers, section 3.
    public static var rateLimitPolicy: HTTPHeaderName { "RateLimit-Policy" }
    /// RFC 9530, section 3.
    public static var reprDigest: HTTPHeaderName { "Repr-Digest" }
    /// RFC 9530, section 4.
    public static var wantReprDigest: HTTPHeaderName { "Want-Repr-Digest" }
}
