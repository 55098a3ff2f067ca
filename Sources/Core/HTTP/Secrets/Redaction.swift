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
    /// The header fields whose values are shown. By default, fields that don't reveal anything personal. All others are
    /// masked.
    public var shownHeaders: Set<HTTPHeaderName> {
        get { rules.value.shownHeaders }
        _modify { yield &rules.value.shownHeaders }
    }
    /// Parts of names that make a value secret in queries, forms and JSON, such as `token`. Use lowercase letters and
    /// digits only.
    public var secretNames: Set<String> {
        get { rules.value.secretNames }
        _modify {
            yield &rules.value.secretNames
            rules.value.updateMatcher()
        }
    }
    /// Whole names that make a value secret, in the same form as ``secretNames``. For names too short to search for
    /// within other names.
    public var secretWords: Set<String> {
        get { rules.value.secretWords }
        _modify {
            yield &rules.value.secretWords
            rules.value.updateMatcher()
        }
    }
    /// Names, in the same form, whose values are shown although the name looks secret. By default, names of OAuth whose
    /// values are public, such as `tokentype` and `authorizationendpoint`, and counts of the tokens of language models,
    /// such as `maxtokens`.
    public var shownNames: Set<String> {
        get { rules.value.shownNames }
        _modify { yield &rules.value.shownNames }
    }

    private var rules = Self.standardRules

    /// One reference, because every redactor has a copy, and plugins create a redactor for each exchange.
    private struct Rules {
        var shownHeaders: Set<HTTPHeaderName> = [
            .accept, .acceptEncoding, .acceptLanguage, .acceptRanges, .age, .allow, .cacheControl, .connection,
            .contentDisposition, .contentEncoding, .contentLanguage, .contentLength, .contentRange,
            .contentType, .date, .entityTag, .expect, .expires, .host, .ifMatch, .ifModifiedSince, .ifNoneMatch,
            .ifRange, .ifUnmodifiedSince, .lastModified, .range, .retryAfter, .server, .trailer,
            .transferEncoding, .upgrade, .userAgent, .vary, .via, .warning,
        ]
        var secretNames: Set<String> = [
            "token", "secret", "password", "passwd", "pwd", "passphrase", "passcode", "apikey", "accesskey",
            "privatekey", "accountkey", "sharedkey", "subscriptionkey", "encryptionkey", "signingkey", "masterkey",
            "auth", "session", "signature", "credential", "cookie", "csrf", "xsrf", "jwt", "bearer", "assertion",
            "samlresponse", "verifier", "connectionstring", "mnemonic", "recoverycode", "backupcode",
            "verificationcode", "securitycode", "cardnumber", "cvv", "cvc", "iban", "ssn",
        ]
        var secretWords: Set<String> = [
            "key", "sid", "sig", "sign", "pass", "userpass", "pw", "otp", "totp", "pin", "code", "devicecode",
            "usercode", "hash", "nonce", "state", "requesturi", "verificationuricomplete",
        ]
        var shownNames = Redaction.standardShownNames
        /// The matcher for the names and words; `nil` for the defaults.
        var matcher: NameMatcher?

        mutating func updateMatcher() { matcher = NameMatcher(parts: secretNames, words: secretWords) }
    }

    private static let standardRules = CopyOnWrite(Rules())
    private static let standardShownNames: Set<String> = [
        "tokentype", "tokentypehint", "issuedtokentype", "authorizationendpoint", "tokenendpoint",
        "deviceauthorizationendpoint", "pushedauthorizationrequestendpoint", "endsessionendpoint",
        "tokenendpointauthmethod", "tokenendpointauthmethodssupported",
        "maxtokens", "maxcompletiontokens", "maxoutputtokens", "maxnewtokens", "mintokens", "budgettokens",
        "prompttokens", "completiontokens", "totaltokens", "inputtokens", "outputtokens", "cachedtokens",
        "reasoningtokens", "audiotokens", "texttokens", "imagetokens", "prompttokensdetails",
        "completiontokensdetails", "inputtokensdetails", "outputtokensdetails", "cachecreationinputtokens",
        "cachereadinputtokens", "acceptedpredictiontokens", "rejectedpredictiontokens", "tokencount",
        "prompttokencount", "candidatestokencount", "thoughtstokencount", "totaltokencount",
    ]
    private static let standardMatcher: NameMatcher = {
        let redaction = Redaction()
        return NameMatcher(parts: redaction.secretNames, words: redaction.secretWords)
    }()

    /// The text that replaces a secret.
    public static let mask = "•••"

    /// Creates rules with the defaults.
    public init() {}

    /// Returns whether the value of a query item or field of that name is masked. The name may be percent-encoded.
    public func isSecret(_ name: String) -> Bool {
        name.withSpan { isSecret($0) }
    }

    /// Returns whether the value for a UTF-8 name is masked.
    package func isSecret(_ name: Span<UInt8>) -> Bool {
        // Most names aren't secret, and end here.
        guard (rules.value.matcher ?? Self.standardMatcher).matches(name) else { return false }
        return shownNames.isEmpty || !shownNames.contains(NameMatcher.plain(name))
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
