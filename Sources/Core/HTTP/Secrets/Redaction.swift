import ErrandMessageSyntax
import ErrandSupport

/// Decides which values descriptions, logs and recordings show. Header fields are shown if they're on an allow list.
/// Query items and body fields are shown unless their name looks secret.
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
    /// The header fields whose values are shown. All others are masked. Defaults to fields without personal data.
    public var shownHeaders: Set<HTTPHeaderName> {
        get { rules.value.shownHeaders }
        _modify { yield &rules.value.shownHeaders }
    }
    /// Parts of names that make a value secret in queries, forms and JSON, such as `token`. Use only lowercase letters
    /// and digits.
    public var secretNames: Set<String> {
        get { rules.value.secretNames }
        _modify {
            yield &rules.value.secretNames
            rules.value.updateMatcher()
        }
    }
    /// Whole names that make a value secret, in the same form as ``secretNames``. Use them for names that are too short
    /// to search for within other names.
    public var secretWords: Set<String> {
        get { rules.value.secretWords }
        _modify {
            yield &rules.value.secretWords
            rules.value.updateMatcher()
        }
    }
    /// Names whose values are shown although the name looks secret, in the same form as ``secretNames``. Defaults to
    /// public OAuth values, such as `tokentype`, and token counts of language models, such as `maxtokens`.
    public var shownNames: Set<String> {
        get { rules.value.shownNames }
        _modify { yield &rules.value.shownNames }
    }

    private var rules = Self.standardRules

    /// The rules, stored in one reference because plugins create a redactor for each exchange.
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
            "privatekey", "accountkey", "sharedkey", "subscriptionkey", "encryptionkey", "signingkey",
            "masterkey", "sshkey", "appkey", "applicationkey", "consumerkey", "licensekey", "keydata",
            "auth", "session", "sessid", "sesskey", "signature", "credential", "cookie", "csrf", "xsrf",
            "jwt", "bearer", "assertion", "samlresponse", "verifier", "connectionstring", "mnemonic",
            "recoverycode", "backupcode", "verificationcode", "securitycode", "otpcode", "mfacode",
            "2facode", "twofactorcode", "onetimecode", "smscode", "logincode", "cardnumber", "cvv", "cvc",
            "iban", "ssn",
        ]
        var secretWords: Set<String> = [
            "key", "passkey", "sid", "connectsid", "sig", "sign", "pass", "userpass", "pw", "otp", "totp",
            "pin", "code", "devicecode", "usercode", "hash", "nonce", "state", "requesturi",
            "verificationuricomplete",
        ]
        var shownNames = Redaction.standardShownNames
        /// A matcher for custom names. `nil` for the default names, which use the standard matcher.
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
        "numspeculativetokens", "prompttokencount", "candidatestokencount", "thoughtstokencount", "totaltokencount",
    ]
    private static let standardMatcher: NameMatcher = {
        let redaction = Redaction()
        return NameMatcher(parts: redaction.secretNames, words: redaction.secretWords)
    }()

    /// The text that replaces a secret.
    public static let mask = "•••"

    /// Creates the default rules.
    public init() {}

    /// Returns whether to mask the value of a query item or field. The name may be percent-encoded.
    public func isSecret(_ name: String) -> Bool {
        name.withSpan { isSecret($0) }
    }

    package func isSecret(_ name: Span<UInt8>) -> Bool {
        guard (rules.value.matcher ?? Self.standardMatcher).matches(name) else { return false }
        return shownNames.isEmpty || !shownNames.contains(NameMatcher.plain(name))
    }

    /// Returns whether to mask the value of a header field.
    public func isSecret(_ field: HTTPHeaders.Field) -> Bool {
        field.isSensitive || !shownHeaders.contains(field.name)
    }

    /// Masks the credentials and the secret query items of a URL, and removes its fragment. To mask the same values
    /// elsewhere too, use a ``Redactor``.
    public func url(_ text: String) -> String { URLSyntax.redacted(text) { isSecret($0) } }

    static func masked(_ url: String) -> String {
        URLSyntax.redacted(url) { name in name.withSpan { standardMatcher.matches($0) } }
    }

    /// Returns a low-cardinality name for a failure, without secrets: an ``ErrandError``'s code, or any other error's
    /// type.
    public static func name(of error: any Error) -> String {
        (error as? ErrandError)?.code.description ?? "\(type(of: error))"
    }
}
