import ErrandMessageSyntax
import ErrandSupport

/// The rules for the values that a description, a log, a recording or another file for people may show: header fields
/// by an allow list, query items and fields of bodies unless their name looks secret.
///
/// ```swift
/// var redaction = Redaction()
/// redaction.shownHeaders.insert("X-Trace")       // shown from now on
/// redaction.secretNames.insert("customer")       // every name that contains this is masked from now on
/// redaction.shownNames.insert("pagetoken")       // no longer masked
/// ```
///
/// Credentials in URLs, `Authorization`, cookies and headers marked as sensitive are never shown, whatever the lists
/// contain. A ``Redactor`` applies the rules.
public struct Redaction: Sendable {
    /// The header fields whose values are shown; the defaults say nothing about a person.
    public var shownHeaders: Set<HTTPHeaderName> = [
        .accept, .acceptEncoding, .acceptLanguage, .acceptRanges, .age, .allow, .cacheControl, .connection,
        .contentDisposition, .contentEncoding, .contentLanguage, .contentLength, .contentRange,
        .contentType, .date, .entityTag, .expect, .expires, .host, .ifMatch, .ifModifiedSince, .ifNoneMatch,
        .ifRange, .ifUnmodifiedSince, .lastModified, .range, .retryAfter, .server, .trailer,
        .transferEncoding, .upgrade, .userAgent, .vary, .via, .warning,
    ]
    /// Parts of names whose values are masked in queries, forms and JSON; in lower case, letters and digits only.
    public var secretNames: Set<String> = [
        "token", "secret", "password", "passwd", "pwd", "passphrase", "apikey", "accesskey", "privatekey", "auth",
        "session", "signature", "credential", "cookie", "csrf", "xsrf", "jwt", "bearer", "cardnumber", "cvv", "cvc",
        "iban", "ssn",
    ]
    {
        didSet { matcher = NameMatcher(parts: secretNames, words: secretWords) }
    }
    /// Whole names, in the same form, whose values are masked as well: too short to be searched for within other names.
    public var secretWords: Set<String> = ["key", "sid", "sig", "sign", "otp", "pin", "code", "hash", "nonce", "state"]
    {
        didSet { matcher = NameMatcher(parts: secretNames, words: secretWords) }
    }
    /// Names, in the same form, whose values are shown although the name looks secret; none by default.
    public var shownNames: Set<String> = []

    /// The matcher of the names and words; nil for the defaults.
    private var matcher: NameMatcher?
    private static let standardMatcher: NameMatcher = {
        let redaction = Redaction()
        return NameMatcher(parts: redaction.secretNames, words: redaction.secretWords)
    }()

    /// The text that replaces a secret.
    public static let mask = "•••"

    /// The rules with their defaults.
    public init() {}

    /// Whether the value of a query item or field of that name is masked; the name may be percent-encoded.
    public func isSecret(_ name: String) -> Bool {
        name.withSpan { isSecret($0) }
    }

    /// The same for a name in UTF-8.
    package func isSecret(_ name: Span<UInt8>) -> Bool {
        if !shownNames.isEmpty, shownNames.contains(NameMatcher.plain(name)) { return false }
        return (matcher ?? Self.standardMatcher).matches(name)
    }

    /// Whether the value of a header field is masked.
    public func isSecret(_ field: HTTPHeaders.Field) -> Bool {
        field.isSensitive || !shownHeaders.contains(field.name)
    }

    /// A URL for a description, by the default rules: without its fragment, its credentials and the values of secret
    /// query items masked.
    static func masked(_ url: String) -> String {
        URLSyntax.redacted(url) { name in name.withSpan { standardMatcher.matches($0) } }
    }

    /// A name for a failure that contains no secret and has few values, so that it can be counted: the code of an
    /// ``ErrandError``, the type of any other error.
    public static func name(of error: any Error) -> String {
        (error as? ErrandError)?.code.description ?? "\(type(of: error))"
    }
}
