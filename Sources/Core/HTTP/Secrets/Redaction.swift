import ErrandMessageSyntax
import ErrandSupport

/// Decides which values descriptions, logs, recordings and other files for people show: header fields on an allow list,
/// and query items and body fields unless their name looks secret.
///
/// ```swift
/// var redaction = Redaction()
/// redaction.shownHeaders.insert("X-Trace")       // shown from now on
/// redaction.secretNames.insert("customer")       // every name that contains this is masked from now on
/// redaction.shownNames.insert("pagetoken")       // no longer masked
/// ```
///
/// Credentials in URLs, `Authorization`, cookies and headers marked as sensitive are never shown. A ``Redactor``
/// applies the rules.
public struct Redaction: Sendable {
    /// The header fields whose values are shown. The defaults reveal nothing personal.
    public var shownHeaders: Set<HTTPHeaderName> = [
        .accept, .acceptEncoding, .acceptLanguage, .acceptRanges, .age, .allow, .cacheControl, .connection,
        .contentDisposition, .contentEncoding, .contentLanguage, .contentLength, .contentRange,
        .contentType, .date, .entityTag, .expect, .expires, .host, .ifMatch, .ifModifiedSince, .ifNoneMatch,
        .ifRange, .ifUnmodifiedSince, .lastModified, .range, .retryAfter, .server, .trailer,
        .transferEncoding, .upgrade, .userAgent, .vary, .via, .warning,
    ]
    /// Parts of names whose values are masked in queries, forms and JSON. Use lowercase letters and digits only.
    public var secretNames: Set<String> = [
        "token", "secret", "password", "passwd", "pwd", "passphrase", "apikey", "accesskey", "privatekey", "auth",
        "session", "signature", "credential", "cookie", "csrf", "xsrf", "jwt", "bearer", "assertion", "verifier",
        "cardnumber", "cvv", "cvc", "iban", "ssn",
    ]
    {
        didSet { matcher = NameMatcher(parts: secretNames, words: secretWords) }
    }
    /// Whole names, in the same form, whose values are also masked. They are too short to search for within other
    /// names.
    public var secretWords: Set<String> = [
        "key", "sid", "sig", "sign", "otp", "pin", "code", "devicecode", "usercode", "hash", "nonce", "state",
        "requesturi", "verificationuricomplete",
    ]
    {
        didSet { matcher = NameMatcher(parts: secretNames, words: secretWords) }
    }
    /// Names, in the same form, whose values are shown although the name looks secret. Defaults to `[]`.
    public var shownNames: Set<String> = []

    /// The matcher for the names and words; `nil` for the defaults.
    private var matcher: NameMatcher?
    private static let standardMatcher: NameMatcher = {
        let redaction = Redaction()
        return NameMatcher(parts: redaction.secretNames, words: redaction.secretWords)
    }()

    /// The text that replaces a secret.
    public static let mask = "•••"

    /// Creates the default rules.
    public init() {}

    /// Returns whether the value of a query item or field of that name is masked. The name may be percent-encoded.
    public func isSecret(_ name: String) -> Bool {
        name.withSpan { isSecret($0) }
    }

    /// Returns whether the value for a UTF-8 name is masked.
    package func isSecret(_ name: Span<UInt8>) -> Bool {
        if !shownNames.isEmpty, shownNames.contains(NameMatcher.plain(name)) { return false }
        return (matcher ?? Self.standardMatcher).matches(name)
    }

    /// Returns whether the value of a header field is masked.
    public func isSecret(_ field: HTTPHeaders.Field) -> Bool {
        field.isSensitive || !shownHeaders.contains(field.name)
    }

    /// Returns a URL without its fragment, with credentials and the values of secret query items masked. To mask these
    /// values elsewhere too, use a ``Redactor``.
    public func url(_ text: String) -> String { URLSyntax.redacted(text) { isSecret($0) } }

    /// Returns a URL for descriptions by the default rules: without fragment, with credentials and secret query items
    /// masked.
    static func masked(_ url: String) -> String {
        URLSyntax.redacted(url) { name in name.withSpan { standardMatcher.matches($0) } }
    }

    /// Returns a low-cardinality name for a failure, without secrets: the code of an ``ErrandError``, or the type of
    /// any other error.
    public static func name(of error: any Error) -> String {
        (error as? ErrandError)?.code.description ?? "\(type(of: error))"
    }
}
